/* yaml_test.c */
#include "test.h"

#include "base/yaml.h"

static void assert_reads(const char *yaml, const char *json)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json *v;

    assert_ok(yaml_parse(&a, str_of(yaml), &v));
    json_write(&out, v);
    assert_str(strbuf_str(&out), json);
}

static void assert_refuses(const char *yaml, const char *message)
{
    AUTO(arena) struct arena a = {0};
    struct json *v;
    AUTO(err) struct err *e = yaml_parse(&a, str_of(yaml), &v);

    assert_non_null(e);
    assert_string_equal(e->text, message);
}

TEST(plain_words_are_what_they_look_like_and_quoted_ones_are_text)
{
    assert_reads("a: 1\nb: '1'\nc: true\nd: \"true\"\ne: ~\nf: 1.5e3\ng: yes\nh: +7\ni: 0x1f\n",
                 "{\"a\":1,\"b\":\"1\",\"c\":true,\"d\":\"true\",\"e\":null,\"f\":1.5e3,"
                 "\"g\":\"yes\",\"h\":7,\"i\":\"0x1f\"}");
    assert_reads("- [a, {b: c}]\n- |\n  two\n  lines\n",
                 "[[\"a\",{\"b\":\"c\"}],\"two\\nlines\\n\"]");
    assert_reads("", "null");
    assert_reads("{\"json\": [1, null]}", "{\"json\":[1,null]}");
}

TEST(what_could_blow_up_or_mislead_is_refused)
{
    assert_refuses("a: &x [1]\nb: *x\n",
                   "not valid YAML: line 2, column 4: aliases are not supported");
    assert_refuses("a: 1\na: 2\n",
                   "not valid YAML: line 2, column 1: this mapping has the same key twice");
    assert_refuses("? [1]\n: 2\n",
                   "not valid YAML: line 1, column 3: a key must be a plain word or a string");
    assert_refuses("a\n---\nb\n", "not valid YAML: line 2, column 1: only one document is allowed");
}

TEST(depth_is_capped)
{
    AUTO(strbuf) struct strbuf deep = {0};
    AUTO(arena) struct arena a = {0};
    struct json *v;

    for (int i = 0; i <= YAML_MAX_DEPTH; i++)
        strbuf_add_char(&deep, '[');
    assert_err(yaml_parse(&a, strbuf_str(&deep), &v), ERR_VALIDATION);
}

RUN_TESTS(UNIT(plain_words_are_what_they_look_like_and_quoted_ones_are_text),
          UNIT(what_could_blow_up_or_mislead_is_refused), UNIT(depth_is_capped))
