/* secret_values_test.c - credentials are found by their values. */
#include "test.h"

#include "base/secret_values.h"

TEST(the_credential_in_a_value_is_found)
{
    static const char *const cases[][2] = {
        {"postgres://u:p%40ss@h/d", "p%40ss"},
        {"https://a:b@h/ and https://c:d@h/", "b"},
        {"x AKIAIOSFODNN7EXAMPLE y", "AKIAIOSFODNN7EXAMPLE"},
        {"Authorization: Bearer abc123456", "Bearer abc123456"},
        {"Bearer abc123456", "abc123456"},
        {"a=1;Password=hunter2;b=2", "hunter2"},
        {"nothing", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_str(value_find_secret(str_of(cases[i][0])), cases[i][1]);
}

TEST(ordinary_words_are_not_random)
{
    static const char *const words[] = {"postgres", "development", "hunter2", "production",
                                        "/home/me/.config/some/long/key.json"};
    static const char *const random[] = {"9f8a7b6c5d4e", "ghp_0123456789abcdefghij",
                                         "correct horse battery staple"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (value_is_random(str_of(words[i])))
            fail_msg("%s", words[i]);
    for (size_t i = 0; i < ARRAY_LEN(random); i++)
        assert_true(value_is_random(str_of(random[i])));
}

RUN_TESTS(UNIT(the_credential_in_a_value_is_found), UNIT(ordinary_words_are_not_random))
