/* json.c - `keel inspect json` and `keel inspect schema`: is it JSON, and does it fit a schema? */
#include "cli/inspect/inspect.h"

#include "base/json.h"
#include "base/schema.h"

/* --- json --- */

static struct err *inspect_json_run(const struct args *args, int *ret_status)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf text = {0}, out = {0};
    struct json_where where;
    struct json *value;

    TRY(args_count(args, 1, 1, "one FILE"));
    TRY(cli_read_file(args->operands[0], &text));
    if (!json_parse_at(&a, strbuf_str(&text), 0, &value, &where)) {
        cli_add_visible(&out, str_of(args->operands[0]));
        strbuf_addf(&out, ":%zu:%zu: %s\n", where.line, where.column, where.reason);
        cli_print_error(strbuf_str(&out));
        *ret_status = 1;
        return NULL;
    }
    json_write(&out, value);
    strbuf_add_char(&out, '\n');
    TRY(strbuf_check(&out, "the output"));
    return cli_print(strbuf_str(&out));
}

const struct command command_inspect_json = {
    .name = "inspect json",
    .usage = "FILE",
    .summary = "check JSON and print its canonical form",
    .details = "Prints the value in one line, members in their order, and exits 0; or prints\n"
               "line, column and reason and exits 1. \"-\" reads standard input.\n\n"
               "  keel inspect json answer.json\n",
    .run = inspect_json_run,
};

/* --- schema --- */

struct remotes {
    struct arena *arena;
    struct json *documents; /* by URI */
};

static struct err *read_json(struct arena *a, const char *path, struct json **ret_value)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct err *e;

    TRY(cli_read_file(path, &text));
    e = json_parse(a, arena_str(a, strbuf_str(&text)), 0, ret_value);
    return e ? err_wrap(e, "%s", path) : NULL;
}

static struct err *read_remotes(const struct args *args, struct remotes *r)
{
    const char *given;
    size_t at = 0;

    r->documents = json_new(r->arena, JSON_OBJECT);
    while ((given = args_next(args, "remote", &at))) {
        size_t equals = str_rfind_char(str_of(given), '=');
        struct json *document;

        if (equals == STR_NONE)
            return err_new(ERR_VALIDATION, "--remote takes URI=FILE, not \"%s\"", given);
        TRY(read_json(r->arena, given + equals + 1, &document));
        json_set_key(r->arena, r->documents, str_make(given, equals), document);
    }
    return NULL;
}

static const struct json *resolve(void *self, struct str uri)
{
    const struct remotes *r = self;

    return json_get_str(r->documents, uri);
}

static struct err *print_report(bool is_valid, const struct schema_report *report)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    jw_init(&w, &out);
    jw_begin_object(&w);
    jw_kv_bool(&w, "valid", is_valid);
    jw_key(&w, "errors");
    jw_begin_array(&w);
    for (size_t i = 0; i < report->n_errors; i++) {
        jw_begin_object(&w);
        jw_kv_str(&w, "path", report->errors[i].path);
        jw_kv_str(&w, "message", report->errors[i].message);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    jw_end_object(&w);
    strbuf_add_char(&out, '\n');
    return cli_print(strbuf_str(&out));
}

static struct err *inspect_schema_run(const struct args *args, int *ret_status)
{
    AUTO(arena) struct arena a = {0};
    AUTO(schema) struct schema *schema = NULL;
    struct remotes remotes = {.arena = &a};
    struct schema_resolver resolver = {resolve, &remotes};
    struct schema_report report = {0};
    struct json *document, *instance;
    bool is_valid;

    TRY(args_count(args, 2, 2, "a SCHEMA and an INSTANCE"));
    TRY(read_remotes(args, &remotes));
    TRY(read_json(&a, args->operands[0], &document));
    TRY(read_json(&a, args->operands[1], &instance));
    TRY(schema_compile(document, &resolver, &schema));
    TRY(schema_validate(schema, instance, &a, &is_valid, &report));
    *ret_status = is_valid ? 0 : 1;
    return print_report(is_valid, &report);
}

static const struct option schema_options[] = {
    {"remote", 0, "URI=FILE", "the document for a $ref to URI; repeatable"},
    {0},
};

const struct command command_inspect_schema = {
    .name = "inspect schema",
    .usage = "[--remote URI=FILE]... SCHEMA INSTANCE",
    .summary = "validate JSON against a JSON Schema (2020-12)",
    .details =
        "Prints {\"valid\", \"errors\": [{\"path\", \"message\"}]}; exits 0 if it is valid, 1\n"
        "if not. Fetches nothing: --remote gives the documents that a schema refers to.\n\n"
        "  keel inspect schema schema.json value.json\n",
    .options = schema_options,
    .run = inspect_schema_run,
};
