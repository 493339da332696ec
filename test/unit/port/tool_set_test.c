/* tool_set_test.c - the registry, its snapshots, grants and the checking of arguments. */
#include "test.h"

#include "port/tool_set.h"

static struct err *run_nothing(const struct tool *t, struct tool_context *c,
                               const struct json *args, struct tool_result *result)
{
    return NULL;
}

#define TEXT_SCHEMA                                                                                \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"file_path\",\"text\"],"   \
    "\"properties\":{\"file_path\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"},"          \
    "\"n\":{\"type\":\"integer\",\"minimum\":1}}}"

/* --- tools that tell when they are freed --- */

struct counted {
    struct tool tool;
    int *n_freed;
};

static void free_counted(struct tool *t)
{
    struct counted *c = (struct counted *)t;

    ++*c->n_freed;
    mem_free(c);
}

static struct tool *counted_new(const char *name, const char *schema, int *n_freed)
{
    struct counted *c = mem_alloc(sizeof *c);

    c->tool =
        (struct tool){.name = name, .schema = schema, .run = run_nothing, .free = free_counted};
    c->n_freed = n_freed;
    return &c->tool;
}

static void add(struct tool_registry *r, const char *name, int *n_freed)
{
    assert_ok(tool_registry_add(r, counted_new(name, TEXT_SCHEMA, n_freed), NULL));
}

static void assert_names(const struct tool_set *s, const char *want)
{
    AUTO(strbuf) struct strbuf got = {0};

    tool_set_names(s, &got);
    assert_str(strbuf_str(&got), want);
}

/* --- the registry --- */

TEST(a_snapshot_is_the_same_object_until_something_changes)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *first = NULL, *same = NULL, *later = NULL;
    int n_freed = 0;

    add(r, "Read", &n_freed);
    first = tool_registry_snapshot(r);
    same = tool_registry_snapshot(r);
    assert_ptr_equal(first, same);
    add(r, "Write", &n_freed);
    later = tool_registry_snapshot(r);
    assert_ptr_not_equal(first, later);
    assert_true(later->version > first->version);
    assert_names(first, "Read");
    assert_names(later, "Read, Write");
}

TEST(every_change_raises_the_version)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    uint64_t version = 0;
    int n_freed = 0;

    for (int step = 0; step < 4; step++) {
        AUTO(tool_set) struct tool_set *s = NULL;

        if (step == 0 || step == 1)
            add(r, "Read", &n_freed);
        else if (step == 2)
            tool_registry_remove(r, S("Read"));
        else
            tool_registry_remove(r, S("absent"));
        s = tool_registry_snapshot(r);
        if (step < 3)
            assert_true(s->version > version);
        else
            assert_int_equal(s->version, version);
        version = s->version;
    }
    assert_int_equal(n_freed, 2);
}

TEST(a_removed_tool_is_freed_after_its_last_snapshot)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    struct tool_set *a, *b;
    int n_freed = 0, n_other = 0;

    add(r, "Read", &n_freed);
    a = tool_registry_snapshot(r);
    add(r, "Write", &n_other);
    b = tool_registry_snapshot(r);
    tool_registry_remove(r, S("Read"));
    assert_names(a, "Read");
    assert_int_equal(n_freed, 0);
    tool_set_unref(a);
    assert_int_equal(n_freed, 0);
    assert_string_equal(tool_set_find(b, S("Read"))->tool->name, "Read");
    tool_set_unref(b);
    assert_int_equal(n_freed, 1);
    assert_int_equal(n_other, 0);
}

TEST(a_snapshot_outlives_its_registry)
{
    struct tool_registry *r = tool_registry_new();
    struct tool_set *s;
    int n_freed = 0;

    add(r, "Read", &n_freed);
    s = tool_registry_snapshot(r);
    tool_registry_free(r);
    assert_int_equal(n_freed, 0);
    assert_names(s, "Read");
    tool_set_unref(s);
    assert_int_equal(n_freed, 1);
}

TEST(a_tool_that_is_replaced_keeps_its_place)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *s = NULL;
    int n_freed = 0, n_other = 0;

    add(r, "Read", &n_freed);
    add(r, "Write", &n_other);
    add(r, "Read", &n_other);
    assert_int_equal(n_freed, 1);
    assert_int_equal(n_other, 0);
    s = tool_registry_snapshot(r);
    assert_names(s, "Read, Write");
}

TEST(many_tools_keep_their_order)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *s = NULL;
    char names[40][8];
    int n_freed = 0;

    for (int i = 0; i < 40; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        add(r, names[i], &n_freed);
    }
    tool_registry_remove(r, S("t0"));
    tool_registry_remove(r, S("t20"));
    tool_registry_remove(r, S("t39"));
    s = tool_registry_snapshot(r);
    assert_int_equal(s->n, 37);
    assert_string_equal(s->entries[0].tool->name, "t1");
    assert_string_equal(s->entries[19].tool->name, "t21");
    assert_string_equal(s->entries[36].tool->name, "t38");
}

TEST(names_are_found_exactly)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *s = NULL;
    int n_freed = 0;

    add(r, "Read", &n_freed);
    s = tool_registry_snapshot(r);
    assert_non_null(tool_set_find(s, S("Read")));
    assert_null(tool_set_find(s, S("read")));
    assert_null(tool_set_find(s, S("Rea")));
    assert_null(tool_set_find(s, S("")));
}

TEST(a_tool_that_cannot_be_called_is_refused_and_freed)
{
    static const char *const names[] = {
        "",    "a b",      "a.b",
        "a/b", "\xC3\xA4", "a234567890123456789012345678901234567890123456789012345678901234x",
    };
    static const char *const schemas[] = {"", "{", "[]", "{}", "{\"type\":\"string\"}"};
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *s = NULL;
    int n_freed = 0;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_err(tool_registry_add(r, counted_new(names[i], TEXT_SCHEMA, &n_freed), NULL),
                   ERR_VALIDATION);
    for (size_t i = 0; i < ARRAY_LEN(schemas); i++)
        assert_err(tool_registry_add(r, counted_new("Read", schemas[i], &n_freed), NULL),
                   ERR_VALIDATION);
    assert_int_equal(n_freed, ARRAY_LEN(names) + ARRAY_LEN(schemas));
    s = tool_registry_snapshot(r);
    assert_int_equal(s->n, 0);
    assert_int_equal(s->version, 0);
}

TEST(a_replacement_that_is_refused_leaves_the_old_tool)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *s = NULL;
    int n_freed = 0, n_refused = 0;

    add(r, "Read", &n_freed);
    assert_err(tool_registry_add(r, counted_new("Read", "[]", &n_refused), NULL), ERR_VALIDATION);
    assert_int_equal(n_refused, 1);
    assert_int_equal(n_freed, 0);
    s = tool_registry_snapshot(r);
    assert_names(s, "Read");
}

/* --- arguments --- */

static struct tool writer = {
    .name = "Writer",
    .description = "Writes.",
    .schema = TEXT_SCHEMA,
    .aliases = "filePath=file_path path=file_path content=text",
    .run = run_nothing,
};

static struct tool reader = {
    .name = "Reader",
    .description = "Reads.",
    .schema = TEXT_SCHEMA,
    .aliases = "prompt=",
    .run = run_nothing,
};

/* The arguments as the tool gets them, or what the model is told. */
static char *arguments(struct tool *t, const char *pinned_text, const char *given_text)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *s = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json *pinned = NULL, *given, *args = NULL;
    struct err *e;

    if (pinned_text)
        assert_ok(json_parse(&a, str_of(pinned_text), 0, &pinned));
    assert_ok(json_parse(&a, str_of(given_text), 0, &given));
    assert_ok(tool_registry_add(r, t, pinned));
    s = tool_registry_snapshot(r);
    e = tool_entry_arguments(&s->entries[0], given, &a, &args);
    if (e) {
        char *message = err_message(e);

        assert_int_equal(e->kind, ERR_VALIDATION);
        assert_null(args);
        err_free(e);
        return message;
    }
    json_write(&out, args);
    return strbuf_take(&out);
}

static void assert_arguments(const char *pinned, const char *given, const char *want)
{
    AUTO_FREE char *got = arguments(&writer, pinned, given);

    assert_string_equal(got, want);
}

TEST(arguments_that_fit_are_passed_on)
{
    assert_arguments(NULL, "{\"file_path\":\"a\",\"text\":\"b\",\"n\":3}",
                     "{\"file_path\":\"a\",\"text\":\"b\",\"n\":3}");
}

TEST(other_spellings_become_the_real_names)
{
    assert_arguments(NULL, "{\"filePath\":\"a\",\"content\":\"b\"}",
                     "{\"file_path\":\"a\",\"text\":\"b\"}");
    assert_arguments(NULL, "{\"path\":\"a\",\"text\":\"b\"}",
                     "{\"file_path\":\"a\",\"text\":\"b\"}");
}

TEST(a_name_in_another_case_or_without_underscores_is_the_real_one)
{
    assert_arguments(NULL, "{\"filepath\":\"a\",\"TEXT\":\"b\"}",
                     "{\"file_path\":\"a\",\"text\":\"b\"}");
    assert_arguments(NULL, "{\"file_path\":\"a\",\"FilePath\":\"x\",\"text\":\"b\"}",
                     "the arguments of Writer are wrong: has the unknown property \"FilePath\" "
                     "(Writer takes file_path, text, n)");
    assert_arguments(NULL, "{\"file_path\":\"a\",\"text\":\"b\",\"N\":3}",
                     "the arguments of Writer are wrong: has the unknown property \"N\" "
                     "(Writer takes file_path, text, n)");
}

TEST(an_argument_that_means_nothing_is_dropped)
{
    AUTO_FREE char *text =
        arguments(&reader, NULL, "{\"file_path\":\"a\",\"prompt\":\"x\",\"text\":\"b\"}");

    assert_string_equal(text, "{\"file_path\":\"a\",\"text\":\"b\"}");
}

TEST(of_two_spellings_of_one_name_the_second_is_told_as_unknown)
{
    assert_arguments(NULL, "{\"filePath\":\"x\",\"file_path\":\"a\",\"text\":\"b\"}",
                     "the arguments of Writer are wrong: has the unknown property \"filePath\" "
                     "(Writer takes file_path, text, n)");
    assert_arguments(NULL, "{\"file_path\":\"a\",\"text\":\"b\",\"filePath\":\"a\"}",
                     "the arguments of Writer are wrong: has the unknown property \"filePath\" "
                     "(Writer takes file_path, text, n)");
    assert_arguments(NULL, "{\"filePath\":\"a\",\"path\":\"x\",\"text\":\"b\"}",
                     "the arguments of Writer are wrong: has the unknown property \"path\" "
                     "(Writer takes file_path, text, n)");
}

TEST(every_place_that_is_wrong_is_named)
{
    assert_arguments(NULL, "{\"file_path\":7,\"n\":0,\"x\":1}",
                     "the arguments of Writer are wrong: "
                     "is missing the required property \"text\"; "
                     "/file_path: must be a string, got a number; /n: must be at least 1, got 0; "
                     "has the unknown property \"x\" (Writer takes file_path, text, n)");
}

/* A tool with arguments of all types, and a list of objects. */
static struct tool lister = {
    .name = "Lister",
    .description = "lists",
    .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
              "\"n\":{\"type\":\"integer\",\"minimum\":1},"
              "\"size\":{\"type\":\"number\"},"
              "\"all\":{\"type\":\"boolean\"},"
              "\"text\":{\"type\":\"string\"},"
              "\"any\":{\"type\":[\"string\",\"integer\"]},"
              "\"map\":{\"type\":\"object\"},"
              "\"items\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
              "\"additionalProperties\":false,\"required\":[\"active\"],"
              "\"properties\":{\"active\":{\"type\":\"boolean\"}}}}},"
              "\"required\":[\"n\"]}",
    .aliases = "isActive=active count=n priority=",
    .run = run_nothing,
};

static void assert_listed(const char *given, const char *want)
{
    AUTO_FREE char *got = arguments(&lister, NULL, given);

    assert_string_equal(got, want);
}

TEST(a_string_that_is_the_value_which_the_schema_wants_is_that_value)
{
    assert_listed("{\"n\":\"5\"}", "{\"n\":5}");
    assert_listed("{\"n\":1,\"size\":\"-2.5\",\"all\":\"true\"}",
                  "{\"n\":1,\"size\":-2.5,\"all\":true}");
    assert_listed("{\"n\":1,\"all\":\"False\",\"map\":\"{\\\"a\\\":1}\"}",
                  "{\"n\":1,\"all\":false,\"map\":{\"a\":1}}");
    assert_listed("{\"n\":1,\"items\":\"[{\\\"active\\\":\\\"true\\\"}]\"}",
                  "{\"n\":1,\"items\":[{\"active\":true}]}");
}

TEST(a_string_that_is_no_such_value_is_refused_as_it_is)
{
    assert_listed("{\"n\":\"5 lines\"}",
                  "the arguments of Lister are wrong: /n: must be an integer, "
                  "got a string");
    assert_listed("{\"n\":\"2.5\"}",
                  "the arguments of Lister are wrong: /n: must be an integer, got a string");
    assert_listed("{\"n\":\"0\"}",
                  "the arguments of Lister are wrong: /n: must be at least 1, got 0");
    assert_listed("{\"n\":1,\"all\":\"yes\"}",
                  "the arguments of Lister are wrong: /all: must be a boolean, got a string");
    assert_listed("{\"n\":1,\"all\":1}",
                  "the arguments of Lister are wrong: /all: must be a boolean, got a number");
    assert_listed("{\"n\":1,\"map\":\"[]\"}",
                  "the arguments of Lister are wrong: /map: must be an object, got a string");
}

TEST(a_string_stays_one_where_the_schema_takes_strings)
{
    assert_listed("{\"n\":1,\"text\":\"5\",\"any\":\"7\"}",
                  "{\"n\":1,\"text\":\"5\",\"any\":\"7\"}");
    assert_listed("{\"n\":1,\"text\":\"[1]\"}", "{\"n\":1,\"text\":\"[1]\"}");
}

TEST(null_for_what_may_be_missing_is_nothing)
{
    assert_listed("{\"n\":1,\"text\":null,\"all\":null}", "{\"n\":1}");
    assert_listed("{\"n\":null}",
                  "the arguments of Lister are wrong: /n: must be an integer, got null");
}

TEST(other_spellings_are_known_inside_of_lists)
{
    assert_listed("{\"count\":1,\"items\":[{\"isActive\":true}]}",
                  "{\"n\":1,\"items\":[{\"active\":true}]}");
    assert_listed("{\"n\":1,\"items\":[{\"active\":true,\"isActive\":false}]}",
                  "the arguments of Lister are wrong: /items/0: has the unknown property "
                  "\"isActive\"");
}

TEST(a_member_that_means_nothing_is_dropped_inside_of_lists)
{
    assert_listed("{\"n\":1,\"items\":[{\"active\":true,\"priority\":\"high\"}]}",
                  "{\"n\":1,\"items\":[{\"active\":true}]}");
}

static char *object_of(struct tool *t, const char *given_text)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *s = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json *given, *object;

    assert_ok(json_parse(&a, str_of(given_text), 0, &given));
    assert_ok(tool_registry_add(r, t, NULL));
    s = tool_registry_snapshot(r);
    object = tool_entry_object(&s->entries[0], given, &a);
    if (object)
        json_write(&out, object);
    return strbuf_take(&out);
}

TEST(a_value_without_names_is_the_object_that_it_certainly_means)
{
    static struct tool planner = {
        .name = "Planner",
        .description = "plans",
        .schema = "{\"type\":\"object\",\"properties\":{\"steps\":{\"type\":\"array\"},"
                  "\"title\":{\"type\":\"string\"}},\"required\":[\"steps\"]}",
        .run = run_nothing,
    };
    static const struct {
        struct tool *tool;
        const char *given, *want;
    } cases[] = {
        {&planner, "[1]", "{\"steps\":[1]}"},
        {&planner, "{\"title\":1}", "{\"title\":1}"},
        {&planner, "\"{\\\"steps\\\":[]}\"", "{\"steps\":[]}"},
        {&planner, "\"steps\"", ""},
        {&planner, "7", ""},
        {&writer, "[1]", ""},
        {&lister, "[1]", ""},
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE char *got = object_of(cases[i].tool, cases[i].given);

        assert_string_equal(got, cases[i].want);
    }
}

TEST(arguments_that_are_no_object_are_refused)
{
    static const char *const values[] = {"[]", "[1]", "\"a\"", "null", "7"};

    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        assert_arguments(NULL, values[i], "the arguments of Writer must be a JSON object");
}

TEST(a_tool_without_other_spellings_takes_names_as_they_are)
{
    struct tool plain = writer;
    AUTO_FREE char *got = NULL;

    plain.aliases = NULL;
    got = arguments(&plain, NULL, "{\"path\":\"a\",\"text\":\"b\"}");
    assert_non_null(strstr(got, "unknown property \"path\""));
}

TEST(a_schema_that_cannot_be_used_is_told_with_its_tool)
{
    struct tool broken = writer;
    AUTO_FREE char *got = NULL;

    broken.schema = "{\"type\":\"object\",\"properties\":7}";
    got = arguments(&broken, NULL, "{}");
    assert_non_null(strstr(got, "the schema of tool Writer cannot be used"));
}

/* --- pinned arguments --- */

TEST(pinned_values_win_over_the_models)
{
    assert_arguments("{\"file_path\":\"/fixed\"}", "{\"text\":\"b\"}",
                     "{\"text\":\"b\",\"file_path\":\"/fixed\"}");
    assert_arguments("{\"file_path\":\"/fixed\"}", "{\"file_path\":\"/other\",\"text\":\"b\"}",
                     "{\"file_path\":\"/fixed\",\"text\":\"b\"}");
    assert_arguments("{\"file_path\":\"/fixed\"}", "{\"filePath\":\"/other\",\"text\":\"b\"}",
                     "{\"file_path\":\"/fixed\",\"text\":\"b\"}");
}

TEST(pinned_values_must_fit_the_schema_too)
{
    assert_arguments("{\"n\":\"many\"}", "{\"file_path\":\"a\",\"text\":\"b\"}",
                     "the arguments of Writer are wrong: /n: must be an integer, got a string");
}

static void assert_schema(const char *pinned_text, const char *want)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *s = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf got = {0};
    struct json *pinned;

    assert_ok(json_parse(&a, str_of(pinned_text), 0, &pinned));
    assert_ok(tool_registry_add(r, &writer, pinned));
    s = tool_registry_snapshot(r);
    assert_str(s->entries[0].def.name, "Writer");
    assert_str(s->entries[0].def.description, "Writes.");
    json_write(&got, s->entries[0].def.input_schema);
    assert_str(strbuf_str(&got), want);
}

TEST(pinned_arguments_are_hidden_from_the_model)
{
    assert_schema("{\"file_path\":\"/fixed\"}",
                  "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"text\"],"
                  "\"properties\":{\"text\":{\"type\":\"string\"},"
                  "\"n\":{\"type\":\"integer\",\"minimum\":1}}}");
    assert_schema("{\"file_path\":\"/fixed\",\"text\":\"t\"}",
                  "{\"type\":\"object\",\"additionalProperties\":false,"
                  "\"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":1}}}");
    assert_schema("{}", TEXT_SCHEMA);
}

TEST(what_cannot_be_pinned_is_refused_when_the_tool_is_added)
{
    static const char *const values[] = {"[\"a\"]", "\"a\"", "{\"file\":\"a\"}"};
    int n_freed = 0;

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
        AUTO(arena) struct arena a = {0};
        struct json *pinned;

        assert_ok(json_parse(&a, str_of(values[i]), 0, &pinned));
        assert_err(tool_registry_add(r, counted_new("Read", TEXT_SCHEMA, &n_freed), pinned),
                   ERR_VALIDATION);
    }
    assert_int_equal(n_freed, ARRAY_LEN(values));
}

/* --- grants --- */

#define ALL {.allows_all = true}
#define LIST(...)                                                                                  \
    .allow = (const struct str[]){__VA_ARGS__},                                                    \
    .n_allow = sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str)
#define DENY(...)                                                                                  \
    .deny = (const struct str[]){__VA_ARGS__},                                                     \
    .n_deny = sizeof((const struct str[]){__VA_ARGS__}) / sizeof(struct str)

TEST(deny_wins_over_allow)
{
    struct tool_filter none = {0}, all = ALL, star = {LIST(S("*"))};
    struct tool_filter listed = {LIST(S("Read"), S("Bash")), DENY(S("Bash"))};
    struct tool_filter nothing = {.allows_all = true, DENY(S("*"))};

    assert_false(tool_filter_has(&none, S("Read")));
    assert_true(tool_filter_has(&all, S("Read")));
    assert_true(tool_filter_has(&star, S("Read")));
    assert_true(tool_filter_has(&listed, S("Read")));
    assert_false(tool_filter_has(&listed, S("Bash")));
    assert_false(tool_filter_has(&listed, S("Write")));
    assert_false(tool_filter_has(&nothing, S("Read")));
}

static struct tool tool_named(const char *name, unsigned needs)
{
    return (struct tool){.name = name,
                         .schema = TEXT_SCHEMA,
                         .aliases = "filePath=file_path",
                         .needs = needs,
                         .run = run_nothing};
}

TEST(a_narrowed_set_has_what_is_granted_and_can_work)
{
    struct tool read = tool_named("Read", 0), bash = tool_named("Bash", NEEDS_LAUNCHER);
    struct tool fetch = tool_named("Fetch", NEEDS_HTTP | NEEDS_BLOBS);
    struct tool_filter all = ALL, few = {LIST(S("Fetch"), S("Read"), S("absent"))};
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *whole = NULL, *a = NULL, *b = NULL, *c = NULL;

    assert_ok(tool_registry_add(r, &read, NULL));
    assert_ok(tool_registry_add(r, &bash, NULL));
    assert_ok(tool_registry_add(r, &fetch, NULL));
    whole = tool_registry_snapshot(r);
    a = tool_set_narrow(whole, &all, NEEDS_LAUNCHER | NEEDS_HTTP);
    assert_names(a, "Read, Bash");
    b = tool_set_narrow(whole, &few, NEEDS_HTTP | NEEDS_BLOBS);
    assert_names(b, "Read, Fetch");
    assert_int_equal(b->version, whole->version);
    c = tool_set_narrow(b, &all, 0);
    assert_names(c, "Read");
    assert_names(whole, "Read, Bash, Fetch");
}

TEST(a_narrowed_set_keeps_its_tools_alive_and_checks_arguments)
{
    struct tool_filter all = ALL;
    AUTO(arena) struct arena a = {0};
    struct tool_registry *r = tool_registry_new();
    struct tool_set *whole, *narrow;
    struct json *given, *args;
    int n_freed = 0;

    add(r, "Read", &n_freed);
    whole = tool_registry_snapshot(r);
    assert_ok(json_parse(&a, S("{\"file_path\":\"a\",\"text\":\"b\"}"), 0, &given));
    assert_ok(tool_entry_arguments(&whole->entries[0], given, &a, &args));
    narrow = tool_set_narrow(whole, &all, 0);
    tool_set_unref(whole);
    tool_registry_free(r);
    assert_int_equal(n_freed, 0);
    assert_ok(tool_entry_arguments(&narrow->entries[0], given, &a, &args));
    tool_set_unref(narrow);
    assert_int_equal(n_freed, 1);
}

static void assert_grant(struct tool_filter parent, struct tool_filter child, bool is_within)
{
    struct err *e = tool_filter_check(&parent, &child);

    if (is_within)
        assert_ok(e);
    else
        assert_err(e, ERR_VALIDATION);
}

TEST(a_grant_within_its_parents_is_fine)
{
    struct tool_filter all = ALL, star = {LIST(S("*"))}, none = {0};
    struct tool_filter two = {LIST(S("Read"), S("Bash"))}, read = {LIST(S("Read"))};
    struct tool_filter not_bash = {.allows_all = true, DENY(S("Bash"))};
    struct tool_filter less = {.allows_all = true, DENY(S("Write"), S("Bash"))};

    assert_grant(all, all, true);
    assert_grant(all, star, true);
    assert_grant(star, all, true);
    assert_grant(all, two, true);
    assert_grant(two, read, true);
    assert_grant(two, none, true);
    assert_grant(not_bash, read, true);
    assert_grant(not_bash, less, true);
    assert_grant(not_bash, (struct tool_filter){LIST(S("Bash")), DENY(S("Bash"))}, true);
}

TEST(a_grant_that_widens_its_parents_is_refused)
{
    struct tool_filter all = ALL, star = {LIST(S("*"))}, none = {0};
    struct tool_filter two = {LIST(S("Read"), S("Bash"))}, read = {LIST(S("Read"))};
    struct tool_filter not_bash = {.allows_all = true, DENY(S("Bash"))};
    struct tool_filter not_any = {.allows_all = true, DENY(S("*"))};

    assert_grant(read, all, false);
    assert_grant(read, star, false);
    assert_grant(read, two, false);
    assert_grant(none, read, false);
    assert_grant(not_bash, two, false);
    assert_grant(not_bash, all, false);
    assert_grant(not_bash, star, false);
    assert_grant(not_any, all, false);
    assert_grant(not_any, read, false);
}

static void assert_guess(const struct tool_set *s, const char *name, const char *want)
{
    const struct tool_entry *e = tool_set_guess(s, str_of(name));

    if (!e != !want || (e && strcmp(e->tool->name, want) != 0))
        fail_msg("%s: %s", name, e ? e->tool->name : "nothing");
}

TEST(a_tool_of_another_agent_is_guessed_by_its_name)
{
    AUTO(tool_registry) struct tool_registry *r = tool_registry_new();
    AUTO(tool_set) struct tool_set *s = NULL;
    AUTO(strbuf) struct strbuf arguments = {0};
    int n_freed = 0;

    add(r, "Read", &n_freed);
    add(r, "Bash", &n_freed);
    add(r, "Edit", &n_freed);
    s = tool_registry_snapshot(r);
    assert_guess(s, "read_file", "Read");
    assert_guess(s, "run_shell_command", "Bash");
    assert_guess(s, "shell", "Bash");
    assert_guess(s, "apply_patch", "Edit");
    assert_guess(s, "replace", "Edit");
    assert_guess(s, "str_replace_based_edit_tool", "Edit");
    assert_guess(s, "bash", "Bash");
    assert_guess(s, "Reads", "Read");
    assert_guess(s, "functions.Read", "Read");
    assert_guess(s, "default_api.read_file", "Read");
    assert_guess(s, "write_file", NULL); /* it is not there */
    assert_guess(s, "Teleport", NULL);
    assert_guess(s, "Beam", NULL);
    assert_guess(s, "", NULL);
    tool_entry_add_arguments(tool_set_guess(s, S("view")), &arguments);
    assert_str(strbuf_str(&arguments), "file_path, text, n");
}

RUN_TESTS(UNIT(a_tool_of_another_agent_is_guessed_by_its_name),
          UNIT(a_snapshot_is_the_same_object_until_something_changes),
          UNIT(every_change_raises_the_version),
          UNIT(a_removed_tool_is_freed_after_its_last_snapshot),
          UNIT(a_snapshot_outlives_its_registry), UNIT(a_tool_that_is_replaced_keeps_its_place),
          UNIT(many_tools_keep_their_order), UNIT(names_are_found_exactly),
          UNIT(a_tool_that_cannot_be_called_is_refused_and_freed),
          UNIT(a_replacement_that_is_refused_leaves_the_old_tool),
          UNIT(arguments_that_fit_are_passed_on), UNIT(other_spellings_become_the_real_names),
          UNIT(a_name_in_another_case_or_without_underscores_is_the_real_one),
          UNIT(of_two_spellings_of_one_name_the_second_is_told_as_unknown),
          UNIT(every_place_that_is_wrong_is_named),
          UNIT(a_string_that_is_the_value_which_the_schema_wants_is_that_value),
          UNIT(a_string_that_is_no_such_value_is_refused_as_it_is),
          UNIT(a_string_stays_one_where_the_schema_takes_strings),
          UNIT(null_for_what_may_be_missing_is_nothing),
          UNIT(other_spellings_are_known_inside_of_lists),
          UNIT(a_member_that_means_nothing_is_dropped_inside_of_lists),
          UNIT(a_value_without_names_is_the_object_that_it_certainly_means),
          UNIT(arguments_that_are_no_object_are_refused),
          UNIT(a_tool_without_other_spellings_takes_names_as_they_are),
          UNIT(a_schema_that_cannot_be_used_is_told_with_its_tool),
          UNIT(pinned_values_win_over_the_models), UNIT(pinned_values_must_fit_the_schema_too),
          UNIT(pinned_arguments_are_hidden_from_the_model),
          UNIT(what_cannot_be_pinned_is_refused_when_the_tool_is_added), UNIT(deny_wins_over_allow),
          UNIT(a_narrowed_set_has_what_is_granted_and_can_work),
          UNIT(a_narrowed_set_keeps_its_tools_alive_and_checks_arguments),
          UNIT(an_argument_that_means_nothing_is_dropped), UNIT(a_grant_within_its_parents_is_fine),
          UNIT(a_grant_that_widens_its_parents_is_refused))
