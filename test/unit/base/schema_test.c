/* schema_test.c */
#include "test.h"

#include "base/schema.h"

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

RUN_TESTS(UNIT(every_required_test_of_the_public_suite_passes),
          UNIT(the_optional_tests_of_the_public_suite_pass_except_those_named))
