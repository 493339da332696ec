/* schema_test.c */
#include "test.h"

#include "base/schema.h"
#include "base/schema/uri.h"

#include <dirent.h>

/* --- the public suite --- */

#define REMOTE "http://localhost:1234/"

/* Gives the suite's remote documents, as its server would. */
struct remotes {
    struct arena arena;
    char dir[4096];
};

static const struct json *find_remote(void *self, struct str uri)
{
    struct remotes *r = self;
    AUTO(strbuf) struct strbuf text = {0};
    struct json *document = NULL;
    char path[8192];
    FILE *file;

    if (!str_starts(uri, S(REMOTE)))
        return NULL;
    uri = str_skip(uri, sizeof REMOTE - 1);
    snprintf(path, sizeof path, "%s/%" STR_FMT, r->dir, STR_ARG(uri));
    file = fopen(path, "rb");
    if (!file)
        return NULL;
    fclose(file);
    text = read_file(path);
    assert_ok(json_parse(&r->arena, arena_str(&r->arena, strbuf_str(&text)), 0, &document));
    return document;
}

struct tally {
    size_t n_run, n_failed;
    const char *const *exceptions; /* "file: group", ends with NULL */
    size_t n_excepted;
};

static bool is_excepted(const struct tally *t, const char *name)
{
    for (size_t i = 0; t->exceptions[i]; i++)
        if (strcmp(t->exceptions[i], name) == 0)
            return true;
    return false;
}

/* True when the answer is the one that the suite wants. */
static bool agrees(const struct schema *schema, const struct json *test)
{
    AUTO(arena) struct arena a = {0};
    struct schema_report report;
    AUTO(err) struct err *e = NULL;
    bool valid;

    e = schema_validate(schema, json_get(test, "data"), &a, &valid, &report);
    if (e) {
        print_error("no answer: %s\n", e->text);
        return false;
    }
    return valid == json_bool(json_get(test, "valid"), false) && valid == (report.n_errors == 0);
}

static void run_group(struct tally *t, struct remotes *remotes, const char *file,
                      const struct json *group)
{
    struct schema_resolver resolver = {.resolve = find_remote, .self = remotes};
    AUTO(schema) struct schema *schema = NULL;
    AUTO(err) struct err *e = NULL;
    struct str title = json_get_text(group, "description");
    char name[512];

    snprintf(name, sizeof name, "%s: %" STR_FMT, file, STR_ARG(title));
    if (is_excepted(t, name)) {
        t->n_excepted += json_get(group, "tests")->n;
        return;
    }
    e = schema_compile(json_get(group, "schema"), &resolver, &schema);
    if (e)
        print_error("%s: %s\n", name, e->text);
    json_each (test, json_get(group, "tests")) {
        t->n_run++;
        if (!e && agrees(schema, test))
            continue;
        t->n_failed++;
        print_error("FAILED %s: %" STR_FMT "\n", name, STR_ARG(json_get_text(test, "description")));
    }
}

static void run_file(struct tally *t, struct remotes *remotes, const char *dir, const char *name)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct json *groups;
    char path[8192];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    text = read_file(path);
    assert_ok(json_parse(&a, strbuf_str(&text), 0, &groups));
    json_each (group, groups)
        run_group(t, remotes, name, group);
}

static void run_suite(struct tally *t, const char *name)
{
    struct remotes remotes = {0};
    const char *path = shared_path("vectors/json-schema-remotes");
    struct dirent *entry;
    char dir[4096];
    DIR *d;

    if (!path)
        skip();
    snprintf(remotes.dir, sizeof remotes.dir, "%s", path);
    path = shared_path(name);
    if (!path)
        skip();
    snprintf(dir, sizeof dir, "%s", path);
    d = opendir(dir);
    assert_non_null(d);
    while ((entry = readdir(d)))
        if (str_ends(str_of(entry->d_name), S(".json")))
            run_file(t, &remotes, dir, entry->d_name);
    closedir(d);
    arena_done(&remotes.arena);
}

TEST(every_required_test_of_the_public_suite_passes)
{
    static const char *const none[] = {NULL};
    struct tally t = {.exceptions = none};

    run_suite(&t, "vectors/json-schema-2020-12");
    print_message("%zu tests of the suite, %zu failed\n", t.n_run, t.n_failed);
    assert_int_equal(t.n_run, 1299);
    assert_int_equal(t.n_failed, 0);
}

TEST(the_optional_tests_of_the_public_suite_pass_except_those_named)
{
    static const char *const exceptions[] = {
        /* a document of an older draft is read as 2020-12, which says more */
        "cross-draft.json: refs to historic drafts are processed as historic drafts",
        /* `format` never makes a value invalid; a metaschema that requires it to is refused */
        "format-assertion.json: schema that uses custom metaschema with format-assertion: false",
        "format-assertion.json: schema that uses custom metaschema with format-assertion: true",
        NULL,
    };
    struct tally t = {.exceptions = exceptions};

    run_suite(&t, "vectors/json-schema-2020-12/optional");
    print_message("%zu optional tests, %zu failed, %zu excepted\n", t.n_run, t.n_failed,
                  t.n_excepted);
    assert_int_equal(t.n_run + t.n_excepted, 162);
    assert_int_equal(t.n_excepted, 5);
    assert_int_equal(t.n_failed, 0);
}

/* --- schemas and values as text --- */

static struct schema *compiled(const char *text)
{
    AUTO(arena) struct arena a = {0};
    struct schema *schema = NULL;
    struct json *document;

    assert_ok(json_parse(&a, str_of(text), 0, &document));
    assert_ok(schema_compile(document, NULL, &schema));
    return schema;
}

/* Compares the whole report, one line a fault: "path: message". Empty: the value is valid. */
static void assert_report_(const char *schema_text, const char *value_text, const char *want,
                           const char *file, int line)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf got = {0};
    AUTO(schema) struct schema *schema = compiled(schema_text);
    struct schema_report report;
    struct json *value;
    bool valid;

    assert_ok(json_parse(&a, str_of(value_text), 0, &value));
    assert_ok(schema_validate(schema, value, &a, &valid, &report));
    assert_int_equal(valid, report.n_errors == 0);
    for (size_t i = 0; i < report.n_errors; i++)
        strbuf_addf(&got, "%s%" STR_FMT ": %" STR_FMT, i ? "\n" : "",
                    STR_ARG(report.errors[i].path), STR_ARG(report.errors[i].message));
    assert_str_(strbuf_str(&got), want, file, line);
}
#define assert_report(schema, value, want)                                                         \
    assert_report_((schema), (value), (want), __FILE__, __LINE__)
#define assert_valid(schema, value) assert_report((schema), (value), "")

/* No answer can be given. */
static void assert_no_answer(const char *schema_text, struct str value_text, const char *why)
{
    AUTO(arena) struct arena a = {0};
    AUTO(schema) struct schema *schema = compiled(schema_text);
    AUTO(err) struct err *e = NULL;
    struct schema_report report;
    struct json *value;
    bool valid;

    assert_ok(json_parse(&a, value_text, 0, &value));
    e = schema_validate(schema, value, &a, &valid, &report);
    assert_non_null(e);
    assert_string_equal(e->text, why);
}

static void assert_refused(const char *schema_text, const char *why)
{
    AUTO(arena) struct arena a = {0};
    struct schema *schema = NULL;
    struct json *document;
    AUTO(err) struct err *e = NULL;

    assert_ok(json_parse(&a, str_of(schema_text), 0, &document));
    e = schema_compile(document, NULL, &schema);
    assert_null(schema);
    assert_non_null(e);
    assert_int_equal(e->kind, ERR_VALIDATION);
    assert_string_equal(e->text, why);
}

/* --- what is said --- */

static const char bash_tool[] =
    "{\"type\":\"object\",\"properties\":{\"command\":{\"type\":\"string\",\"minLength\":1},"
    "\"timeout\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":600},"
    "\"mode\":{\"enum\":[\"fast\",\"slow\"]}},"
    "\"required\":[\"command\"],\"additionalProperties\":false}";

TEST(a_tool_call_is_told_all_that_is_wrong_with_it)
{
    assert_valid(bash_tool, "{\"command\":\"ls\",\"timeout\":60.0,\"mode\":\"fast\"}");
    assert_report(bash_tool, "{\"comand\":\"ls\",\"timeout\":1.5,\"mode\":\"f\"}",
                  ": is missing the required property \"command\"\n"
                  ": has the unknown property \"comand\"\n"
                  "/timeout: must be an integer, got 1.5\n"
                  "/mode: must be one of \"fast\", \"slow\"");
    assert_report(bash_tool, "{\"command\":\"\",\"timeout\":601}",
                  "/command: must have at least 1 character, has 0\n"
                  "/timeout: must be at most 600, got 601");
    assert_report(bash_tool, "\"ls\"", ": must be an object, got a string");
}

TEST(each_keyword_says_what_it_wants)
{
    assert_report("{\"type\":[\"string\",\"null\",\"array\"]}", "1",
                  ": must be null, a string or an array, got a number");
    assert_report("{\"const\":{\"a\":[1,null]}}", "2", ": must be {\"a\":[1,null]}");
    assert_report("{\"enum\":[]}", "2", ": can have no value at all");
    assert_report("{\"exclusiveMinimum\":5}", "5", ": must be greater than 5, got 5");
    assert_report("{\"exclusiveMaximum\":5}", "5e0", ": must be less than 5, got 5e0");
    assert_report("{\"minimum\":5}", "-5", ": must be at least 5, got -5");
    assert_report("{\"multipleOf\":0.1}", "0.25", ": must be a multiple of 0.1, got 0.25");
    assert_report("{\"maxLength\":2}", "\"\xC3\xA4\xC3\xB6\xC3\xBC\"",
                  ": must have at most 2 characters, has 3");
    assert_report("{\"pattern\":\"^\\\\d+$\"}", "\"x\"", ": must match the pattern ^\\d+$");
    assert_report("{\"minItems\":2}", "[1]", ": must have at least 2 items, has 1");
    assert_report("{\"maxItems\":0}", "[1]", ": must have at most 0 items, has 1");
    assert_report("{\"prefixItems\":[true],\"items\":false}", "[1,2]",
                  ": must have at most 1 item, has 2");
    assert_report("{\"uniqueItems\":true}", "[{\"a\":1,\"b\":2},1,{\"b\":2.0,\"a\":1}]",
                  ": must not hold the same item twice: items 0 and 2 are equal");
    assert_report("{\"contains\":{\"type\":\"null\"}}", "[1]",
                  ": must contain at least 1 item of a certain form, has 0");
    assert_report("{\"contains\":{\"type\":\"null\"},\"maxContains\":1}", "[null,null]",
                  ": must contain at most 1 item of a certain form, has 2");
    assert_report("{\"minProperties\":1}", "{}", ": must have at least 1 property, has 0");
    assert_report("{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}",
                  ": has the property name \"ab\", which must have at most 1 character, has 2");
    assert_report("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
                  ": is missing the property \"b\", which \"a\" requires");
    assert_report("{\"not\":{\"type\":\"null\"}}", "null", ": has a form that is not allowed");
    assert_report("false", "1", ": is not allowed");
    assert_report("{\"properties\":{\"a\":false}}", "{\"a\":1}", "/a: is not allowed");
    assert_report("{\"unevaluatedProperties\":false}", "{\"a\":1}",
                  ": has the unknown property \"a\"");
    assert_report("{\"unevaluatedItems\":false}", "[1]", ": has an item too many, at index 0");
}

TEST(paths_are_json_pointers_into_the_value)
{
    assert_report("{\"properties\":{\"a/b\":{\"items\":{\"properties\":{\"~\":{\"type\":\"null\"}"
                  "}}}}}",
                  "{\"a/b\":[{},{\"~\":1}]}", "/a~1b/1/~0: must be null, got a number");
    assert_report("{\"items\":{\"$ref\":\"#/$defs/x\"},\"$defs\":{\"x\":{\"allOf\":[{\"type\":"
                  "\"null\"}]}}}",
                  "[null,null,3]", "/2: must be null, got a number");
}

TEST(of_several_types_one_sentence_names_all)
{
    assert_report("{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "1",
                  ": must be null or a string, got a number");
    assert_report("{\"properties\":{\"a\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\","
                  "\"items\":{\"type\":\"string\"}}]}}}",
                  "{\"a\":true}", "/a: must be a string or an array, got a boolean");
}

TEST(of_several_forms_the_nearest_one_explains_itself)
{
    static const char shapes[] =
        "{\"oneOf\":[{\"type\":\"null\"},"
        "{\"properties\":{\"kind\":{\"const\":\"circle\"},\"r\":{\"type\":\"number\"}},"
        "\"required\":[\"kind\",\"r\"]},"
        "{\"properties\":{\"kind\":{\"const\":\"box\"},\"w\":{\"type\":\"number\"}},"
        "\"required\":[\"kind\",\"w\"]}]}";

    assert_valid(shapes, "{\"kind\":\"box\",\"w\":2}");
    assert_report(shapes, "{\"kind\":\"box\",\"w\":\"2\"}", "/w: must be a number, got a string");
    assert_report(shapes, "{\"kind\":\"box\"}", ": is missing the required property \"w\"");
    assert_report(shapes, "{\"kind\":\"disc\",\"r\":1,\"w\":1}",
                  "/kind: must be \"circle\"; or must be \"box\"");
    assert_report(shapes, "7", ": must have exactly one of 3 forms, has number 2 and number 3");
}

TEST(forms_that_are_equally_near_are_joined)
{
    assert_report("{\"anyOf\":[{\"minimum\":5},{\"multipleOf\":2}]}", "3",
                  ": must be at least 5, got 3; or must be a multiple of 2, got 3");
    assert_report("{\"anyOf\":[{\"properties\":{\"a\":{\"minimum\":5}}},{\"properties\":{\"b\":{"
                  "\"minimum\":5}}}]}",
                  "{\"a\":1,\"b\":2}",
                  ": /a must be at least 5, got 1; or /b must be at least 5, got 2");
}

TEST(a_branch_that_applies_tells_its_faults)
{
    static const char branch[] =
        "{\"if\":{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"]},"
        "\"then\":{\"required\":[\"b\"]},\"else\":{\"required\":[\"c\"]}}";

    assert_report(branch, "{\"a\":1}", ": is missing the required property \"b\"");
    assert_report(branch, "{}", ": is missing the required property \"c\"");
}

TEST(what_was_not_evaluated_is_named_only_when_all_else_is_well)
{
    static const char schema[] = "{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"null\"}}}],"
                                 "\"unevaluatedProperties\":false}";

    assert_report(schema, "{\"a\":1,\"b\":1}", "/a: must be null, got a number");
    assert_report(schema, "{\"a\":null,\"b\":1}", ": has the unknown property \"b\"");
}

TEST(long_values_and_long_lists_are_cut)
{
    AUTO(strbuf) struct strbuf schema = {0}, value = {0}, want = {0};

    strbuf_add_cstr(&schema, "{\"additionalProperties\":false,\"enum\":[");
    for (int i = 0; i < 100; i++)
        strbuf_addf(&schema, "%s%d", i ? "," : "", i);
    strbuf_add_cstr(&schema, "]}");
    strbuf_add_cstr(&value, "{\"");
    for (int i = 0; i < 1000; i++)
        strbuf_add_cstr(&value, "\xC3\xA4");
    strbuf_add_cstr(&value, "\":1}");
    strbuf_add_cstr(&want, ": must be one of 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 "
                           "or 84 others\n: has the unknown property \"");
    for (int i = 0; i < 40; i++)
        strbuf_add_cstr(&want, "\xC3\xA4");
    strbuf_add_cstr(&want, "\"...");
    assert_report(strbuf_cstr(&schema), strbuf_cstr(&value), strbuf_cstr(&want));
}

TEST(a_report_has_at_most_so_many_errors)
{
    AUTO(arena) struct arena a = {0};
    AUTO(schema) struct schema *schema = compiled("{\"items\":{\"type\":\"string\"}}");
    struct json *value = json_new(&a, JSON_ARRAY);
    struct schema_report report;
    bool valid;

    for (int i = 0; i < 100; i++)
        json_push(value, json_new_int(&a, i));
    assert_ok(schema_validate(schema, value, &a, &valid, &report));
    assert_false(valid);
    assert_int_equal(report.n_errors, SCHEMA_MAX_ERRORS);
    assert_str(report.errors[SCHEMA_MAX_ERRORS - 1].path, "/31");
}

TEST(a_valid_tool_call_takes_no_memory)
{
    AUTO(arena) struct arena a = {0}, report_arena = {0};
    AUTO(schema) struct schema *schema = compiled(bash_tool);
    struct schema_report report;
    struct json *value;
    bool valid;

    assert_ok(json_parse(&a, S("{\"command\":\"ls\",\"mode\":\"slow\"}"), 0, &value));
    assert_ok(schema_validate(schema, value, &report_arena, &valid, &report));
    assert_true(valid);
    assert_int_equal(report.n_errors, 0);
    assert_int_equal(report_arena.used_bytes, 0);
    assert_null(report_arena.chunk);
}

TEST(a_schema_lives_until_its_last_reference_goes)
{
    AUTO(arena) struct arena a = {0};
    struct schema *schema = compiled("{\"enum\":[\"a\"]}"), *other = schema_ref(schema);
    struct schema_report report;
    bool valid;

    schema_unref(schema);
    assert_ok(schema_validate(other, json_new_str(&a, S("a")), &a, &valid, &report));
    assert_true(valid);
    schema_unref(other);
    schema_unref(NULL);
}

/* --- schemas as people write them --- */

TEST(older_drafts_are_read_as_they_were_meant)
{
    static const char tuple[] = "{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
                                "\"items\":[{\"$ref\":\"#/definitions/n\"},{\"$ref\":\"#s\"}],"
                                "\"additionalItems\":false,"
                                "\"definitions\":{\"n\":{\"type\":\"number\"},"
                                "\"s\":{\"$id\":\"#s\",\"type\":\"string\"}}}";
    static const char dependencies[] =
        "{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"required\":[\"d\"]}}}";

    assert_valid(tuple, "[1,\"a\"]");
    assert_report(tuple, "[\"a\",1]",
                  "/0: must be a number, got a string\n/1: must be a string, got a number");
    assert_report(tuple, "[1,\"a\",2]", ": must have at most 2 items, has 3");
    assert_report(dependencies, "{\"a\":1,\"c\":1}",
                  ": is missing the property \"b\", which \"a\" requires\n"
                  ": is missing the required property \"d\"");
    assert_report("{\"minimum\":3,\"exclusiveMinimum\":true}", "3",
                  ": must be greater than 3, got 3");
    assert_valid("{\"minimum\":3,\"exclusiveMinimum\":false}", "3");
}

TEST(what_generators_leave_behind_does_no_harm)
{
    assert_valid("{}", "1");
    assert_valid("true", "1");
    assert_valid("{\"type\":\"object\",\"required\":null,\"properties\":null,\"enum\":null}", "{}");
    assert_valid("{\"properties\":{\"a\":{\"required\":true}}}", "{}");
    assert_valid("{\"type\":\"string\",\"nullable\":true,\"x-order\":3,\"format\":\"email\"}",
                 "\"no address\"");
    assert_valid("{\"anyOf\":[],\"allOf\":[]}", "1");
    assert_valid("{\"type\":\"OBJECT\"}", "{}");
    assert_valid("{\"$defs\":{\"comment\":\"not a schema, and not referred to\"}}", "1");
    assert_report("{\"const\":null}", "1", ": must be null");
}

TEST(a_broken_schema_is_refused_with_place_and_reason)
{
    assert_refused("{\"properties\":{\"a\":{\"type\":\"strng\"}}}",
                   "the schema is not valid at #/properties/a: \"type\" must be null, boolean, "
                   "number, integer, string, array or object, or a list of them");
    assert_refused("{\"allOf\":[{},{\"minLength\":-1}]}",
                   "the schema is not valid at #/allOf/1: \"minLength\" must be an integer of at "
                   "least 0");
    assert_refused("{\"items\":\"x\"}",
                   "the schema is not valid at #/items: a schema must be an object, true or false");
    assert_refused("{\"properties\":[]}",
                   "the schema is not valid at #: \"properties\" must be an object");
    assert_refused("{\"required\":[1]}",
                   "the schema is not valid at #: \"required\" must hold strings only");
    assert_refused("{\"dependentRequired\":{\"a\":1}}",
                   "the schema is not valid at #: \"dependentRequired\" must hold lists of names");
    assert_refused("{\"multipleOf\":0}",
                   "the schema is not valid at #: \"multipleOf\" must be greater than 0 and have "
                   "at most 19 digits that count");
    assert_refused("{\"not\":{\"pattern\":\"(a\"}}",
                   "the schema is not valid at #/not: the pattern (a cannot be used: missing "
                   "closing parenthesis");
    assert_refused("7", "the schema is not valid at #: a schema must be an object, true or false");
}

TEST(a_reference_to_nothing_is_refused)
{
    AUTO(arena) struct arena a = {0};
    struct schema *schema;
    struct json *document;
    AUTO(err) struct err *e = NULL;

    assert_refused("{\"$ref\":\"#/$defs/x\"}",
                   "the schema is not valid at #: \"#/$defs/x\" does not refer to a known schema");
    assert_refused(
        "{\"$id\":\"http://a/b\",\"$ref\":\"#x\"}",
        "the schema is not valid at http://a/b#: \"#x\" does not refer to a known schema");
    assert_ok(json_parse(&a, S("{\"$ref\":\"http://a/b\"}"), 0, &document));
    e = schema_compile(document, NULL, &schema);
    assert_string_equal(
        err_find_hint(e),
        "keel does not fetch schemas: put it under \"$defs\" and refer to it there");
}

/* Answers one URI; every other question is a failure of the test. */
static const struct json *find_name(void *self, struct str uri)
{
    assert_str(uri, "http://example.com/schemas/name");
    return self;
}

TEST(a_resolver_is_asked_for_absolute_uris_without_fragment)
{
    AUTO(arena) struct arena a = {0};
    AUTO(schema) struct schema *schema = NULL;
    struct schema_resolver resolver = {.resolve = find_name};
    struct schema_report report;
    struct json *name, *document;
    bool valid;

    assert_ok(json_parse(&a, S("{\"$defs\":{\"x\":{\"type\":\"string\"}}}"), 0, &name));
    assert_ok(json_parse(&a,
                         S("{\"$id\":\"http://example.com/tools/bash?v=1\","
                           "\"$ref\":\"../schemas/./name#/$defs/x\"}"),
                         0, &document));
    resolver.self = name;
    assert_ok(schema_compile(document, &resolver, &schema));
    assert_ok(schema_validate(schema, json_new_int(&a, 1), &a, &valid, &report));
    assert_false(valid);
}

TEST(a_metaschema_that_asks_for_the_unknown_is_refused)
{
    AUTO(arena) struct arena a = {0};
    struct schema_resolver resolver = {.resolve = find_name};
    struct schema *schema = NULL;
    struct json *meta, *document;
    AUTO(err) struct err *e = NULL;

    assert_ok(json_parse(&a, S("{\"$vocabulary\":{\"http://example.com/v\":true}}"), 0, &meta));
    assert_ok(json_parse(&a, S("{\"$schema\":\"http://example.com/schemas/name\"}"), 0, &document));
    resolver.self = meta;
    e = schema_compile(document, &resolver, &schema);
    assert_string_equal(e->text, "the schema is not valid at #: its metaschema requires the "
                                 "vocabulary http://example.com/v, which is not known");
}

TEST(the_standards_own_schema_judges_schemas)
{
    static const char meta[] = "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}";

    assert_valid(meta, bash_tool);
    assert_valid(meta, "true");
    assert_report(meta, "{\"properties\":{\"a\":{\"minLength\":-1}}}",
                  "/properties/a/minLength: must be at least 0, got -1");
}

/* --- references to URIs --- */

/* The examples of RFC 3986, section 5.4. */
TEST(uri_references_resolve_as_the_rfc_shows)
{
    static const struct {
        const char *reference, *want;
    } examples[] = {
        {"g:h", "g:h"},
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {";x", "http://a/b/c/;x"},
        {"g;x", "http://a/b/c/g;x"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"../../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {".g", "http://a/b/c/.g"},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"g?y/../x", "http://a/b/c/g?y/../x"},
    };
    AUTO(arena) struct arena a = {0};

    for (size_t i = 0; i < ARRAY_LEN(examples); i++)
        assert_str(schema_uri_resolve(&a, S("http://a/b/c/d;p?q"), str_of(examples[i].reference)),
                   examples[i].want);
}

/* --- numbers --- */

TEST(numbers_are_exact_whatever_their_size)
{
    assert_valid("{\"type\":\"integer\"}", "1e400");
    assert_valid("{\"type\":\"integer\"}", "-12.00e1");
    assert_report("{\"type\":\"integer\"}", "1.5e-3", ": must be an integer, got 1.5e-3");
    assert_valid("{\"multipleOf\":0.01}", "0.07");
    assert_valid("{\"multipleOf\":0.01}", "123456789012345678901234567890.12");
    assert_report("{\"multipleOf\":0.01}", "1.001", ": must be a multiple of 0.01, got 1.001");
    assert_valid("{\"multipleOf\":7}", "-49e0");
    assert_valid("{\"multipleOf\":3e300}", "9e300");
    assert_report("{\"multipleOf\":3e300}", "1e301", ": must be a multiple of 3e300, got 1e301");
    assert_valid("{\"multipleOf\":9999999999999999999}", "99999999999999999990");
    assert_report("{\"multipleOf\":1e-3}", "1e-999999999999999999999",
                  ": must be a multiple of 1e-3, got 1e-999999999999999999999");
    assert_valid("{\"const\":100}", "1e2");
    assert_valid("{\"enum\":[-0.0]}", "0");
    assert_report("{\"maximum\":9007199254740993}", "9007199254740994",
                  ": must be at most 9007199254740993, got 9007199254740994");
    assert_valid("{\"maxLength\":1e30}", "\"abc\"");
}

/* --- patterns --- */

static void assert_matches(const char *pattern, const char *value, bool want)
{
    AUTO(arena) struct arena a = {0};
    AUTO(schema) struct schema *schema = NULL;
    struct json *document = json_new(&a, JSON_OBJECT);
    struct schema_report report;
    bool valid;

    json_set_str(&a, document, "pattern", str_of(pattern));
    assert_ok(schema_compile(document, NULL, &schema));
    assert_ok(schema_validate(schema, json_new_str(&a, str_of(value)), &a, &valid, &report));
    if (valid != want)
        fail_msg("%s should %smatch %s", pattern, want ? "" : "not ", value);
}

TEST(patterns_mean_what_they_mean_in_ecma_262)
{
    assert_matches("^a.c$", "a\rc", false);
    assert_matches("^a.c$",
                   "a\xE2\x80\xA8"
                   "c",
                   false);
    assert_matches("^a.c$",
                   "a\xF0\x9F\x90\xB2"
                   "c",
                   true);
    assert_matches("^[^]$", "\n", true);
    assert_matches("^[]$", "", false);
    assert_matches("^[\\w-.]+$", "a-b.c", true);
    assert_matches("^[a-\\d]+$", "a-5", true);
    assert_matches("^[a-\\d]+$", "b", false);
    assert_matches("^[[:alpha:]]$", ":]", true);
    assert_matches("^[[:alpha:]]$", "b", false);
    assert_matches("^[\\b\\-\\]]$", "]", true);
    assert_matches("^\\u0041\\x42\\u{43}\\cJ\\/$", "ABC\n/", true);
    assert_matches("^\\ud83d\\udc32$", "\xF0\x9F\x90\xB2", true);
    assert_matches("^[^\\ud800-\\udfff]$", "x", true);
    assert_matches("^\\p{Lu}\\p{Lowercase_Letter}\\P{gc=Number}\\p{Script=Greek}$", "Aax\xCE\xB1",
                   true);
    assert_matches("^(a)(?:b)(?<n>c)\\1\\k<n>$", "abcac", true);
    assert_matches("^(?:(x)|y)\\1z$", "yz", true);
    assert_matches("^a{2,3}b{,2}{$", "aab{,2}{", true);
    assert_matches("(?<!a)b(?=c)(?!d)", "xbc", true);
    assert_matches("^[\\S]+$", "a b", false);
    assert_matches("^\\S\\s\\S$",
                   "a\xC2\xA0"
                   "b",
                   true);
    assert_matches(".*foo|^bar", "xfoo", true);
    assert_matches(".*foo|^bar", "xbar", false);
    assert_matches("(is)", "is", true);
    assert_matches("\\v", "\n", false);
}

TEST(what_python_writes_is_let_through)
{
    assert_matches("(?i)^abc$", "ABC", true);
    assert_matches("\\A(?P<x>a.)\\Z", "ab", true);
    assert_matches("\\Aa\\Z", "a\n", false);
    assert_matches("(?s)^a.b$", "a\nb", true);
}

TEST(what_is_no_pattern_is_refused)
{
    assert_refused("{\"pattern\":\"\\\\q\"}",
                   "the schema is not valid at #: the pattern \\q cannot "
                   "be used: \\q, at offset 0, means nothing in "
                   "ECMA-262");
    assert_refused("{\"pattern\":\"a\\\\\"}",
                   "the schema is not valid at #: the pattern a\\ cannot "
                   "be used: it ends with a backslash");
    assert_refused("{\"pattern\":\"[a\"}", "the schema is not valid at #: the pattern [a cannot be "
                                           "used: a [ is not closed");
    assert_refused("{\"pattern\":\"(*UCP)a\"}",
                   "the schema is not valid at #: the pattern (*UCP)a cannot be used: it has a "
                   "group (*, which ECMA-262 does not have");
    assert_refused("{\"pattern\":\"(?R)\"}",
                   "the schema is not valid at #: the pattern (?R) cannot be used: it has a group "
                   "(?, which ECMA-262 does not have");
    assert_refused(
        "{\"patternProperties\":{\"\\\\p{Nonsense}\":{}}}",
        "the schema is not valid at #: the pattern \\p{Nonsense} cannot be used: unknown "
        "property after \\P or \\p");
}

/* --- hostile --- */

#define TOO_LONG "the value takes too long to validate"

TEST(a_pattern_that_runs_away_ends_with_an_error)
{
    AUTO(strbuf) struct strbuf value = {0};

    strbuf_add_char(&value, '"');
    for (int i = 0; i < 40; i++)
        strbuf_add_char(&value, 'a');
    strbuf_add_cstr(&value, "b\"");
    assert_no_answer("{\"pattern\":\"^(a+)+$\"}", strbuf_str(&value), TOO_LONG);
    assert_no_answer("{\"pattern\":\"^(a*)*(a*)*(a*)*[cd]\\\\1$\"}", strbuf_str(&value), TOO_LONG);
}

/* PCRE2's own limit would start anew at each of these positions. */
TEST(a_pattern_may_not_take_long_by_trying_everywhere)
{
    AUTO(strbuf) struct strbuf value = {0};

    strbuf_add_char(&value, '"');
    for (int i = 0; i < 200000; i++)
        strbuf_add_char(&value, 'a');
    strbuf_add_cstr(&value, "bc\"");
    assert_no_answer("{\"pattern\":\"a+a+[^b]c\"}", strbuf_str(&value), TOO_LONG);
    assert_no_answer("{\"pattern\":\"a{60000}[^a]d?c\"}", strbuf_str(&value), TOO_LONG);
}

TEST(a_schema_that_doubles_at_every_level_ends_with_an_error)
{
    AUTO(strbuf) struct strbuf schema = {0};

    strbuf_add_cstr(&schema, "{\"$ref\":\"#/$defs/d60\",\"$defs\":{\"d0\":{\"type\":\"null\"}");
    for (int i = 1; i <= 60; i++)
        strbuf_addf(&schema,
                    ",\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]}",
                    i, i - 1, i - 1);
    strbuf_add_cstr(&schema, "}}");
    assert_no_answer(strbuf_cstr(&schema), S("null"), TOO_LONG);
}

TEST(a_schema_that_refers_to_itself_without_end_is_found_out)
{
    static const char why[] = "the schema refers to itself without end";

    assert_no_answer("{\"$ref\":\"#\"}", S("1"), why);
    assert_no_answer("{\"$ref\":\"#/$defs/a\",\"$defs\":{\"a\":{\"$ref\":\"#/$defs/b\"},"
                     "\"b\":{\"not\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"}]}}}}",
                     S("1"), why);
    assert_no_answer("{\"$dynamicAnchor\":\"x\",\"$dynamicRef\":\"#x\"}", S("1"), why);
    assert_valid("{\"properties\":{\"a\":{\"$ref\":\"#\"}}}", "{\"a\":{\"a\":{\"a\":{}}}}");
}

TEST(depth_is_capped)
{
    AUTO(strbuf) struct strbuf value = {0};

    for (int i = 0; i < 200; i++)
        strbuf_add_char(&value, '[');
    for (int i = 0; i < 200; i++)
        strbuf_add_char(&value, ']');
    assert_valid("{\"type\":\"array\"}", strbuf_cstr(&value));
    assert_no_answer("{\"items\":{\"$ref\":\"#/$defs/x\"},\"$defs\":{\"x\":{\"$ref\":\"#\"}}}",
                     strbuf_str(&value), "the value and its schema are nested too deeply");
}

TEST(a_deep_value_can_be_explained)
{
    AUTO(strbuf) struct strbuf value = {0}, want = {0};

    for (int i = 0; i < 60; i++) {
        strbuf_add_cstr(&value, "{\"a\":");
        strbuf_add_cstr(&want, "/a");
    }
    strbuf_add_char(&value, '1');
    for (int i = 0; i < 60; i++)
        strbuf_add_char(&value, '}');
    strbuf_add_cstr(&want, ": must be an object, got a number");
    assert_report("{\"type\":\"object\",\"anyOf\":[{\"type\":\"string\"},"
                  "{\"properties\":{\"a\":{\"$ref\":\"#\"}}}]}",
                  strbuf_cstr(&value), strbuf_cstr(&want));
}

/* Each of these would take minutes if it compared everything with everything. */
TEST(large_arrays_enums_and_objects_are_no_trouble)
{
    AUTO(strbuf) struct strbuf value = {0}, schema = {0};

    strbuf_add_char(&value, '[');
    for (int i = 0; i < 100000; i++)
        strbuf_addf(&value, "%s{\"id\":%d}", i ? "," : "", i);
    strbuf_add_char(&value, ']');
    assert_valid("{\"uniqueItems\":true}", strbuf_cstr(&value));

    strbuf_addf(&schema, "{\"items\":{\"enum\":%s}}", strbuf_cstr(&value));
    assert_valid(strbuf_cstr(&schema), strbuf_cstr(&value));

    strbuf_clear(&schema);
    strbuf_clear(&value);
    strbuf_add_cstr(&schema, "{\"required\":[\"zz\"");
    strbuf_add_char(&value, '{');
    for (int i = 0; i < 50000; i++) {
        strbuf_addf(&schema, ",\"k%d\"", i);
        strbuf_addf(&value, "%s\"k%d\":1", i ? "," : "", 49999 - i);
    }
    strbuf_add_cstr(&schema, "]}");
    strbuf_add_char(&value, '}');
    assert_report(strbuf_cstr(&schema), strbuf_cstr(&value),
                  ": is missing the required property \"zz\"");
}

TEST(a_schema_with_too_many_parts_is_refused)
{
    AUTO(strbuf) struct strbuf schema = {0};

    strbuf_add_cstr(&schema, "{\"allOf\":[{}");
    for (int i = 0; i < 100000; i++)
        strbuf_add_cstr(&schema, ",{}");
    strbuf_add_cstr(&schema, "]}");
    assert_refused(strbuf_cstr(&schema), "the schema has more than 100000 subschemas");
}

TEST(marks_of_what_was_evaluated_work_beyond_one_word)
{
    AUTO(strbuf) struct strbuf schema = {0}, value = {0};

    strbuf_add_cstr(&schema, "{\"unevaluatedProperties\":false,\"anyOf\":[true");
    strbuf_add_char(&value, '{');
    for (int i = 0; i < 200; i++) {
        strbuf_addf(&schema, ",{\"properties\":{\"k%d\":true}}", i);
        strbuf_addf(&value, "%s\"k%d\":1", i ? "," : "", i);
    }
    strbuf_add_cstr(&schema, "]}");
    strbuf_add_cstr(&value, ",\"x\":1}");
    assert_report(strbuf_cstr(&schema), strbuf_cstr(&value), ": has the unknown property \"x\"");
}

RUN_TESTS(
    UNIT(every_required_test_of_the_public_suite_passes),
    UNIT(the_optional_tests_of_the_public_suite_pass_except_those_named),
    UNIT(a_tool_call_is_told_all_that_is_wrong_with_it), UNIT(each_keyword_says_what_it_wants),
    UNIT(paths_are_json_pointers_into_the_value), UNIT(of_several_types_one_sentence_names_all),
    UNIT(of_several_forms_the_nearest_one_explains_itself),
    UNIT(forms_that_are_equally_near_are_joined), UNIT(a_branch_that_applies_tells_its_faults),
    UNIT(what_was_not_evaluated_is_named_only_when_all_else_is_well),
    UNIT(long_values_and_long_lists_are_cut), UNIT(a_report_has_at_most_so_many_errors),
    UNIT(a_valid_tool_call_takes_no_memory), UNIT(a_schema_lives_until_its_last_reference_goes),
    UNIT(older_drafts_are_read_as_they_were_meant), UNIT(what_generators_leave_behind_does_no_harm),
    UNIT(a_broken_schema_is_refused_with_place_and_reason), UNIT(a_reference_to_nothing_is_refused),
    UNIT(a_resolver_is_asked_for_absolute_uris_without_fragment),
    UNIT(a_metaschema_that_asks_for_the_unknown_is_refused),
    UNIT(the_standards_own_schema_judges_schemas), UNIT(uri_references_resolve_as_the_rfc_shows),
    UNIT(numbers_are_exact_whatever_their_size), UNIT(patterns_mean_what_they_mean_in_ecma_262),
    UNIT(what_python_writes_is_let_through), UNIT(what_is_no_pattern_is_refused),
    UNIT(a_pattern_that_runs_away_ends_with_an_error),
    UNIT(a_pattern_may_not_take_long_by_trying_everywhere),
    UNIT(a_schema_that_doubles_at_every_level_ends_with_an_error),
    UNIT(a_schema_that_refers_to_itself_without_end_is_found_out), UNIT(depth_is_capped),
    UNIT(a_deep_value_can_be_explained), UNIT(large_arrays_enums_and_objects_are_no_trouble),
    UNIT(a_schema_with_too_many_parts_is_refused),
    UNIT(marks_of_what_was_evaluated_work_beyond_one_word))
