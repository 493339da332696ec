/* redact_test.c - what stands under the name of a credential in a call is not shown. */
#include "test.h"

#include "view/redact.h"

static void assert_args(const char *args, const char *want)
{
    AUTO(arena) struct arena a = {0};

    assert_str(redact_args(str_of(args), &a), want);
}

TEST(values_under_names_of_credentials_are_replaced)
{
    assert_args("{\"password\":\"x\",\"a\":{\"API-Key\":[1,\"y\"]},\"max_tokens\":5}",
                "{\"password\":\"[REDACTED]\",\"a\":{\"API-Key\":[\"[REDACTED]\",\"[REDACTED]\"]},"
                "\"max_tokens\":5}");
    assert_args("{\"a\": 1}", "{\"a\": 1}");
    assert_args("", "");
}

TEST(arguments_that_were_cut_off_are_searched_as_text)
{
    assert_args("{\"a\":\"b\",\"password\" : \"x", "{\"a\":\"b\",\"password\" : \"[REDACTED]\"");
    assert_args("{\"token\":123,\"b\":", "{\"token\":\"[REDACTED]\",\"b\":");
    assert_args("{\"secret\":\"a\\\"b\",\"c\":", "{\"secret\":\"[REDACTED]\",\"c\":");
    assert_args("{\"secret\":", "{\"secret\":");
    assert_args("no \"password\" here", "no \"password\" here");
}

static struct message *call(const char *args)
{
    struct message *m = message_new(ROLE_ASSISTANT, S("m"));

    message_add_text(m, S("I call it."));
    message_add(m, &(struct part){.kind = PART_TOOL_CALL,
                                  .id = S("c"),
                                  .name = S("f"),
                                  .args = str_of(args),
                                  .signature = S("signed"),
                                  .native = S("{\"password\":\"x\"}")});
    return m;
}

TEST(a_message_without_credentials_is_the_same_message)
{
    AUTO(message) struct message *m = call("{\"a\":1}");
    AUTO(message) struct message *shown = redact_message(m);

    assert_ptr_equal(shown, m);
}

TEST(the_block_that_a_provider_wrote_goes_with_what_it_says)
{
    AUTO(message) struct message *m = call("{\"password\":\"x\"}");
    AUTO(message) struct message *shown = redact_message(m);

    assert_str(shown->parts[0].text, "I call it.");
    assert_str(shown->parts[1].args, "{\"password\":\"[REDACTED]\"}");
    assert_int_equal(shown->parts[1].native.n, 0);
    assert_int_equal(shown->parts[1].signature.n, 0);
    assert_str(m->parts[1].args, "{\"password\":\"x\"}");
}

TEST(a_refusal_that_quotes_the_call_is_redacted_and_an_output_is_not)
{
    AUTO(arena) struct arena a = {0};
    struct part text = {.kind = PART_TEXT, .text = S("Received: {\"password\": \"x\"}")};
    struct part result = {.kind = PART_TOOL_RESULT, .content = &text, .n_content = 1};

    assert_ptr_equal(redact_result(&result, &a), &result);
    result.is_error = true;
    assert_str(redact_result(&result, &a)->content[0].text,
               "Received: {\"password\": \"[REDACTED]\"}");
}

TEST(values_that_were_seen_in_a_call_are_hidden_everywhere)
{
    AUTO(redaction) struct redaction r = {0};
    AUTO(message) struct message *m = call("{\"password\":\"hunter2-hunter2\"}");
    AUTO(redaction_stream) struct redaction_stream stream = {.redaction = &r};
    AUTO(strbuf) struct strbuf out = {0}, streamed = {0};

    redaction_learn(&r, m);
    redaction_ready(&r);
    assert_str(redaction_hide(&r, S("it is hunter2-hunter2."), &out), "it is [REDACTED].");
    assert_str(redaction_hide(&r, S("nothing"), &out), "nothing");
    strbuf_add(&streamed, redaction_stream_add(&stream, S("it is hunter2-")));
    strbuf_add(&streamed, redaction_stream_add(&stream, S("hunter2. And hunt")));
    strbuf_add(&streamed, redaction_stream_end(&stream));
    assert_string_equal(strbuf_cstr(&streamed), "it is [REDACTED]. And hunt");
}

static struct message *result_of(const char *text, bool is_error)
{
    struct message *m = message_new(ROLE_USER, S("r"));
    struct part content = {.kind = PART_TEXT, .text = str_of(text)};

    message_add(m, &(struct part){.kind = PART_TOOL_RESULT,
                                  .id = S("c"),
                                  .is_error = is_error,
                                  .content = &content,
                                  .n_content = 1});
    return m;
}

static struct str shown_after(struct redaction *r, struct strbuf *out, const char *path,
                              bool is_error)
{
    AUTO(strbuf) struct strbuf args = {0};
    AUTO(message) struct message *asked = NULL, *answered = NULL;

    strbuf_addf(&args, "{\"file_path\":\"%s\"}", path);
    asked = call(strbuf_cstr(&args));
    answered = result_of("1\t[default]\n2\tkey = AKIAABCDEFGH1234\n", is_error);
    redaction_learn(r, asked);
    redaction_learn(r, answered);
    redaction_ready(r);
    return redaction_hide(r, S("it is AKIAABCDEFGH1234, in \"key = AKIAABCDEFGH1234\""), out);
}

TEST(what_was_read_in_a_place_of_credentials_is_hidden_everywhere)
{
    AUTO(redaction) struct redaction r = {0};
    AUTO(strbuf) struct strbuf out = {0};

    assert_str(shown_after(&r, &out, "/home/me/.aws/credentials", false),
               "it is [REDACTED], in \"[REDACTED]\"");
}

TEST(what_was_read_elsewhere_is_shown)
{
    AUTO(redaction) struct redaction r = {0}, failed = {0};
    AUTO(strbuf) struct strbuf out = {0};

    assert_str(shown_after(&r, &out, "/home/me/project/a.txt", false),
               "it is AKIAABCDEFGH1234, in \"key = AKIAABCDEFGH1234\"");
    assert_str(shown_after(&failed, &out, "/home/me/.aws/credentials", true),
               "it is AKIAABCDEFGH1234, in \"key = AKIAABCDEFGH1234\"");
}

RUN_TESTS(UNIT(values_under_names_of_credentials_are_replaced),
          UNIT(arguments_that_were_cut_off_are_searched_as_text),
          UNIT(a_message_without_credentials_is_the_same_message),
          UNIT(the_block_that_a_provider_wrote_goes_with_what_it_says),
          UNIT(a_refusal_that_quotes_the_call_is_redacted_and_an_output_is_not),
          UNIT(values_that_were_seen_in_a_call_are_hidden_everywhere),
          UNIT(what_was_read_in_a_place_of_credentials_is_hidden_everywhere),
          UNIT(what_was_read_elsewhere_is_shown))
