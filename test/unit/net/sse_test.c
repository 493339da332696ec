/* sse_test.c */
#include "test.h"

#include "base/json.h"
#include "net/sse.h"

static void add_event(struct strbuf *out, struct str type, struct str data, struct str id)
{
    strbuf_add(out, type);
    strbuf_add_char(out, '|');
    strbuf_add(out, data);
    strbuf_add_char(out, '|');
    strbuf_add(out, id);
    strbuf_add_char(out, ';');
}

/* Everything that comes out, one event a line, when `body` goes in `step` bytes at a time. */
static struct strbuf transcript(struct str body, size_t step)
{
    AUTO(sse_reader) struct sse_reader r;
    struct strbuf out = {0};

    sse_init(&r, 1 << 20);
    for (; body.n; body = str_skip(body, step)) {
        sse_feed(&r, str_slice(body, 0, step));
        for (;;) {
            struct sse_event event;
            bool has_event;

            assert_ok(sse_next(&r, &event, &has_event));
            if (!has_event)
                break;
            add_event(&out, event.type, event.data, event.last_event_id);
        }
    }
    return out;
}

static void check_all(struct str body, struct str want)
{
    static const size_t steps[] = {1, 2, 3, 7, SIZE_MAX};

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        AUTO(strbuf) struct strbuf got = transcript(body, steps[i]);
        if (!str_eq(strbuf_str(&got), want))
            fail_msg("in steps of %zu: want %" STR_FMT ", got %s", steps[i], STR_ARG(want),
                     strbuf_cstr(&got));
    }
}

static void check(struct str body, const char *want)
{
    check_all(body, str_of(want));
}

TEST(events_are_the_same_however_the_bytes_are_cut)
{
    check(S("event: delta\ndata: one\n\ndata: two\n\n"), "delta|one|;message|two|;");
    check(S("data: a\r\rdata: b\r\n\r\ndata: c\n\n"), "message|a|;message|b|;message|c|;");
}

TEST(data_lines_are_joined_and_only_one_leading_space_is_taken_off)
{
    check(S("data:a\ndata: b\ndata:  c\n\n"), "message|a\nb\n c|;");
    check(S("data\n\ndata\ndata\n\ndata:x"), "message||;message|\n|;");
}

TEST(an_event_without_data_is_dropped_and_its_type_forgotten)
{
    check(S("event: gone\n\ndata: x\n\n"), "message|x|;");
}

TEST(an_event_that_is_cut_off_at_the_end_is_dropped)
{
    check(S("data: whole\n\ndata: half\n"), "message|whole|;");
}

TEST(field_names_are_exact)
{
    check(S("Data: a\n data: b\ndata : c\ndatax: d\n:comment\ndata: e\n\n"), "message|e|;");
}

TEST(an_id_stays_until_it_is_replaced_and_one_with_a_nul_is_ignored)
{
    check(S("id: 1\ndata: a\n\ndata: b\n\nid: 2\0\ndata: c\n\nid\ndata: d\n\n"),
          "message|a|1;message|b|1;message|c|1;message|d|;");
}

TEST(a_bom_is_skipped_at_the_very_start_only)
{
    check(S("\xEF\xBB\xBF"
            "data: a\n\n\xEF\xBB\xBF"
            "data: b\n\ndata: c\n\n"),
          "message|a|;message|c|;");
}

TEST(bytes_that_are_not_utf8_pass_as_they_came)
{
    check(S("data: \xff\xC3\n\n"), "message|\xff\xC3|;");
}

static void feed_all(struct sse_reader *r, struct str body)
{
    struct sse_event event;
    bool has_event = true;

    sse_feed(r, body);
    while (has_event)
        assert_ok(sse_next(r, &event, &has_event));
}

TEST(retry_takes_digits_only)
{
    AUTO(sse_reader) struct sse_reader r;

    sse_init(&r, 100);
    assert_int_equal(r.retry_ms, -1);
    feed_all(&r, S("retry: 10000\n\n"));
    assert_int_equal(r.retry_ms, 10000);
    feed_all(&r, S("retry: 5s\nretry:-1\nretry\nretry: 99999999999999999999999\n"));
    assert_int_equal(r.retry_ms, 10000);
}

TEST(the_id_to_resume_from_is_that_of_the_last_whole_event)
{
    AUTO(sse_reader) struct sse_reader r;

    sse_init(&r, 100);
    feed_all(&r, S("id: 1\n\nid: 2\ndata: half"));
    assert_str(sse_last_event_id(&r), "1");
}

/* Feeds until an error or the end; says whether an event came. */
static struct err *feed_capped(struct str body, size_t max_event_bytes, size_t step, bool *ret_came)
{
    AUTO(sse_reader) struct sse_reader r;

    sse_init(&r, max_event_bytes);
    *ret_came = false;
    for (; body.n; body = str_skip(body, step)) {
        struct sse_event event;
        bool has_event = true;

        sse_feed(&r, str_slice(body, 0, step));
        while (has_event) {
            TRY(sse_next(&r, &event, &has_event));
            *ret_came |= has_event;
        }
    }
    return NULL;
}

TEST(an_event_may_reach_the_cap_but_not_pass_it)
{
    static const size_t steps[] = {1, 4, SIZE_MAX};
    bool came;

    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        assert_ok(feed_capped(S("data: 12345678\n\n"), 8, steps[i], &came));
        assert_true(came);
        assert_err(feed_capped(S("data: 123456789\n\n"), 8, steps[i], &came), ERR_VALIDATION);
        assert_err(feed_capped(S("data:1234\ndata:5678\n\n"), 8, steps[i], &came), ERR_VALIDATION);
        assert_err(feed_capped(S(":a comment without an end"), 8, steps[i], &came), ERR_VALIDATION);
        assert_false(came);
    }
}

static struct str decode_hex(struct arena *a, struct str hex)
{
    char *bytes = ARENA_ARRAY(a, hex.n / 2 + 1, char);

    for (size_t i = 0; i + 1 < hex.n; i += 2) {
        char pair[3] = {hex.p[i], hex.p[i + 1]};
        bytes[i / 2] = (char)strtoul(pair, NULL, 16);
    }
    return str_make(bytes, hex.n / 2);
}

TEST(the_web_platform_tests_give_their_events)
{
    const char *path = shared_path("vectors/sse-wpt.json");
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf file = {0};
    struct json *root;

    if (!path)
        skip();
    file = read_file(path);
    assert_ok(json_parse(&a, strbuf_str(&file), 0, &root));
    assert_true(json_get(root, "cases")->n > 0);
    json_each (c, json_get(root, "cases")) {
        AUTO(strbuf) struct strbuf want = {0};

        json_each (e, json_get(c, "events")) {
            add_event(&want, json_get_text(e, "type"), json_get_text(e, "data"),
                      json_get_text(e, "lastEventId"));
        }
        check_all(decode_hex(&a, json_get_text(c, "body_hex")), strbuf_str(&want));
    }
}

RUN_TESTS(UNIT(the_web_platform_tests_give_their_events),
          UNIT(events_are_the_same_however_the_bytes_are_cut),
          UNIT(data_lines_are_joined_and_only_one_leading_space_is_taken_off),
          UNIT(an_event_without_data_is_dropped_and_its_type_forgotten),
          UNIT(an_event_that_is_cut_off_at_the_end_is_dropped), UNIT(field_names_are_exact),
          UNIT(an_id_stays_until_it_is_replaced_and_one_with_a_nul_is_ignored),
          UNIT(a_bom_is_skipped_at_the_very_start_only),
          UNIT(bytes_that_are_not_utf8_pass_as_they_came), UNIT(retry_takes_digits_only),
          UNIT(the_id_to_resume_from_is_that_of_the_last_whole_event),
          UNIT(an_event_may_reach_the_cap_but_not_pass_it))
