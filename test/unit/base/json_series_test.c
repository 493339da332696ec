/* json_series_test.c - a value that was made without parsing is the one that parsing makes. */
#include "test.h"

#include "base/json_series.h"

/* All that can be seen of a value, its source bytes as well. */
static void describe(struct strbuf *out, const struct json *v)
{
    strbuf_addf(out, "(%d %d '%" STR_FMT "' '%" STR_FMT "' '%" STR_FMT "' %u", (int)v->type,
                (int)v->boolean, STR_ARG(v->key), STR_ARG(v->text), STR_ARG(v->raw), v->n);
    json_each (child, v)
        describe(out, child);
    strbuf_add_char(out, ')');
}

static void assert_same_value(const struct json *got, struct str text)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf mine = {0}, parsed = {0};
    struct json *want;

    assert_ok(json_parse(&a, text, 0, &want));
    describe(&mine, got);
    describe(&parsed, want);
    assert_string_equal(strbuf_cstr(&mine), strbuf_cstr(&parsed));
}

/* False: it had to be parsed. */
static bool take(struct json_series *s, struct str text)
{
    struct json *v = json_series_next(s, text);
    bool is_like = v != NULL;

    if (!is_like)
        assert_ok(json_series_parse(s, text, &v));
    assert_same_value(v, text);
    return is_like;
}

static bool take_word(struct json_series *s, const char *word)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, " {\"type\":\"delta\",\"in\":{\"a\":[1,{\"text\":\"%s\"}],\"z\":null}} ",
                word);
    return take(s, strbuf_str(&text));
}

TEST(texts_that_differ_in_one_string_are_parsed_once)
{
    static const char *const words[] = {"two", "",         "a longer one", "two",
                                        "t",   "\xc3\xa9", "twenty"};
    AUTO(json_series) struct json_series s = {0};

    assert_false(take_word(&s, "one"));
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        assert_true(take_word(&s, words[i]));
}

TEST(a_string_with_an_escape_is_parsed_and_so_is_the_one_after_it)
{
    AUTO(json_series) struct json_series s = {0};

    assert_false(take_word(&s, "one"));
    assert_false(take_word(&s, "a\\nb"));
    assert_false(take_word(&s, "two"));
    assert_true(take_word(&s, "three"));
    assert_false(take_word(&s, "a\\\\"));
    assert_false(take_word(&s, "x\",\"y\":\"z"));
}

TEST(what_differs_elsewhere_is_parsed)
{
    static const char *const texts[] = {
        "{\"a\":\"x\",\"b\":1}",
        "{\"a\":\"x\",\"b\":2}",
        "{\"a\":\"y\",\"b\":3}",
        "{\"c\":\"y\",\"b\":3}",
        "{\"c\":\"y\",\"b\":33}",
        "{\"c\":\"y\"}",
        "{\"c\":\"y\",\"c\":\"y\"}",
        "{\"c\":\"z\",\"c\":\"y\"}",
        "[\"c\"]",
        "\"c\"",
        "7",
        "{}",
    };
    AUTO(json_series) struct json_series s = {0};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_false(take(&s, str_of(texts[i])));
    assert_false(take(&s, S("[\"a\",\"b\"]")));
    assert_true(take(&s, S("[\"a\",\"c\"]")));
    assert_false(take(&s, S("[\"b\",\"c\"]")));
    assert_true(take(&s, S("[\"c\",\"c\"]")));
    assert_false(take(&s, S("\"whole\"")));
    assert_true(take(&s, S("\"text\"")));
}

TEST(what_is_no_json_is_never_taken_for_it)
{
    static const char *const texts[] = {
        "[\"a\xff\"]", "[\"a\xc3\"]", "[\"a\x01\"]", "[\"a\nb\"]", "[\"a",
        "[\"a]",       "[\"",         "[a\"]",       "",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(json_series) struct json_series s = {0};
        struct json *v;

        assert_false(take(&s, S("[\"a\"]")));
        assert_true(take(&s, S("[\"ab\"]")));
        assert_null(json_series_next(&s, str_of(texts[i])));
        assert_err(json_series_parse(&s, str_of(texts[i]), &v), ERR_VALIDATION);
        assert_null(json_series_next(&s, S("[\"abc\"]")));
    }
}

TEST(a_large_text_and_a_deep_one_are_parsed_each_time)
{
    AUTO(json_series) struct json_series s = {0};
    AUTO(strbuf) struct strbuf large = {0}, deep = {0};

    strbuf_add_cstr(&large, "[\"");
    while (large.n <= JSON_SERIES_MAX_BYTES)
        strbuf_add_char(&large, 'x');
    strbuf_add_cstr(&large, "\"]");
    for (int i = 0; i <= JSON_SERIES_MAX_DEPTH; i++)
        strbuf_add_char(&deep, '[');
    strbuf_add_cstr(&deep, "\"x\"");
    for (int i = 0; i <= JSON_SERIES_MAX_DEPTH; i++)
        strbuf_add_char(&deep, ']');
    for (char c = 'a'; c < 'd'; c++) {
        large.p[3] = c;
        assert_false(take(&s, strbuf_str(&large)));
    }
    for (char c = 'a'; c < 'd'; c++) {
        deep.p[JSON_SERIES_MAX_DEPTH + 2] = c;
        assert_false(take(&s, strbuf_str(&deep)));
    }
}

/* --- whatever comes, in whatever order --- */

static uint64_t roll(uint64_t *dice, uint64_t n)
{
    *dice = *dice * 6364136223846793005u + 1442695040888963407u;
    return (*dice >> 33) % n;
}

static void add_string(uint64_t *dice, struct strbuf *out)
{
    static const char *const pieces[] = {"a", "b", "\\n", "\\\"", "\\\\", "\xc3\xa9", " ", ","};

    strbuf_add_char(out, '"');
    for (uint64_t n = roll(dice, 4); n > 0; n--)
        strbuf_add_cstr(out, pieces[roll(dice, ARRAY_LEN(pieces))]);
    strbuf_add_char(out, '"');
}

TEST(whatever_the_texts_are_the_values_are_theirs)
{
    AUTO(json_series) struct json_series s = {0};
    size_t n_like = 0;
    uint64_t dice = 7;

    for (int i = 0; i < 20000; i++) {
        AUTO(strbuf) struct strbuf text = {0};

        strbuf_add_cstr(&text, "{\"k\":");
        if (roll(&dice, 20) == 0)
            add_string(&dice, &text);
        else
            strbuf_add_cstr(&text, "\"a\"");
        strbuf_add_cstr(&text, roll(&dice, 20) == 0 ? ",\"k\":[" : ",\"v\":[");
        add_string(&dice, &text);
        strbuf_add_cstr(&text, roll(&dice, 20) == 0 ? ",\"b\"]}" : "]}");
        n_like += take(&s, strbuf_str(&text));
    }
    assert_true(n_like > 2000 && n_like < 18000);
}

RUN_TESTS(UNIT(texts_that_differ_in_one_string_are_parsed_once),
          UNIT(a_string_with_an_escape_is_parsed_and_so_is_the_one_after_it),
          UNIT(what_differs_elsewhere_is_parsed), UNIT(what_is_no_json_is_never_taken_for_it),
          UNIT(a_large_text_and_a_deep_one_are_parsed_each_time),
          UNIT(whatever_the_texts_are_the_values_are_theirs))
