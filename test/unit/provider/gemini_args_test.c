/* gemini_args_test.c */
#include "test.h"

#include "provider/gemini/gemini.h"

/* Arguments under construction, from `base` on. */
struct fixture {
    struct arena arena;
    struct gemini_args args;
};

static void begin(struct fixture *f, const char *base)
{
    struct json *v;

    *f = (struct fixture){0};
    gemini_args_begin(&f->args, &f->arena);
    assert_ok(json_parse(&f->arena, str_of(base), 0, &v));
    assert_ok(gemini_args_set(&f->args, &f->arena, v));
}

static void fixture_done(struct fixture *f)
{
    arena_done(&f->arena);
}
DEFINE_AUTO_VAL(fixture, fixture_done)

/* One piece with `value` ("\"numberValue\":1") at the path. */
static struct err *add(struct fixture *f, const char *path, const char *value)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(arena) struct arena a = {0};
    struct json *piece;

    strbuf_add_cstr(&text, "{\"jsonPath\":");
    json_write_string(&text, str_of(path));
    strbuf_addf(&text, ",%s}", value);
    assert_ok(json_parse(&a, strbuf_str(&text), 0, &piece));
    return gemini_args_add(&f->args, &f->arena, piece);
}

static void assert_args_(struct fixture *f, const char *want, const char *file, int line)
{
    AUTO(strbuf) struct strbuf got = {0};

    json_write(&got, f->args.root);
    assert_str_(strbuf_str(&got), want, file, line);
}
#define assert_args(f, want) assert_args_((f), (want), __FILE__, __LINE__)

#define TEXT(text) "\"stringValue\":\"" text "\""
#define MORE(text) TEXT(text) ",\"willContinue\":true"
#define ONE "\"numberValue\":1"

TEST(objects_and_arrays_come_to_be_along_the_path)
{
    AUTO(fixture) struct fixture f;

    begin(&f, "{}");
    assert_ok(add(&f, "$.a.b[0][0]", ONE));
    assert_ok(add(&f, "$.a.b[0][1]", "\"boolValue\":false"));
    assert_ok(add(&f, "$.a.b[1]", "\"nullValue\":\"NULL_VALUE\""));
    assert_ok(add(&f, "$.c", TEXT("x")));
    assert_args(&f, "{\"a\":{\"b\":[[1,false],null]},\"c\":\"x\"}");
}

TEST(a_string_grows_while_it_will_continue)
{
    AUTO(fixture) struct fixture f;

    begin(&f, "{}");
    assert_ok(add(&f, "$.a", MORE("one ")));
    assert_ok(add(&f, "$.a", MORE("two ")));
    assert_ok(add(&f, "$.a", TEXT("three")));
    assert_args(&f, "{\"a\":\"one two three\"}");
    assert_ok(add(&f, "$.a", TEXT("four")));
    assert_args(&f, "{\"a\":\"four\"}");
}

TEST(a_value_of_another_type_takes_the_place_of_an_open_string)
{
    AUTO(fixture) struct fixture f;

    begin(&f, "{}");
    assert_ok(add(&f, "$.a", MORE("x")));
    assert_ok(add(&f, "$.a", "\"numberValue\":123456789012345678901234567890"));
    assert_ok(add(&f, "$.a", MORE("y")));
    assert_ok(add(&f, "$.a", TEXT("z")));
    assert_args(&f, "{\"a\":\"yz\"}");
}

TEST(many_small_pieces_take_memory_in_proportion)
{
    AUTO(fixture) struct fixture f;

    begin(&f, "{}");
    for (int i = 0; i < 10000; i++)
        assert_ok(add(&f, "$.a", MORE("12345678")));
    assert_int_equal(json_get(f.args.root, "a")->text.n, 80000);
    assert_true(f.arena.used_bytes < 80000 * 5);
}

TEST(pieces_are_added_to_what_came_whole)
{
    AUTO(fixture) struct fixture f;

    begin(&f, "{\"a\":[{\"b\":1}]}");
    assert_ok(add(&f, "$.a[0].c", ONE));
    assert_ok(add(&f, "$.a[1]", ONE));
    assert_args(&f, "{\"a\":[{\"b\":1,\"c\":1},1]}");
}

TEST(names_may_stand_in_quotes)
{
    AUTO(fixture) struct fixture f;

    begin(&f, "{}");
    assert_ok(add(&f, "$['a.b'][\"c]\"]['it\\'s']", ONE));
    assert_ok(add(&f, "$['\\u00e9\"']", ONE));
    assert_ok(add(&f, "$['']", ONE));
    assert_args(&f, "{\"a.b\":{\"c]\":{\"it's\":1}},\"\xC3\xA9\\\"\":1,\"\":1}");
}

TEST(a_piece_without_a_value_only_opens_its_place)
{
    AUTO(fixture) struct fixture f;

    begin(&f, "{}");
    assert_ok(add(&f, "$.a", "\"willContinue\":true"));
    assert_args(&f, "{\"a\":null}");
    assert_ok(add(&f, "$.a", TEXT("x")));
    assert_args(&f, "{\"a\":\"x\"}");
}

TEST(a_path_that_leads_nowhere_is_an_error)
{
    static const char *const paths[] = {
        "",       "$",       "a",      "$a",     "$.",    "$..a",     "$.a[",
        "$.a[x]", "$.a[-1]", "$.a[1]", "$[0]",   "$.s.x", "$.o",      "$.s[0]",
        "$['a",   "$['a'",   "$[']",   "$['a'x", "$['\\", "$['a\\']", "$.a[99999999999999999999]",
    };

    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        AUTO(fixture) struct fixture f;

        begin(&f, "{\"s\":\"x\",\"o\":{}}");
        assert_err(add(&f, paths[i], ONE), ERR_BAD_RESPONSE);
    }
}

TEST(a_path_has_a_greatest_depth)
{
    AUTO(strbuf) struct strbuf path = {0};
    AUTO(fixture) struct fixture f;

    begin(&f, "{}");
    strbuf_add_char(&path, '$');
    for (int i = 0; i < 100000; i++)
        strbuf_add_cstr(&path, ".a");
    assert_err(add(&f, strbuf_cstr(&path), ONE), ERR_BAD_RESPONSE);
}

TEST(an_object_has_a_greatest_number_of_members)
{
    AUTO(fixture) struct fixture f;
    AUTO(err) struct err *e = NULL;
    int n;

    begin(&f, "{}");
    for (n = 0; n < 100000 && !e; n++) {
        char path[32];

        snprintf(path, sizeof path, "$.m%d", n);
        e = add(&f, path, ONE);
    }
    assert_true(n > 4000 && n < 5000);
    assert_int_equal(e->kind, ERR_BAD_RESPONSE);
}

RUN_TESTS(UNIT(objects_and_arrays_come_to_be_along_the_path),
          UNIT(a_string_grows_while_it_will_continue),
          UNIT(a_value_of_another_type_takes_the_place_of_an_open_string),
          UNIT(many_small_pieces_take_memory_in_proportion),
          UNIT(pieces_are_added_to_what_came_whole), UNIT(names_may_stand_in_quotes),
          UNIT(a_piece_without_a_value_only_opens_its_place),
          UNIT(a_path_that_leads_nowhere_is_an_error), UNIT(a_path_has_a_greatest_depth),
          UNIT(an_object_has_a_greatest_number_of_members))
