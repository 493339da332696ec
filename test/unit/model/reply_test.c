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

TEST(a_call_that_is_closed_has_the_id_that_the_end_would_give_it)
{
    static const char *const args[] = {"{\"a\":1}", "", "null", "{\"a", " {} "};
    AUTO(reply) struct reply closed, open;

    reply_init(&closed, (struct delta_sink){0});
    reply_init(&open, (struct delta_sink){0});
    reply_set_word(&closed, &closed.id, S("answer"));
    reply_set_word(&open, &open.id, S("answer"));
    for (size_t i = 0; i < ARRAY_LEN(args); i++) {
        size_t at = begin(&closed, PART_TOOL_CALL, "", "Bash");

        assert_ok(reply_add_args(&closed, at, str_of(args[i])));
        reply_close(&closed, at);
        begin(&open, PART_TOOL_CALL, "", "Bash");
        assert_ok(reply_add_args(&open, at, str_of(args[i])));
    }
    for (size_t i = 0; i < ARRAY_LEN(args); i++)
        assert_true(reply_part(&closed, i)->id.n > 0);
    reply_finish(&closed);
    reply_finish(&open);
    assert_int_equal(closed.n_parts, open.n_parts);
    for (size_t i = 0; i < ARRAY_LEN(args); i++)
        assert_true(str_eq(reply_part(&closed, i)->id, reply_part(&open, i)->id));
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

/* --- how large --- */

static uint64_t seed = 88172645463325252u;

static size_t below(size_t bound)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed >> 33) % bound;
}

/* A text of pieces that take one to six bytes each as JSON. */
static struct str hostile_text(size_t max_pieces)
{
    static const char *const pieces[] = {"x", "\"", "\\", "\n", "\001", "\037", "\177", "\303\244"};
    static char text[4096];
    size_t n = 0, n_pieces = below(max_pieces + 1);

    for (size_t i = 0; i < n_pieces; i++) {
        const char *piece = pieces[below(ARRAY_LEN(pieces))];

        memcpy(text + n, piece, strlen(piece));
        n += strlen(piece);
    }
    return str_make(text, n);
}

static struct err *add_anything(struct reply *r, size_t index)
{
    struct part *p = reply_part(r, index);
    struct str *fields[] = {&p->signature, &p->data, &p->url, &p->title, &p->native};
    struct str text = hostile_text(500);

    switch (below(8)) {
    case 0:
        return reply_add_text(r, index, text);
    case 1:
        return reply_set_text(r, index, text);
    case 2:
        return reply_add_args(r, index, text);
    case 3:
        return reply_set_args(r, index, text);
    case 4:
        return reply_set_id(r, index, text);
    case 5:
        return reply_set_name(r, index, text);
    case 6:
        if (p->kind == PART_MEDIA)
            return reply_set_media(
                r, index, &(struct media){.mime = S("image/png"), .data = text, .name = text});
        reply_set_stop(r, text, STOP_END);
        return NULL;
    default:
        return reply_set_field(r, fields[below(ARRAY_LEN(fields))], text);
    }
}

static size_t message_size(const struct reply *r)
{
    AUTO(strbuf) struct strbuf out = {0};
    AUTO(message)
    struct message *m = reply_to_message(r, S("00000000-0000-7000-8000-000000000000"),
                                         MESSAGE_BROKEN, (struct origin){S("p"), S("q"), S("m")});
    struct json_writer w;

    jw_init(&w, &out);
    message_write(&w, m);
    return out.n;
}

TEST(a_message_is_never_larger_as_json_than_its_answer_counted)
{
    for (int round = 0; round < 200; round++) {
        AUTO(reply) struct reply r;
        AUTO(err) struct err *full = NULL;

        reply_init(&r, (struct delta_sink){0});
        r.max_json = r.n_json + below(100000);
        for (int step = 0; step < 100 && !full; step++) {
            size_t index = r.n_parts ? below(r.n_parts) : 0;

            if (r.n_parts == 0 || below(10) == 0)
                full = reply_begin(&r, (enum part_kind)below(PART_REFUSAL + 1), hostile_text(20),
                                   hostile_text(20), &index);
            else
                full = add_anything(&r, index);
        }
        assert_true(!full || full->kind == ERR_BAD_RESPONSE);
        reply_finish(&r);
        assert_true(message_size(&r) <= r.n_json);
        assert_true(r.n_json <= r.max_json);
    }
}

TEST(what_does_not_fit_is_refused_and_what_came_before_it_stays)
{
    AUTO(reply) struct reply r;
    AUTO(strbuf) struct strbuf more = {0};
    size_t index;

    for (int i = 0; i < 100; i++)
        strbuf_add_char(&more, 1);
    reply_init(&r, (struct delta_sink){0});
    r.max_json = r.n_json + 2000;
    index = begin(&r, PART_TEXT, "", "");
    assert_ok(reply_add_text(&r, index, S("Hello.")));
    for (int i = 0; i < 60; i++) /* six bytes, twice */
        assert_ok(reply_add_text(&r, index, S("\001")));
    assert_err(reply_add_text(&r, index, strbuf_str(&more)), ERR_BAD_RESPONSE);
    assert_int_equal(reply_part_text(&r, index).n, 66);
    assert_ok(reply_set_field(&r, &reply_part(&r, index)->signature, S("signed")));
    assert_ok(reply_set_field(&r, &reply_part(&r, index)->signature, S("again")));
    reply_finish(&r);
    assert_str(reply_part(&r, index)->signature, "again");
}

TEST(ids_and_names_have_a_limit_of_their_own_and_words_are_cut)
{
    AUTO(reply) struct reply r;
    AUTO(strbuf) struct strbuf long_one = {0};
    size_t index;

    for (size_t i = 0; i <= REPLY_MAX_ID_BYTES; i++)
        strbuf_add_char(&long_one, 'x');
    reply_init(&r, (struct delta_sink){0});
    assert_err(reply_begin(&r, PART_TOOL_CALL, strbuf_str(&long_one), NONE, &index),
               ERR_BAD_RESPONSE);
    index = begin(&r, PART_TOOL_CALL, "c", "Bash");
    assert_err(reply_set_name(&r, index, strbuf_str(&long_one)), ERR_BAD_RESPONSE);
    reply_set_word(&r, &r.id, strbuf_str(&long_one));
    assert_int_equal(r.id.n, REPLY_MAX_WORD_BYTES);
}

TEST(a_message_is_too_large_whatever_makes_it_so)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(message) struct message *by_id = NULL, *by_text = NULL, *fits = NULL;

    memset(strbuf_reserve(&text, MESSAGE_MAX_JSON_BYTES), 'x', MESSAGE_MAX_JSON_BYTES);
    strbuf_grew(&text, MESSAGE_MAX_JSON_BYTES);
    by_id = message_new(ROLE_USER, strbuf_str(&text));
    assert_err(message_check(by_id, "it"), ERR_VALIDATION);
    by_text = message_new(ROLE_USER, S("id"));
    message_add_text(by_text, str_slice(strbuf_str(&text), 0, text.n / 2));
    assert_err(message_check(by_text, "it"), ERR_VALIDATION);
    fits = message_new(ROLE_USER, S("id"));
    message_add_text(fits, str_slice(strbuf_str(&text), 0, text.n / 2 - 1000));
    assert_ok(message_check(fits, "it"));
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
    m->usage.upstream_microcents = 12;
    jw_init(&w, &once);
    message_write(&w, m);
    assert_ok(json_parse(&a, strbuf_str(&once), 0, &v));
    assert_str(json_get_text(json_get(json_at(json_get(v, "toolCalls"), 0), "function"), "name"),
               "Read");
    assert_ok(message_read(v, &back));
    jw_init(&w, &twice);
    message_write(&w, back);
    assert_str(strbuf_str(&twice), strbuf_cstr(&once));
    assert_int_equal(back->usage.upstream_microcents, 12);
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
          UNIT(a_call_that_is_closed_has_the_id_that_the_end_would_give_it),
          UNIT(only_an_identical_repeat_of_a_call_is_dropped), UNIT(the_number_of_parts_is_capped),
          UNIT(a_message_is_never_larger_as_json_than_its_answer_counted),
          UNIT(what_does_not_fit_is_refused_and_what_came_before_it_stays),
          UNIT(ids_and_names_have_a_limit_of_their_own_and_words_are_cut),
          UNIT(a_message_is_too_large_whatever_makes_it_so),
          UNIT(a_message_survives_the_way_through_json),
          UNIT(a_log_line_without_parts_is_understood))
