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
    struct part text = {.kind = PART_TEXT, .text = S("What came: {\"password\": \"x\"}")};
    struct part result = {.kind = PART_TOOL_RESULT, .content = &text, .n_content = 1};

    assert_ptr_equal(redact_result(&result, &a), &result);
    result.is_error = true;
    assert_str(redact_result(&result, &a)->content[0].text,
               "What came: {\"password\": \"[REDACTED]\"}");
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

RUN_TESTS(UNIT(values_under_names_of_credentials_are_replaced),
          UNIT(arguments_that_were_cut_off_are_searched_as_text),
          UNIT(a_message_without_credentials_is_the_same_message),
          UNIT(the_block_that_a_provider_wrote_goes_with_what_it_says),
          UNIT(a_refusal_that_quotes_the_call_is_redacted_and_an_output_is_not),
          UNIT(values_that_were_seen_in_a_call_are_hidden_everywhere))
