/* reply_test.c */
#include "test.h"

#include "model/message_json.h"
#include "model/reply.h"

#define NONE ((struct str){0})

static void record(void *self, const struct delta *d)
{
    struct strbuf *out = self;

    strbuf_addf(out, "%d:%" STR_FMT "%" STR_FMT "|", (int)d->kind, STR_ARG(d->text),
                STR_ARG(d->kind == DELTA_TOOL_BEGIN ? d->name : NONE));
}

static size_t begin(struct reply *r, enum part_kind kind, const char *id, const char *name)
{
    size_t index;

    assert_ok(reply_begin(r, kind, str_of(id), str_of(name), &index));
    return index;
}

TEST(deltas_reach_the_sink_and_the_parts_hold_the_whole)
{
    AUTO(strbuf) struct strbuf seen = {0};
    AUTO(reply) struct reply r;
    size_t text, call;

    reply_init(&r, (struct delta_sink){record, &seen});
    text = begin(&r, PART_TEXT, "", "");
    call = begin(&r, PART_TOOL_CALL, "c1", "Bash");
    assert_ok(reply_add_text(&r, text, S("Hel")));
    assert_ok(reply_add_args(&r, call, S("{\"a\"")));
    assert_ok(reply_add_text(&r, text, S("lo")));
    assert_ok(reply_add_args(&r, call, S(":1}")));
    reply_finish(&r);
    assert_str(strbuf_str(&seen), "3:Bash|0:Hel|4:{\"a\"|0:lo|4::1}|");
    assert_str(reply_part_text(&r, text), "Hello");
    assert_str(reply_part(&r, call)->args, "{\"a\":1}");
}

TEST(a_tool_of_the_provider_is_told_with_its_query_when_its_call_is_whole)
{
    AUTO(strbuf) struct strbuf seen = {0};
    AUTO(reply) struct reply r;
    size_t first, second, third;

    reply_init(&r, (struct delta_sink){record, &seen});
    first = begin(&r, PART_SERVER_TOOL_USE, "s1", "web_search");
    assert_ok(reply_add_args(&r, first, S("{\"query\":")));
    assert_ok(reply_add_args(&r, first, S("\"keel\"}")));
    assert_str(strbuf_str(&seen), "");
    reply_close(&r, first);
    assert_str(strbuf_str(&seen), "5:keel|");
    second = begin(&r, PART_SERVER_TOOL_USE, "s2", "url_context");
    assert_ok(reply_add_args(&r, second, S("{\"url\":\"https://a.example\"}")));
    third = begin(&r, PART_SERVER_TOOL_USE, "s3", "web_search");
    assert_ok(reply_add_args(&r, third, S("{\"query\":\"cut o")));
    reply_finish(&r);
    assert_str(strbuf_str(&seen), "5:keel|5:https://a.example|");
}

TEST(arguments_are_settled_and_never_guessed)
{
    static const struct {
        const char *came, *args, *bad;
    } cases[] = {
        {"", "{}", ""},
        {"null", "{}", ""},
        {" {\"a\":1} ", "{\"a\":1}", ""},
        {"{\"a\":", "{}", "{\"a\":"},
        {"[1]", "{}", "[1]"},
        {"\"x\"", "{}", "\"x\""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(reply) struct reply r;
        size_t call;

        reply_init(&r, (struct delta_sink){0});
        call = begin(&r, PART_TOOL_CALL, "c", "t");
        assert_ok(reply_add_args(&r, call, str_of(cases[i].came)));
        reply_finish(&r);
        assert_str(reply_part(&r, call)->args, cases[i].args);
        assert_str(reply_part(&r, call)->bad_args, cases[i].bad);
    }
}

TEST(a_call_that_was_cut_off_before_its_arguments_has_none)
{
    AUTO(reply) struct reply r;
    size_t whole, cut;

    reply_init(&r, (struct delta_sink){0});
    whole = begin(&r, PART_TOOL_CALL, "c1", "Bash");
    cut = begin(&r, PART_TOOL_CALL, "c2", "Bash");
    reply_set_stop(&r, S("max_tokens"), STOP_LENGTH);
    reply_finish(&r);
    assert_int_equal(reply_part(&r, whole)->bad_args.n, 0);
    assert_true(reply_part(&r, cut)->bad_args.n > 0);
}

TEST(a_missing_id_is_made_the_same_way_every_time_and_differs_between_calls)
{
    struct str ids[2][2];
    struct reply r[2];

    for (int k = 0; k < 2; k++) {
        reply_init(&r[k], (struct delta_sink){0});
        begin(&r[k], PART_TOOL_CALL, "", "Bash");
        begin(&r[k], PART_TOOL_CALL, "", "Bash");
        reply_finish(&r[k]);
        assert_int_equal(r[k].n_parts, 2);
        for (int i = 0; i < 2; i++)
            ids[k][i] = reply_part(&r[k], (size_t)i)->id;
    }
    assert_true(str_eq(ids[0][0], ids[1][0]));
    assert_false(str_eq(ids[0][0], ids[0][1]));
    reply_done(&r[0]);
    reply_done(&r[1]);
}

TEST(only_an_identical_repeat_of_a_call_is_dropped)
{
    AUTO(reply) struct reply r;

    reply_init(&r, (struct delta_sink){0});
    for (int i = 0; i < 3; i++) {
        size_t call = begin(&r, PART_TOOL_CALL, "c", "t");
        assert_ok(reply_add_args(&r, call, i == 2 ? S("{\"b\":2}") : S("{\"a\":1}")));
    }
    reply_finish(&r);
    assert_int_equal(r.n_parts, 2);
    assert_str(reply_part(&r, 1)->args, "{\"b\":2}");
}

TEST(the_number_of_parts_is_capped)
{
    AUTO(reply) struct reply r;
    size_t index;

    reply_init(&r, (struct delta_sink){0});
    for (int i = 0; i < REPLY_MAX_PARTS; i++)
        begin(&r, PART_TEXT, "", "");
    assert_err(reply_begin(&r, PART_TEXT, NONE, NONE, &index), ERR_BAD_RESPONSE);
}

TEST(a_message_survives_the_way_through_json)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf once = {0}, twice = {0};
    AUTO(message) struct message *m = message_new(ROLE_ASSISTANT, S("id-1")), *back = NULL;
    struct part content[] = {
        {.kind = PART_TEXT, .text = S("out")},
        {.kind = PART_MEDIA, .media = {.mime = S("image/png"), .data = S("\x89PNG\0x")}}};
    struct json_writer w;
    struct json *v;

    message_add_text(m, S("hi"));
    message_add(m, &(struct part){.kind = PART_REASONING,
                                  .text = S("hm"),
                                  .signature = S("sig"),
                                  .native = S("{\"type\":\"thinking\"}")});
    message_add(
        m, &(struct part){
               .kind = PART_TOOL_CALL, .id = S("c"), .name = S("Read"), .args = S("{\"p\":1}")});
    message_add(m, &(struct part){.kind = PART_TOOL_RESULT,
                                  .id = S("c"),
                                  .is_error = true,
                                  .content = content,
                                  .n_content = 2});
    message_set_origin(m, (struct origin){S("anthropic"), S("anthropic-messages"), S("m")});
    m->usage.input = 7;
    m->usage.output = 3;
    jw_init(&w, &once);
    message_write(&w, m);
    assert_ok(json_parse(&a, strbuf_str(&once), 0, &v));
    assert_str(json_get_text(json_get(json_at(json_get(v, "toolCalls"), 0), "function"), "name"),
               "Read");
    assert_ok(message_read(v, &back));
    jw_init(&w, &twice);
    message_write(&w, back);
    assert_str(strbuf_str(&twice), strbuf_cstr(&once));
    assert_int_equal(back->parts[3].content[1].media.data.n, 6);
    assert_true(message_is_native_to(back, S("anthropic"), S("anthropic-messages")));
    assert_true(message_is_native_to(back, S("anthropic"), S("")));
    assert_false(message_is_native_to(back, S("anthropic"), S("openai-chat")));
    assert_false(message_is_native_to(back, S("other"), S("")));
}

TEST(a_log_line_without_parts_is_understood)
{
    AUTO(arena) struct arena a = {0};
    AUTO(message) struct message *m = NULL;
    struct json *v;

    assert_ok(json_parse(&a,
                         S("{\"role\":\"assistant\",\"content\":\"x\",\"toolCalls\":[{\"id\":\"1\","
                           "\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}"),
                         0, &v));
    assert_ok(message_read(v, &m));
    assert_int_equal(m->n_parts, 2);
    assert_str(m->parts[1].name, "f");
    assert_ok(json_parse(&a, S("{\"role\":\"robot\"}"), 0, &v));
    assert_err(message_read(v, &(struct message *){NULL}), ERR_VALIDATION);
}

RUN_TESTS(UNIT(deltas_reach_the_sink_and_the_parts_hold_the_whole),
          UNIT(a_tool_of_the_provider_is_told_with_its_query_when_its_call_is_whole),
          UNIT(arguments_are_settled_and_never_guessed),
          UNIT(a_call_that_was_cut_off_before_its_arguments_has_none),
          UNIT(a_missing_id_is_made_the_same_way_every_time_and_differs_between_calls),
          UNIT(only_an_identical_repeat_of_a_call_is_dropped), UNIT(the_number_of_parts_is_capped),
          UNIT(a_message_survives_the_way_through_json),
          UNIT(a_log_line_without_parts_is_understood))
