/* inline_call.c - reads the forms in which models write their calls. */
#include "provider/inline_call.h"

#define FUNCTION "<function="
#define FUNCTION_END "</function>"
#define PARAMETER "<parameter="
#define PARAMETER_END "</parameter>"
#define MORE_CALLS "[TOOL_CALLS]"
#define ARGS "[ARGS]"
#define MAX_PARAMETERS 256 /* of one call: no tool has as many */

static void add(struct arena *a, struct inline_calls *calls, struct str name, struct str args)
{
    calls->items = arena_grow(a, calls->items, calls->n, &calls->room, sizeof *calls->items);
    calls->items[calls->n++] = (struct inline_call){name, args};
}

static bool skip(struct str *text, struct str prefix)
{
    *text = str_trim(*text);
    if (!str_starts(*text, prefix))
        return false;
    *text = str_skip(*text, prefix.n);
    return true;
}

/* --- JSON --- */

/* {"name": "...", "arguments": {...}} */
static bool read_object(struct arena *a, const struct json *call, struct inline_calls *ret)
{
    struct str name = json_get_text(call, "name");
    const struct json *args =
        json_get(call, json_has(call, "arguments") ? "arguments" : "parameters");

    if (name.n == 0 || (args && !json_is(args, JSON_OBJECT) && !json_is(args, JSON_STRING)))
        return false;
    add(a, ret, name, json_is(args, JSON_STRING) ? args->text : args ? args->raw : (struct str){0});
    return true;
}

static bool read_json(struct arena *a, struct str text, struct inline_calls *ret)
{
    struct json_where where;
    struct json *value;

    if (!json_parse_at(a, text, JSON_REPAIR_UTF8, &value, &where))
        return false;
    if (value->type != JSON_ARRAY)
        return read_object(a, value, ret);
    json_each (call, value)
        if (!read_object(a, call, ret))
            return false;
    return value->n > 0;
}

/* NAME[ARGS]{...}, or NAME{...}. */
static bool read_named(struct arena *a, struct str text, struct inline_calls *ret)
{
    size_t brace = str_find_char(text, '{'), end = str_find(text, S(ARGS));
    struct str name, args;
    struct json_where where;
    struct json *value;

    if (brace == STR_NONE)
        return false;
    args = str_skip(text, brace);
    name = str_trim(str_slice(text, 0, end < brace ? end : brace));
    if (name.n == 0 || str_find_char(name, ' ') != STR_NONE ||
        str_find_char(name, '\n') != STR_NONE ||
        !json_parse_at(a, args, JSON_REPAIR_UTF8, &value, &where))
        return false;
    add(a, ret, name, value->raw);
    return true;
}

static bool read_mistral(struct arena *a, struct str text, struct inline_calls *ret)
{
    do {
        size_t next = str_find(text, S(MORE_CALLS));
        struct str call = str_trim(str_slice(text, 0, next == STR_NONE ? text.n : next));

        if (!read_json(a, call, ret) && !read_named(a, call, ret))
            return false;
        text = next == STR_NONE ? (struct str){0} : str_skip(text, next + S(MORE_CALLS).n);
    } while (text.n);
    return true;
}

/* --- tags --- */

/* NAME> of a tag that was begun. */
static bool take_tag_name(struct str *text, struct str *ret_name)
{
    size_t end = str_find_char(*text, '>');

    if (end == STR_NONE || end == 0)
        return false;
    *ret_name = str_trim(str_slice(*text, 0, end));
    *text = str_skip(*text, end + 1);
    return ret_name->n > 0;
}

static bool ends_value(struct str rest)
{
    rest = str_trim(rest);
    return str_starts(rest, S(PARAMETER)) || str_starts(rest, S(FUNCTION_END)) || rest.n == 0;
}

/* What is written may hold the tag itself: it ends the value where another parameter follows, or
 * the end of the function. A line end around it is the form's. */
static bool take_value(struct str *text, struct str *ret_value)
{
    struct str value;
    size_t at = 0, found;

    while ((found = str_find(str_skip(*text, at), S(PARAMETER_END))) != STR_NONE) {
        at += found;
        if (ends_value(str_skip(*text, at + S(PARAMETER_END).n)))
            break;
        at++;
    }
    if (found == STR_NONE)
        return false;
    value = str_slice(*text, 0, at);
    *text = str_skip(*text, at + S(PARAMETER_END).n);
    if (str_starts(value, S("\n")))
        value = str_skip(value, 1);
    if (str_ends(value, S("\n")))
        value = str_slice(value, 0, value.n - 1);
    *ret_value = value;
    return true;
}

static bool read_function(struct arena *a, struct str *text, struct inline_calls *ret)
{
    struct json *args = json_new(a, JSON_OBJECT);
    AUTO(strbuf) struct strbuf json = {0};
    struct str name, key, value;

    if (!skip(text, S(FUNCTION)) || !take_tag_name(text, &name))
        return false;
    while (skip(text, S(PARAMETER))) {
        if (args->n == MAX_PARAMETERS || !take_tag_name(text, &key) || !take_value(text, &value))
            return false;
        json_set_str(a, args, arena_cstr(a, key), value);
    }
    if (!skip(text, S(FUNCTION_END)) && text->n)
        return false;
    json_write(&json, args);
    add(a, ret, name, arena_str(a, strbuf_str(&json)));
    return true;
}

static bool read_functions(struct arena *a, struct str text, struct inline_calls *ret)
{
    do {
        if (!read_function(a, &text, ret))
            return false;
    } while (str_trim(text).n);
    return true;
}

bool inline_calls_read(struct arena *a, struct str text, bool is_mistral, struct inline_calls *ret)
{
    *ret = (struct inline_calls){0};
    text = str_trim(text);
    if (is_mistral)
        return read_mistral(a, text, ret);
    return str_starts(text, S(FUNCTION)) ? read_functions(a, text, ret) : read_json(a, text, ret);
}
