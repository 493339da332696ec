/* credential_test.c */
#include "test.h"

#include "port/credential.h"

static void assert_hidden(const char *key, const char *said, const char *want)
{
    AUTO(secret) struct secret secret = {0};
    AUTO(err) struct err *e = err_new(ERR_PROVIDER_AUTH, "%s", said);

    secret_set(&secret, str_of(key));
    secret_hide_in_err(&secret, e);
    assert_string_equal(e->text, want);
}

TEST(a_secret_that_a_peer_repeats_is_taken_out_wherever_it_stands)
{
    assert_hidden("sk-12345", "the key sk-12345 is bad", "the key [REDACTED] is bad");
    assert_hidden("sk-12345", "sk-12345sk-12345", "[REDACTED][REDACTED]");
    assert_hidden("sk-12345", "sk-1234", "sk-1234");
}

TEST(a_word_that_could_stand_there_by_chance_stays)
{
    assert_hidden("key", "the key is bad", "the key is bad");
    assert_hidden("", "nothing to hide", "nothing to hide");
}

TEST(the_causes_of_an_error_are_cleaned_too)
{
    AUTO(secret) struct secret secret = {0};
    AUTO(err)
    struct err *e = err_wrap(err_new(ERR_PROVIDER_AUTH, "sk-12345 is bad"), "asked with sk-12345");
    AUTO_FREE char *message = NULL;

    secret_set(&secret, S("sk-12345"));
    secret_hide_in_err(&secret, e);
    message = err_message(e);
    assert_string_equal(message, "asked with [REDACTED]: [REDACTED] is bad");
    secret_hide_in_err(&secret, NULL);
}

RUN_TESTS(UNIT(a_secret_that_a_peer_repeats_is_taken_out_wherever_it_stands),
          UNIT(a_word_that_could_stand_there_by_chance_stays),
          UNIT(the_causes_of_an_error_are_cleaned_too))
