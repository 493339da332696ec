/* arguments.c - turns the text of a call into arguments that fit the schema. */
#include "gate/parts.h"

#include "gate/reason.h"

/* --- calls that are plain text --- */

static bool is_required(const struct json *schema, struct str name)
{
    json_each (required, json_get(schema, "required"))
        if (str_eq(json_str(required), name))
            return true;
    return false;
}

/* The argument that takes the text: "input", or the only one that must be there. */
static struct str text_argument(const struct tool_entry *entry)
{
    const struct json *schema = entry->def.input_schema, *required = json_get(schema, "required");
    const struct json *properties = json_get(schema, "properties");

    if (json_has(properties, "input") || !required || required->n != 1)
        return S("input");
    json_each (property, properties)
        if (is_required(schema, property->key) && str_is(json_get_text(property, "type"), "string"))
            return property->key;
    return S("input");
}

static struct json *wrap_text(const struct tool_entry *entry, struct str text, struct arena *a)
{
    struct json *args = json_new(a, JSON_OBJECT);

    json_set_key(a, args, text_argument(entry), json_new_str(a, text));
    return args;
}

/* Where an API knows no plain text, such a tool is offered as one that takes {"input": text}. */
static bool is_wrapped_text(const struct tool_entry *entry, const struct json *args)
{
    return entry->def.takes_free_text && args->n == 1 &&
           json_is(json_get(args, "input"), JSON_STRING);
}

/* --- the step --- */

/* NULL: it is no JSON object, and stands for none. An object among arguments that could not be
 * taken was refused for the calls before it. */
static struct json *parse_object(const struct tool_entry *entry, struct str text, bool is_bad,
                                 struct arena *a)
{
    struct json_where where;
    struct json *value;

    if (text.n == 0)
        return json_new(a, JSON_OBJECT);
    if (!json_parse_at(a, text, JSON_REPAIR_UTF8, &value, &where) ||
        (is_bad && value->type == JSON_OBJECT))
        return NULL;
    return tool_entry_object(entry, value, a);
}

static struct json *given_arguments(const struct part *call, const struct tool_entry *entry,
                                    struct str text, struct arena *a)
{
    struct json *given;

    if (call->is_free_text && !call->bad_args.n)
        return wrap_text(entry, text, a);
    given = parse_object(entry, text, call->bad_args.n > 0, a);
    if (given && is_wrapped_text(entry, given))
        return wrap_text(entry, json_get_text(given, "input"), a);
    return given;
}

struct err *gate_arguments(const struct part *call, struct tool_entry *entry, struct arena *a,
                           const struct json **ret_args, struct str *ret_problem)
{
    struct str text = arena_str(a, call->bad_args.n ? call->bad_args : call->args);
    struct json *given = given_arguments(call, entry, text, a), *args;
    AUTO(err) struct err *e = NULL;

    if (!given) {
        *ret_args = json_new_str(a, text);
        *ret_problem = reason_not_json(a, entry->tool, text);
        return NULL;
    }
    e = tool_entry_arguments(entry, given, a, &args);
    if (e && e->kind != ERR_VALIDATION)
        return TAKE(e);
    *ret_args = e ? given : args;
    if (e)
        *ret_problem = reason_bad_arguments(a, e, text);
    return NULL;
}
