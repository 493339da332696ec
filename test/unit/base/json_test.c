/* json_test.c */
#include "test.h"

#include "base/json_skim.h"

#include <dirent.h>

static struct json *parsed(struct arena *a, const char *text, int flags)
{
    struct json *v = NULL;

    assert_ok(json_parse(a, str_of(text), flags, &v));
    return v;
}

static void assert_writes(const struct json *v, const char *want)
{
    AUTO(strbuf) struct strbuf out = {0};

    json_write(&out, v);
    assert_str(strbuf_str(&out), want);
}

TEST(the_public_parsing_suite_agrees)
{
    const char *dir = shared_path("vectors/json-parsing");
    char where[4096];
    size_t n_yes = 0, n_no = 0;
    struct dirent *entry;
    DIR *d;

    if (!dir)
        skip();
    snprintf(where, sizeof where, "%s", dir);
    d = opendir(where);
    assert_non_null(d);
    while ((entry = readdir(d))) {
        AUTO(arena) struct arena a = {0};
        AUTO(strbuf) struct strbuf text = {0};
        AUTO(err) struct err *e = NULL;
        struct json *v;
        char path[8192];

        if (entry->d_name[0] == '.' || entry->d_name[1] != '_')
            continue;
        snprintf(path, sizeof path, "%s/%s", where, entry->d_name);
        text = read_file(path);
        e = json_parse(&a, strbuf_str(&text), 0, &v);
        if (entry->d_name[0] == 'y') {
            n_yes++;
            if (e)
                fail_msg("%s must be accepted: %s", entry->d_name, e->text);
        } else if (entry->d_name[0] == 'n') {
            n_no++;
            if (!e)
                fail_msg("%s must be refused", entry->d_name);
        }
    }
    closedir(d);
    assert_int_equal(n_yes, 95);
    assert_int_equal(n_no, 188);
}

TEST(values_know_their_source_bytes_and_numbers_keep_their_text)
{
    AUTO(arena) struct arena a = {0};
    struct json *v = parsed(&a, " {\"a\" : [1.50, -0e+7 , \"x\\u0041\"] , \"b\":{}} ", 0);

    assert_str(v->raw, "{\"a\" : [1.50, -0e+7 , \"x\\u0041\"] , \"b\":{}}");
    assert_str(json_get(v, "a")->raw, "[1.50, -0e+7 , \"x\\u0041\"]");
    assert_str(json_at(json_get(v, "a"), 0)->text, "1.50");
    assert_str(json_at(json_get(v, "a"), 2)->text, "xA");
    assert_str(json_at(json_get(v, "a"), 2)->raw, "\"x\\u0041\"");
    assert_writes(v, "{\"a\":[1.50,-0e+7,\"xA\"],\"b\":{}}");
}

TEST(of_repeated_names_the_last_value_wins_at_the_first_place)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf big = {0};
    struct json *v;

    assert_writes(parsed(&a, "{\"a\":1,\"b\":2,\"a\":[3]}", 0), "{\"a\":[3],\"b\":2}");
    assert_err(json_parse(&a, S("{\"a\":1,\"a\":2}"), JSON_UNIQUE_KEYS, &v), ERR_VALIDATION);

    strbuf_add_char(&big, '{');
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20000; i++)
            strbuf_addf(&big, "\"k%d\":%d,", i, i + round);
    strbuf_add_cstr(&big, "\"end\":{\"k1\":\"inner\"}}");
    assert_ok(json_parse(&a, strbuf_str(&big), 0, &v));
    assert_int_equal(v->n, 20001);
    assert_int_equal(json_int_or(json_get(v, "k19999"), -1), 20000);
    assert_str(json_get_text(json_get(v, "end"), "k1"), "inner");
}

TEST(lone_surrogates_become_the_replacement_character)
{
    AUTO(arena) struct arena a = {0};

    assert_str(parsed(&a, "\"\\ud83d\\ude00\"", 0)->text, "\xF0\x9F\x98\x80");
    assert_str(parsed(&a, "\"\\ud83d\"", 0)->text, "\xEF\xBF\xBD");
    assert_str(parsed(&a, "\"\\ude00\\ud83d\"", 0)->text, "\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_str(parsed(&a, "\"\\ud83d\\u0041\"", 0)->text, "\xEF\xBF\xBD"
                                                          "A");
}

TEST(bad_utf8_is_refused_or_repaired_when_asked)
{
    AUTO(arena) struct arena a = {0};
    struct json *v;

    assert_err(json_parse(&a, S("\"a\xff\""), 0, &v), ERR_VALIDATION);
    assert_str(parsed(&a, "\"a\xff\"", JSON_REPAIR_UTF8)->text, "a\xEF\xBF\xBD");
    assert_writes(parsed(&a, "\"a\xff\"", JSON_REPAIR_UTF8), "\"a\xEF\xBF\xBD\"");
}

TEST(an_error_names_line_column_and_reason)
{
    AUTO(arena) struct arena a = {0};
    struct json *v;
    AUTO(err) struct err *e = json_parse(&a, S("{\n  \"a\": 1,\n  }"), 0, &v);

    assert_string_equal(e->text,
                        "not valid JSON: line 3, column 3: a name in double quotes was expected");
}

TEST(depth_is_capped)
{
    AUTO(arena) struct arena a = {0};
    char text[2 * (JSON_MAX_DEPTH + 1)];
    struct json *v;

    memset(text, '[', JSON_MAX_DEPTH);
    memset(text + JSON_MAX_DEPTH, ']', JSON_MAX_DEPTH);
    assert_ok(json_parse(&a, str_make(text, 2 * JSON_MAX_DEPTH), 0, &v));
    memset(text, '[', sizeof text);
    assert_err(json_parse(&a, str_make(text, sizeof text), 0, &v), ERR_VALIDATION);
}

/* An array of this text again and again, up to about n bytes. */
static struct strbuf filled_with(const char *piece, size_t n)
{
    struct strbuf text = {0};

    strbuf_add_char(&text, '[');
    while (text.n < n) {
        strbuf_add_cstr(&text, piece);
        strbuf_add_char(&text, ',');
    }
    text.p[text.n - 1] = ']';
    return text;
}

TEST(a_text_of_tiny_values_is_refused_before_it_takes_memory)
{
    static const char *const pieces[] = {"0", "[]", "{}", "{\"\":0}", "\"\"", "null", "[[0]]"};

    for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
        AUTO(arena) struct arena a = {0};
        AUTO(strbuf) struct strbuf text = filled_with(pieces[i], (size_t)8 << 20);
        struct json_where where;
        struct json *v;

        assert_false(json_parse_at(&a, strbuf_str(&text), 0, &v, &where));
        assert_string_equal(where.reason, "the text has more values than the limit of 1048576");
        assert_true(a.used_bytes <= (JSON_MAX_VALUES + 2) * (sizeof *v + 16));
    }
}

TEST(a_member_that_is_named_again_and_again_counts_every_time)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = filled_with("\"a\":0", (size_t)8 << 20);
    struct json_where where;
    struct json *v;

    text.p[0] = '{';
    text.p[text.n - 1] = '}';
    assert_false(json_parse_at(&a, strbuf_str(&text), 0, &v, &where));
    assert_true(where.offset < text.n);
}

TEST(as_many_values_as_are_allowed_are_read)
{
    AUTO(arena) struct arena a = {0};
    struct json_where where;
    struct json *v;

    assert_true(json_parse_few(&a, S("[0,{\"a\":1}]"), 0, 4, &v, &where));
    assert_false(json_parse_few(&a, S("[0,{\"a\":1}]"), 0, 3, &v, &where));
    assert_string_equal(where.reason, "the text has more values than its reader allows");
    assert_int_equal(where.offset, 8);
}

TEST(a_string_as_long_as_the_whole_text_may_be_is_read)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct json *v = NULL;

    memset(strbuf_reserve(&text, JSON_MAX_BYTES), 'x', JSON_MAX_BYTES);
    strbuf_grew(&text, JSON_MAX_BYTES);
    text.p[0] = text.p[text.n - 1] = '"';
    assert_ok(json_parse(&a, strbuf_str(&text), 0, &v));
    assert_int_equal(v->text.n, JSON_MAX_BYTES - 2);
    assert_true(a.used_bytes < 1000);
}

TEST(pointers_find_what_the_rfc_says)
{
    AUTO(arena) struct arena a = {0};
    struct json *v = parsed(&a, "{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"m~n\":8}", 0);

    assert_ptr_equal(json_pointer(v, S("")), v);
    assert_str(json_str(json_pointer(v, S("/foo/0"))), "bar");
    assert_int_equal(json_int_or(json_pointer(v, S("/")), -1), 0);
    assert_int_equal(json_int_or(json_pointer(v, S("/a~1b")), -1), 1);
    assert_int_equal(json_int_or(json_pointer(v, S("/m~0n")), -1), 8);
    assert_null(json_pointer(v, S("/foo/2")));
    assert_null(json_pointer(v, S("/foo/01")));
    assert_null(json_pointer(v, S("/foo/-")));
    assert_null(json_pointer(v, S("/m~2n")));
    assert_null(json_pointer(v, S("foo")));
}

TEST(numbers_compare_exactly_and_convert_only_when_they_fit)
{
    AUTO(arena) struct arena a = {0};
    int64_t i;
    double d;

    assert_int_equal(json_number_cmp(S("1"), S("1.000")), 0);
    assert_int_equal(json_number_cmp(S("100"), S("1e2")), 0);
    assert_int_equal(json_number_cmp(S("-0.0"), S("0")), 0);
    assert_true(json_number_cmp(S("12345678901234567890123"), S("12345678901234567890124")) < 0);
    assert_true(json_number_cmp(S("-2"), S("-1")) < 0);
    assert_true(json_number_cmp(S("1e999999999999999999999"), S("2")) > 0);
    assert_true(json_number_cmp(S("0.1"), S("0.09")) > 0);
    assert_true(json_int64(parsed(&a, "9223372036854775807", 0), &i) && i == INT64_MAX);
    assert_true(json_int64(parsed(&a, "7.0", 0), &i) && i == 7);
    assert_true(json_int64(parsed(&a, "12e1", 0), &i) && i == 120);
    assert_true(json_int64(parsed(&a, "-1200e-2", 0), &i) && i == -12);
    assert_false(json_int64(parsed(&a, "7.5", 0), &i));
    assert_false(json_int64(parsed(&a, "9223372036854775808", 0), &i));
    assert_false(json_int64(parsed(&a, "1e400", 0), &i));
    assert_true(json_double(parsed(&a, "0.25", 0), &d) && d == 0.25);
}

TEST(trees_are_built_changed_and_compared)
{
    AUTO(arena) struct arena a = {0};
    struct json *v = json_new(&a, JSON_OBJECT), *list = json_new(&a, JSON_ARRAY);

    json_set_str(&a, v, "s", S("q\"\\\n\x01"));
    json_set(&a, v, "list", list);
    json_push(list, json_new_double(&a, 0.1));
    json_push(list, json_new_bool(&a, true));
    json_set_int(&a, v, "n", INT64_MIN);
    json_set_int(&a, v, "s2", 1);
    json_set_int(&a, v, "n", 5);
    assert_true(json_remove(v, S("s2")));
    assert_false(json_remove(v, S("s2")));
    assert_writes(v, "{\"s\":\"q\\\"\\\\\\n\\u0001\",\"list\":[0.1,true],\"n\":5}");
    assert_true(json_equal(v, json_copy(&a, v)));
    assert_true(
        json_equal(parsed(&a, "{\"a\":1,\"b\":[2]}", 0), parsed(&a, "{\"b\":[2.0],\"a\":1}", 0)));
    assert_false(json_equal(parsed(&a, "{\"a\":1}", 0), parsed(&a, "{\"b\":1}", 0)));
    assert_false(json_equal(parsed(&a, "[1,2]", 0), parsed(&a, "[2,1]", 0)));
}

TEST(a_changed_value_forgets_its_source)
{
    AUTO(arena) struct arena a = {0};
    struct json *v = parsed(&a, "{\"a\":1}", 0);

    json_set_int(&a, v, "a", 2);
    assert_int_equal(v->raw.n, 0);
}

TEST(a_copy_keeps_source_bytes_and_stands_alone)
{
    AUTO(arena) struct arena a = {0};
    AUTO_FREE char *text = mem_strdup("{ \"a\" : [ 1.0 ] }");
    struct json *copy = json_copy(&a, parsed(&a, text, 0));

    memset(text, 'x', strlen(text));
    assert_str(copy->raw, "{ \"a\" : [ 1.0 ] }");
    assert_str(json_get(copy, "a")->raw, "[ 1.0 ]");
    assert_str(json_at(json_get(copy, "a"), 0)->raw, "1.0");
    assert_writes(copy, "{\"a\":[1.0]}");
}

TEST(the_writer_places_commas_by_itself)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    jw_init(&w, &out);
    jw_begin_object(&w);
    jw_kv_str(&w, "a", S("x"));
    jw_key(&w, "b");
    jw_begin_array(&w);
    jw_int(&w, 1);
    jw_begin_object(&w);
    jw_end_object(&w);
    jw_double(&w, 1.5);
    jw_null(&w);
    jw_end_array(&w);
    jw_kv_bool(&w, "c", false);
    jw_kv_raw(&w, "d", S("{\"raw\":1}"));
    jw_end_object(&w);
    assert_str(strbuf_str(&out),
               "{\"a\":\"x\",\"b\":[1,{},1.5,null],\"c\":false,\"d\":{\"raw\":1}}");
}

TEST(pretty_text_parses_back_to_the_same)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json *v = parsed(&a, "{\"a\":[1,{\"b\":[]}],\"c\":{}}", 0);

    json_write_pretty(&out, v);
    assert_str(strbuf_str(&out),
               "{\n  \"a\": [\n    1,\n    {\n      \"b\": []\n    }\n  ],\n  \"c\": {}\n}");
    assert_true(json_equal(v, parsed(&a, strbuf_cstr(&out), 0)));
}

TEST(the_size_of_a_string_is_known_before_it_is_written)
{
    char all[256];
    static const char *const texts[] = {"", "plain", "\"\\/", "\303\244\342\202\254",
                                        "\b\t\n\v\f\r\177"};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO(strbuf) struct strbuf out = {0};

        json_write_string(&out, str_of(texts[i]));
        assert_int_equal(json_string_size(str_of(texts[i])), out.n - 2);
    }
    for (int i = 0; i < 256; i++)
        all[i] = (char)i;
    for (size_t n = 0; n <= 256; n++) {
        AUTO(strbuf) struct strbuf out = {0};

        json_write_string(&out, str_make(all, n));
        assert_true(json_string_size(str_make(all, n)) >= out.n - 2);
    }
}

TEST(members_are_found_without_parsing)
{
    struct json_wanted wanted[] = {{S("a")}, {S("b")}, {S("none")}};

    assert_true(json_skim(S(" {\"a\" : [1,{\"b\":\"}\\\"]\"}] ,\"b\":-1.5e3,\"c\":{\"none\":1}}"),
                          wanted, ARRAY_LEN(wanted)));
    assert_str(wanted[0].raw, "[1,{\"b\":\"}\\\"]\"}]");
    assert_str(wanted[1].raw, "-1.5e3");
    assert_int_equal(wanted[2].raw.n, 0);
    assert_true(json_skim(S("{\"b\":1,\"b\":\"last\"}"), wanted, ARRAY_LEN(wanted)));
    assert_str(wanted[1].raw, "\"last\"");
    assert_true(json_skim(S("{}"), wanted, ARRAY_LEN(wanted)));
    assert_int_equal(wanted[1].raw.n, 0);
}

TEST(a_text_that_is_no_object_or_breaks_off_is_not_skimmed)
{
    static const char *const texts[] = {"",          "[]",
                                        "\"a\"",     "{",
                                        "{\"a",      "{\"a\\",
                                        "{\"a\"",    "{\"a\":",
                                        "{\"a\":[",  "{\"a\":[\"]",
                                        "{\"a\":1",  "{\"a\":1,",
                                        "{\"a\" 1}", "{\"\\u0061\":1}"};
    struct json_wanted wanted = {S("a")};

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        assert_false(json_skim(str_of(texts[i]), &wanted, 1));
}

RUN_TESTS(
    UNIT(the_public_parsing_suite_agrees), UNIT(the_size_of_a_string_is_known_before_it_is_written),
    UNIT(values_know_their_source_bytes_and_numbers_keep_their_text),
    UNIT(of_repeated_names_the_last_value_wins_at_the_first_place),
    UNIT(lone_surrogates_become_the_replacement_character),
    UNIT(bad_utf8_is_refused_or_repaired_when_asked), UNIT(an_error_names_line_column_and_reason),
    UNIT(depth_is_capped), UNIT(a_text_of_tiny_values_is_refused_before_it_takes_memory),
    UNIT(a_member_that_is_named_again_and_again_counts_every_time),
    UNIT(as_many_values_as_are_allowed_are_read),
    UNIT(a_string_as_long_as_the_whole_text_may_be_is_read), UNIT(pointers_find_what_the_rfc_says),
    UNIT(numbers_compare_exactly_and_convert_only_when_they_fit),
    UNIT(trees_are_built_changed_and_compared), UNIT(a_changed_value_forgets_its_source),
    UNIT(a_copy_keeps_source_bytes_and_stands_alone), UNIT(the_writer_places_commas_by_itself),
    UNIT(pretty_text_parses_back_to_the_same), UNIT(members_are_found_without_parsing),
    UNIT(a_text_that_is_no_object_or_breaks_off_is_not_skimmed))
