/* tool_arguments.c - turns what a model gave into what a tool takes; says what a call is about. */
#include "port/tool_set.h"

#define MAX_NUMBER_CHARS 18
#define MAX_DEPTH 16 /* of schemas; what lies deeper is taken as it is */

/* --- names --- */

/* "filePath=file_path oldString=old_string": the real name of a spelling, or the spelling. */
static struct str real_name(const char *aliases, struct str spelling)
{
    struct str rest = str_of(aliases), pair, alias;

    while (str_split(&rest, ' ', &pair)) {
        if (str_split(&pair, '=', &alias) && str_eq(alias, spelling))
            return pair;
    }
    return spelling;
}

/* The name that a member of `given` gets in `args`. Given in two spellings, the second one stays
 * and is reported as unknown. */
static struct str name_of(const struct tool *t, const struct json *given, const struct json *args,
                          struct str spelling)
{
    struct str name = real_name(t->aliases, spelling);

    if (!str_eq(name, spelling) && (json_get_str(given, name) || json_get_str(args, name)))
        return spelling;
    return name;
}

struct json *tool_rename_arguments(const struct tool *t, const struct json *given, struct arena *a)
{
    struct json *args = json_new(a, JSON_OBJECT);

    json_each (value, given) {
        struct str name = name_of(t, given, args, value->key);
        struct json *copy;

        if (name.n == 0 && value->key.n)
            continue;
        copy = json_copy(a, value);
        copy->key = arena_str(a, name);
        json_push(args, copy);
    }
    if (t->adapt)
        t->adapt(args, a);
    return args;
}

/* --- types --- */

/* The one type that the schema asks for; empty: several, or unknown. */
static struct str type_of(const struct json *schema)
{
    static const char *const others[] = {"$ref", "anyOf", "oneOf", "allOf",
                                         "not",  "if",    "enum",  "const"};

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (json_has(schema, others[i]))
            return (struct str){0};
    return json_get_text(schema, "type");
}

static struct json *number_in(struct str text, struct arena *a, bool is_integer)
{
    struct json_where where;
    struct json *value;
    int64_t n;

    if (text.n == 0 || text.n > MAX_NUMBER_CHARS || (is_integer && !str_to_int64(text, &n)) ||
        !json_parse_few(a, arena_str(a, text), 0, 1, &value, &where))
        return NULL;
    return json_is(value, JSON_NUMBER) ? value : NULL;
}

static struct json *container_in(struct str text, struct arena *a, enum json_type type)
{
    struct json_where where;
    struct json *value;

    if (!json_parse_at(a, arena_str(a, text), JSON_REPAIR_UTF8, &value, &where))
        return NULL;
    return json_is(value, type) ? value : NULL;
}

/* A string where the schema wants a value of one other type, and the string is such a value as
 * JSON writes it: that value. NULL: it is none. */
static struct json *value_in(struct str text, struct str type, struct arena *a)
{
    if (str_is(type, "integer") || str_is(type, "number"))
        return number_in(text, a, str_is(type, "integer"));
    if (str_is(type, "boolean") &&
        (str_eq_nocase(text, S("true")) || str_eq_nocase(text, S("false"))))
        return json_new_bool(a, str_eq_nocase(text, S("true")));
    if (str_is(type, "array"))
        return container_in(text, a, JSON_ARRAY);
    if (str_is(type, "object"))
        return container_in(text, a, JSON_OBJECT);
    return NULL;
}

/* --- values --- */

static struct json *settle_object(const struct tool *t, const struct json *schema,
                                  const struct json *given, struct arena *a, unsigned depth);

/* What the schema certainly means by the value; a copy, without its name. */
static struct json *settle(const struct tool *t, const struct json *schema,
                           const struct json *given, struct arena *a, unsigned depth)
{
    struct str type = depth < MAX_DEPTH ? type_of(schema) : (struct str){0};
    struct json *value = json_is(given, JSON_STRING) ? value_in(given->text, type, a) : NULL, *list;

    if (value)
        given = value;
    if (str_is(type, "object") && json_is(given, JSON_OBJECT))
        return settle_object(t, schema, given, a, depth);
    if (!str_is(type, "array") || !json_is(given, JSON_ARRAY) ||
        !json_is(json_get(schema, "items"), JSON_OBJECT))
        return json_copy(a, given);
    list = json_new(a, JSON_ARRAY);
    json_each (item, given)
        json_push(list, settle(t, json_get(schema, "items"), item, a, depth + 1));
    return list;
}

static bool is_required(const struct json *schema, struct str name)
{
    json_each (required, json_get(schema, "required"))
        if (str_eq(json_str(required), name))
            return true;
    return false;
}

/* null for what need not be there, and cannot be null, is nothing. */
static bool means_nothing(const struct json *schema, const struct json *property, struct str name,
                          const struct json *value)
{
    struct str type = type_of(property);

    return json_is(value, JSON_NULL) && type.n && !str_is(type, "null") &&
           !is_required(schema, name);
}

#define MIN_RESPELT 4 /* bytes: "-c" and "-C" are two things */

static bool is_respelt(struct str a, struct str b)
{
    for (;; a = str_skip(a, 1), b = str_skip(b, 1)) {
        while (str_starts(a, S("_")))
            a = str_skip(a, 1);
        while (str_starts(b, S("_")))
            b = str_skip(b, 1);
        if (!a.n || !b.n)
            return a.n == b.n;
        if (!str_eq_nocase(str_slice(a, 0, 1), str_slice(b, 0, 1)))
            return false;
    }
}

/* The one property that differs from the name only in case and underscores ("filepath"), if it is
 * not there already and the schema takes no other names; else the name. */
static struct str respelt_name(const struct json *schema, const struct json *given,
                               const struct json *args, struct str name)
{
    struct str found = name;

    if (name.n < MIN_RESPELT || json_bool(json_get(schema, "additionalProperties"), true))
        return name;
    json_each (property, json_get(schema, "properties")) {
        if (!is_respelt(property->key, name))
            continue;
        if (found.p != name.p || json_get_str(given, property->key) ||
            json_get_str(args, property->key))
            return name;
        found = property->key;
    }
    return found;
}

static struct json *settle_object(const struct tool *t, const struct json *schema,
                                  const struct json *given, struct arena *a, unsigned depth)
{
    const struct json *properties = json_get(schema, "properties");
    struct json *object = json_new(a, JSON_OBJECT);

    json_each (value, given) {
        struct str name = value->key;
        const struct json *property;
        struct json *settled;

        if (!json_get_str(properties, name)) {
            struct str real = name_of(t, given, object, name);

            if (real.n == 0 && name.n)
                continue;
            if (!json_get_str(properties, real))
                real = respelt_name(schema, given, object, real);
            if (depth == 0 || json_get_str(properties, real))
                name = real;
        }
        property = json_get_str(properties, name);
        if (property && means_nothing(schema, property, name, value))
            continue;
        settled = settle(t, property, value, a, depth + 1);
        settled->key = arena_str(a, name);
        json_push(object, settled);
    }
    return object;
}

/* --- without names --- */

/* The one property that must be there, if it is a list. */
static struct str list_argument(const struct json *schema)
{
    const struct json *required = json_get(schema, "required");
    struct str name = required && required->n == 1 ? json_str(json_at(required, 0)) : S("");

    return str_is(type_of(json_get_str(json_get(schema, "properties"), name)), "array") ? name
                                                                                        : S("");
}

struct json *tool_entry_object(const struct tool_entry *e, struct json *value, struct arena *a)
{
    struct str name = list_argument(e->def.input_schema);
    struct json *object;

    if (json_is(value, JSON_OBJECT))
        return value;
    if (json_is(value, JSON_STRING))
        return container_in(value->text, a, JSON_OBJECT);
    if (!json_is(value, JSON_ARRAY) || !name.n)
        return NULL;
    object = json_new(a, JSON_OBJECT);
    json_set_key(a, object, name, value);
    return object;
}

/* --- checking --- */

static struct err *compile(struct tool_entry *e)
{
    AUTO(arena) struct arena a = {0};
    struct json *document;
    struct err *error;

    if (e->schema)
        return NULL;
    TRY(json_parse(&a, str_of(e->tool->schema), 0, &document));
    error = schema_compile(document, NULL, &e->schema);
    return error ? err_wrap(error, "the schema of tool %s cannot be used", e->tool->name) : NULL;
}

/* For a wrong or missing name, list the valid ones. */
static struct err *refuse(const struct tool_entry *e, const struct schema_report *report)
{
    AUTO(strbuf) struct strbuf places = {0};
    bool has_wrong_name = false;

    for (size_t i = 0; i < report->n_errors; i++) {
        const struct schema_error *x = &report->errors[i];

        strbuf_addf(&places, "%s%" STR_FMT "%s%" STR_FMT, i ? "; " : "", STR_ARG(x->path),
                    x->path.n ? ": " : "", STR_ARG(x->message));
        has_wrong_name |= x->path.n == 0;
    }
    if (has_wrong_name) {
        strbuf_addf(&places, " (%s takes ", e->tool->name);
        tool_entry_add_arguments(e, &places);
        strbuf_add_char(&places, ')');
    }
    return err_new(ERR_VALIDATION, "the arguments of %s are wrong: %s", e->tool->name,
                   strbuf_cstr(&places));
}

struct err *tool_entry_arguments(struct tool_entry *e, const struct json *given, struct arena *a,
                                 struct json **ret_args)
{
    struct schema_report report;
    struct json *args;
    bool is_valid;

    if (!json_is(given, JSON_OBJECT))
        return err_new(ERR_VALIDATION, "the arguments of %s must be a JSON object", e->tool->name);
    args = settle_object(e->tool, e->def.input_schema, given, a, 0);
    if (e->tool->adapt)
        e->tool->adapt(args, a);
    json_each (value, e->pinned)
        json_set_key(a, args, value->key, json_copy(a, value));
    TRY(compile(e));
    TRY(schema_validate(e->schema, args, a, &is_valid, &report));
    if (!is_valid)
        return refuse(e, &report);
    *ret_args = args;
    return NULL;
}

/* --- for people --- */

struct str tool_main_argument(const struct json *args)
{
    static const char *const names[] = {"command", "file_path",   "filePath", "notebook_path",
                                        "pattern", "url",         "query",    "path",
                                        "skill",   "question",    "handle",   "shell_id",
                                        "bash_id", "description", "prompt",   "name"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str text = json_get_text(args, names[i]);

        if (text.n)
            return text;
    }
    return (struct str){0};
}
