/* json_walk_test.c - a document is walked the same way however its bytes come. */
#include "test.h"

#include "base/json_walk.h"

/* A document that comes so many bytes at a time. */
struct source {
    struct str rest;
    size_t n_step;
};

static struct err *read_some(void *self, struct strbuf *out)
{
    struct source *s = self;

    strbuf_add(out, str_slice(s->rest, 0, MIN(s->n_step, s->rest.n)));
    s->rest = str_skip(s->rest, MIN(s->n_step, s->rest.n));
    return NULL;
}

static struct err *add_text(void *self, struct str text)
{
    strbuf_add(self, text);
    return NULL;
}

/* Everything is entered, strings are streamed, the rest is taken. */
static struct err *describe(struct json_walk *w, struct strbuf *out)
{
    enum json_type type;
    struct str key, raw;
    bool found;

    TRY(json_walk_type(w, &type));
    if (type == JSON_STRING) {
        strbuf_add_char(out, '\'');
        TRY(json_walk_text(w, add_text, out));
        strbuf_add_char(out, '\'');
        return NULL;
    }
    if (type != JSON_OBJECT && type != JSON_ARRAY) {
        TRY(json_walk_take(w, 100, &raw));
        strbuf_add(out, raw);
        return NULL;
    }
    TRY(json_walk_enter(w));
    strbuf_add_char(out, '(');
    for (;;) {
        TRY(json_walk_next(w, &key, &found));
        if (!found)
            break;
        if (key.n)
            strbuf_addf(out, "%" STR_FMT "=", STR_ARG(key));
        TRY(describe(w, out));
        strbuf_add_char(out, ' ');
    }
    strbuf_add_char(out, ')');
    return NULL;
}

static struct err *walk(struct str text, size_t n_step, struct strbuf *out)
{
    struct source s = {text, n_step};
    AUTO(json_walk) struct json_walk w;

    json_walk_init(&w, read_some, &s);
    TRY(describe(&w, out));
    return json_walk_end(&w);
}

static void assert_walk(struct str text, const char *want)
{
    for (size_t n = 1; n <= text.n + 1; n++) {
        AUTO(strbuf) struct strbuf out = {0};

        assert_ok(walk(text, n, &out));
        assert_string_equal(strbuf_cstr(&out), want);
    }
}

TEST(values_are_found_wherever_the_pieces_are_cut)
{
    assert_walk(S(" {\"a\" : [1, -2.5e3,true ,null,[]], \"b\\u0021\":{\"c\":\"d\"}, \"e\":{} } "),
                "(a=(1 -2.5e3 true null () ) b!=(c='d' ) e=() )");
    assert_walk(S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00 \xc3\xa9 \\ud83dx\""),
                "'\"\\/\b\f\n\r\t\xc3\xa9\xf0\x9f\x98\x80 \xc3\xa9 \xef\xbf\xbdx'");
}

TEST(what_is_no_json_is_an_error_with_its_place)
{
    static const char *const bad[] = {"",      "{",         "[1",       "{\"a\"}", "{\"a\":1,}",
                                      "[1 2]", "\"a",       "\"\\x\"",  "{a:1}",   "[1]]",
                                      "}",     "\"\\ud8\"", "{\"a\" 1}"};

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO(strbuf) struct strbuf out = {0};
        AUTO(err) struct err *e = walk(str_of(bad[i]), 2, &out);

        assert_true(err_is(e, ERR_VALIDATION));
        assert_non_null(strstr(e->text, " at byte "));
    }
}

TEST(a_value_is_taken_up_to_its_limit_and_skipped_beyond_it)
{
    struct source s = {S("[\"0123456789\",{\"x\":[\"]\",\"}\"]},7]"), 3};
    AUTO(json_walk) struct json_walk w;
    struct str key, raw;
    bool found;

    json_walk_init(&w, read_some, &s);
    assert_ok(json_walk_enter(&w));
    assert_ok(json_walk_next(&w, &key, &found));
    assert_ok(json_walk_skip(&w));
    assert_ok(json_walk_next(&w, &key, &found));
    assert_ok(json_walk_take(&w, 100, &raw));
    assert_str(raw, "{\"x\":[\"]\",\"}\"]}");
    assert_ok(json_walk_next(&w, &key, &found));
    assert_err(json_walk_take(&w, 0, &raw), ERR_VALIDATION);
}

TEST(a_value_that_is_too_long_to_be_taken_still_comes)
{
    struct source s = {S("[ \"0123456789\" ,[1,2],7]"), 3};
    AUTO(json_walk) struct json_walk w;
    AUTO(strbuf) struct strbuf text = {0};
    struct str key, raw;
    bool found, fits;

    json_walk_init(&w, read_some, &s);
    assert_ok(json_walk_enter(&w));
    assert_ok(json_walk_next(&w, &key, &found));
    assert_ok(json_walk_take_short(&w, 11, &raw, &fits));
    assert_false(fits);
    assert_ok(json_walk_text(&w, add_text, &text));
    assert_string_equal(strbuf_cstr(&text), "0123456789");
    assert_ok(json_walk_next(&w, &key, &found));
    assert_ok(json_walk_take_short(&w, 5, &raw, &fits));
    assert_true(fits);
    assert_str(raw, "[1,2]");
    assert_ok(json_walk_next(&w, &key, &found));
    assert_ok(json_walk_take_short(&w, 1, &raw, &fits));
    assert_str(raw, "7");
}

/* --- a document without an end in sight --- */

struct endless {
    const char *start, *piece, *end;
    size_t n_pieces; /* still to come */
    bool has_begun, has_ended;
};

static struct err *read_endless(void *self, struct strbuf *out)
{
    struct endless *e = self;

    if (!e->has_begun)
        strbuf_add_cstr(out, e->start);
    else if (e->n_pieces)
        strbuf_add_cstr(out, e->piece);
    else if (!e->has_ended)
        strbuf_add_cstr(out, e->end);
    e->has_ended |= e->n_pieces == 0;
    e->n_pieces -= e->n_pieces > 0;
    e->has_begun = true;
    return NULL;
}

#define SIXTEEN(c) c c c c c c c c c c c c c c c c
#define MANY 100000

TEST(memory_does_not_grow_with_what_is_skipped)
{
    struct endless kinds[] = {
        {"{\"skipped\":\"", SIXTEEN("0123"), "\"}", MANY, false, false},
        {"{\"skipped\":[", SIXTEEN("[],1"), "]}", MANY, false, false},
        {"{\"skipped\":", SIXTEEN("0123"), "}", MANY, false, false},
        {"{\"skipped\":0", SIXTEEN("\n\n\n\n"), "}", MANY, false, false},
        {"{", SIXTEEN("    "), "\"skipped\":0}", MANY, false, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        AUTO(json_walk) struct json_walk w;
        struct str key;
        bool found;

        json_walk_init(&w, read_endless, &kinds[i]);
        assert_ok(json_walk_enter(&w));
        assert_ok(json_walk_next(&w, &key, &found));
        assert_ok(json_walk_skip(&w));
        assert_ok(json_walk_next(&w, &key, &found));
        assert_false(found);
        assert_ok(json_walk_end(&w));
        assert_true(w.buffer.room < 1 << 20);
    }
}

TEST(memory_does_not_grow_with_a_value_that_is_too_long_to_be_taken)
{
    static const char *const starts[] = {"[\"", "[", "[["}, *const pieces[] = {"text", "1234",
                                                                               "0,1,"};

    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        struct endless e = {starts[i], pieces[i], "", 1 << 20, false, false};
        AUTO(json_walk) struct json_walk w;
        struct str key, raw;
        bool found;

        json_walk_init(&w, read_endless, &e);
        assert_ok(json_walk_enter(&w));
        assert_ok(json_walk_next(&w, &key, &found));
        assert_err(json_walk_take(&w, 1000, &raw), ERR_VALIDATION);
        assert_true(w.buffer.room < 10000);
    }
}

RUN_TESTS(UNIT(values_are_found_wherever_the_pieces_are_cut),
          UNIT(what_is_no_json_is_an_error_with_its_place),
          UNIT(a_value_is_taken_up_to_its_limit_and_skipped_beyond_it),
          UNIT(a_value_that_is_too_long_to_be_taken_still_comes),
          UNIT(memory_does_not_grow_with_what_is_skipped),
          UNIT(memory_does_not_grow_with_a_value_that_is_too_long_to_be_taken))
