/* schema_lower_test.c - what vendors take of a schema, and what becomes of the rest. */
#include "provider/transcript.h"

#include "provider/schema_lower.h"

/* Both with ' for ". */
static void assert_lowers_(enum schema_style style, const char *schema, const char *want,
                           const char *taken, const char *file, int line)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0}, wanted = {0}, got = {0}, listed = {0};
    struct schema_lowered lowered;
    struct json *value;

    add_quoted(&text, schema);
    add_quoted(&wanted, want);
    assert_ok_(json_parse(&a, strbuf_str(&text), 0, &value), file, line);
    schema_lower(&a, value, style, &lowered);
    json_write(&got, lowered.schema);
    assert_str_(strbuf_str(&got), strbuf_cstr(&wanted), file, line);
    for (size_t i = 0; i < lowered.n_taken; i++)
        strbuf_addf(&listed, "%s%" STR_FMT, i ? " " : "", STR_ARG(lowered.taken[i]));
    assert_str_(strbuf_str(&listed), taken, file, line);
}
#define assert_lowers(style, schema, want, taken)                                                  \
    assert_lowers_((style), (schema), (want), (taken), __FILE__, __LINE__)

TEST(limits_become_words_for_anthropic_and_objects_are_closed)
{
    assert_lowers(SCHEMA_ANTHROPIC,
                  "{'type':'object','properties':{'x':{'type':'number','minimum':0}}}",
                  "{'type':'object','properties':{'x':{'type':'number','description':"
                  "'{minimum: 0}'}},'additionalProperties':false}",
                  "/properties/x/minimum");
    assert_lowers(SCHEMA_ANTHROPIC,
                  "{'type':'string','description':'A name.','maxLength':5,'pattern':'^a'}",
                  "{'type':'string','description':'A name. {maxLength: 5, pattern: \\'^a\\'}'}",
                  "/maxLength /pattern");
}

TEST(every_object_is_closed_all_the_way_down)
{
    assert_lowers(SCHEMA_ANTHROPIC,
                  "{'type':'array','items':{'type':'object'},'$defs':{'d':{'properties':{}}}}",
                  "{'type':'array','items':{'type':'object','additionalProperties':false},"
                  "'$defs':{'d':{'properties':{},'additionalProperties':false}}}",
                  "");
    assert_lowers(SCHEMA_ANTHROPIC, "{'anyOf':[{'type':['object','null']},true]}",
                  "{'anyOf':[{'type':['object','null'],'additionalProperties':false},{}]}", "");
}

TEST(what_anthropic_takes_stays)
{
    static const char kept[] = "{'type':'array','minItems':1,'items':{'type':'string','format':"
                               "'date','enum':['a'],'default':'a','const':'a'}}";

    assert_lowers(SCHEMA_ANTHROPIC, kept, kept, "");
    assert_lowers(SCHEMA_ANTHROPIC, "{'minItems':2,'format':'made-up'}",
                  "{'description':'{minItems: 2, format: \\'made-up\\'}'}", "/minItems /format");
    assert_lowers(SCHEMA_ANTHROPIC, "{'oneOf':[{'type':'null'}]}", "{'anyOf':[{'type':'null'}]}",
                  "");
}

TEST(members_beside_those_that_are_named_are_told)
{
    assert_lowers(SCHEMA_ANTHROPIC, "{'type':'object','additionalProperties':{'type':'string'}}",
                  "{'type':'object','additionalProperties':false,'description':"
                  "'{additionalProperties: {\\'type\\':\\'string\\'}}'}",
                  "/additionalProperties");
}

TEST(gemini_gets_the_keywords_that_it_knows)
{
    assert_lowers(SCHEMA_GEMINI,
                  "{'$schema':'x','type':'object','properties':{'a':{'const':1,'minimum':0,"
                  "'pattern':'^1'}},'additionalProperties':true}",
                  "{'type':'object','properties':{'a':{'enum':[1],'minimum':0,'description':"
                  "'{pattern: \\'^1\\'}'}},'additionalProperties':true}",
                  "/properties/a/pattern");
}

static bool is_loose(const char *schema)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct schema_lowered lowered;
    struct json *value;

    add_quoted(&text, schema);
    assert_ok(json_parse(&a, strbuf_str(&text), 0, &value));
    schema_lower(&a, value, SCHEMA_OPENAI, &lowered);
    return lowered.is_loose;
}

TEST(openai_guarantees_what_has_all_its_members)
{
    assert_false(is_loose("{'type':'object','properties':{'a':{'type':'string','maxLength':3}},"
                          "'required':['a']}"));
    assert_true(is_loose("{'type':'object','properties':{'a':{}}}"));
    assert_true(is_loose("{'type':'object','additionalProperties':{}}"));
    assert_true(is_loose("{'type':'object','allOf':[{}]}"));
    assert_true(is_loose("{'type':'object','properties':{'a':{'not':{}}},'required':['a']}"));
    assert_true(is_loose("{'type':'array'}"));
    assert_lowers(SCHEMA_OPENAI,
                  "{'type':'object','properties':{'a':{'type':'string','maxLength':3,'pattern':"
                  "'b'}},'required':['a']}",
                  "{'type':'object','properties':{'a':{'type':'string','pattern':'b',"
                  "'description':'{maxLength: 3}'}},'required':['a'],"
                  "'additionalProperties':false}",
                  "/properties/a/maxLength");
}

TEST(a_schema_that_is_none_becomes_one_without_limits)
{
    assert_lowers(SCHEMA_ANTHROPIC, "true", "{}", "");
    assert_lowers(SCHEMA_GEMINI, "[1]", "{}", "");
    assert_lowers(SCHEMA_ANTHROPIC, "{'properties':3,'items':[{}],'anyOf':{}}",
                  "{'additionalProperties':false,'description':"
                  "'{properties: 3, items: [{}], anyOf: {}}'}",
                  "/properties /items /anyOf");
}

TEST(what_is_told_has_a_limit)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0}, out = {0};
    struct schema_lowered lowered;
    struct json *value;

    strbuf_add_cstr(&text, "{\"anyOf\":[");
    for (int i = 0; i < 5000; i++)
        strbuf_addf(&text, "%s{\"maxLength\":123456789}", i ? "," : "");
    strbuf_add_cstr(&text, "]}");
    assert_ok(json_parse(&a, strbuf_str(&text), 0, &value));
    schema_lower(&a, value, SCHEMA_ANTHROPIC, &lowered);
    json_write(&out, lowered.schema);
    assert_int_equal(lowered.n_taken, SCHEMA_MAX_TAKEN);
    assert_true(out.n < text.n + SCHEMA_MAX_NOTES);
}

RUN_TESTS(UNIT(limits_become_words_for_anthropic_and_objects_are_closed),
          UNIT(every_object_is_closed_all_the_way_down), UNIT(what_anthropic_takes_stays),
          UNIT(members_beside_those_that_are_named_are_told),
          UNIT(gemini_gets_the_keywords_that_it_knows),
          UNIT(openai_guarantees_what_has_all_its_members),
          UNIT(a_schema_that_is_none_becomes_one_without_limits), UNIT(what_is_told_has_a_limit))
