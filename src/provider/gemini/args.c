/* args.c - puts a function call's arguments together from values with JSON paths.
 *
 * Vertex AI streams arguments as {"jsonPath": "$.lines[2].text", "stringValue": "..."} in the
 * order in which the model writes them. A string may come in several pieces, all with the same
 * path. Objects and arrays are never sent: they are created when a path leads through them. */
#include "provider/gemini/gemini.h"

#define MAX_DEPTH 64
/* How far a path may reach back into an array, and how many members an object may have: finding
 * them takes a walk, which a stream must not make long. */
#define MAX_WALK 4096

static struct err *bad_path(struct str path)
{
    return err_new(ERR_BAD_RESPONSE, "the provider sent an argument with the invalid path \"%.*s\"",
                   (int)MIN(path.n, (size_t)200), path.p ? path.p : "");
}

/* --- paths (RFC 9535, single values only) --- */

struct step {
    bool is_index;
    size_t index;
    struct str name;
};

/* The text between quotes. JSON paths have JSON's escapes and \'. */
static bool unquote(struct arena *a, struct str quoted, struct str *ret_name)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct json *value;
    struct json_where where;

    strbuf_add_char(&text, '"');
    for (size_t i = 0; i < quoted.n; i++) {
        if (quoted.p[i] == '"')
            strbuf_add_char(&text, '\\');
        else if (quoted.p[i] == '\\' && i + 1 < quoted.n && quoted.p[++i] != '\'')
            strbuf_add_char(&text, '\\');
        strbuf_add_char(&text, quoted.p[i]);
    }
    strbuf_add_char(&text, '"');
    if (!json_parse_at(a, arena_str(a, strbuf_str(&text)), JSON_REPAIR_UTF8, &value, &where))
        return false;
    *ret_name = value->text;
    return true;
}

static size_t find_quote(struct str s, char quote)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == quote)
            return i;
        if (s.p[i] == '\\')
            i++;
    }
    return STR_NONE;
}

/* Cuts an index or a quoted name, and the ']' after it. */
static bool take_bracket(struct arena *a, struct str *rest, struct step *ret)
{
    size_t end;
    int64_t index;

    if (rest->n && (rest->p[0] == '\'' || rest->p[0] == '"')) {
        end = find_quote(str_skip(*rest, 1), rest->p[0]);
        if (end == STR_NONE || !unquote(a, str_slice(*rest, 1, end), &ret->name))
            return false;
        *rest = str_skip(*rest, end + 2);
        end = 0;
    } else {
        end = str_find_char(*rest, ']');
        if (end == STR_NONE || !str_to_int64(str_slice(*rest, 0, end), &index) || index < 0)
            return false;
        ret->is_index = true;
        ret->index = (size_t)index;
    }
    if (end >= rest->n || rest->p[end] != ']')
        return false;
    *rest = str_skip(*rest, end + 1);
    return true;
}

static bool take_name(struct str *rest, struct step *ret)
{
    size_t n = 0;

    while (n < rest->n && rest->p[n] != '.' && rest->p[n] != '[')
        n++;
    ret->name = str_slice(*rest, 0, n);
    *rest = str_skip(*rest, n);
    return n > 0;
}

static bool take_step(struct arena *a, struct str *rest, struct step *ret)
{
    char first = rest->p[0];

    *ret = (struct step){0};
    *rest = str_skip(*rest, 1);
    if (first == '.')
        return take_name(rest, ret);
    return first == '[' && take_bracket(a, rest, ret);
}

/* --- the tree --- */

static struct json *find_element(const struct json *array, size_t index)
{
    if (index + 1 == array->n)
        return array->last;
    return index < MAX_WALK ? json_at(array, index) : NULL;
}

static struct json *find_member(const struct json *object, struct str name)
{
    if (object->last && str_eq(object->last->key, name))
        return object->last;
    return json_get_str(object, name);
}

/* A null becomes what the path needs: it is a value that is still to come. */
static bool is_or_becomes(struct json *at, enum json_type type)
{
    if (at->type == JSON_NULL)
        at->type = type;
    at->raw = (struct str){0}; /* its children will change */
    return at->type == type;
}

/* The child at the step, created if it is the next one. NULL: the step is impossible. */
static struct json *go(struct arena *a, struct json *at, const struct step *step)
{
    struct json *child;

    if (!is_or_becomes(at, step->is_index ? JSON_ARRAY : JSON_OBJECT))
        return NULL;
    child = step->is_index ? find_element(at, step->index) : find_member(at, step->name);
    if (child)
        return child;
    if (step->is_index ? step->index != at->n : at->n >= MAX_WALK)
        return NULL;
    child = json_new(a, JSON_NULL);
    child->key = step->is_index ? (struct str){0} : arena_str(a, step->name);
    json_push(at, child);
    return child;
}

static struct err *find_leaf(struct gemini_args *g, struct arena *a, struct str path,
                             struct json **ret_leaf)
{
    struct str rest = str_skip(path, 1);
    struct json *at = g->root;

    if (path.n < 2 || path.p[0] != '$')
        return bad_path(path);
    for (int depth = 0; rest.n; depth++) {
        struct step step;

        if (depth == MAX_DEPTH || !take_step(a, &rest, &step))
            return bad_path(path);
        at = go(a, at, &step);
        if (!at)
            return bad_path(path);
    }
    *ret_leaf = at;
    return NULL;
}

/* --- values --- */

/* Appends the pieces of a string in place; the room doubles, so that many small ones stay cheap. */
static void add_text(struct gemini_args *g, struct arena *a, struct json *leaf, struct str piece)
{
    size_t n = leaf == g->leaf ? leaf->text.n : 0;

    if (leaf != g->leaf || n + piece.n > g->room) {
        char *old = g->text;

        g->room = (n + piece.n) * 2;
        g->text = arena_alloc(a, g->room);
        if (n)
            memcpy(g->text, old, n);
    }
    if (piece.n)
        memcpy(g->text + n, piece.p, piece.n);
    leaf->type = JSON_STRING;
    leaf->text = str_make(g->text, n + piece.n);
    g->leaf = leaf;
}

static bool set_value(struct gemini_args *g, struct arena *a, struct json *leaf,
                      const struct json *piece)
{
    const struct json *text = gemini_get(piece, "stringValue");
    const struct json *number = gemini_get(piece, "numberValue");
    const struct json *boolean = gemini_get(piece, "boolValue");

    if (leaf->type == JSON_ARRAY || leaf->type == JSON_OBJECT)
        return false;
    leaf->raw = (struct str){0};
    if (json_is(text, JSON_STRING)) {
        add_text(g, a, leaf, text->text);
    } else if (json_is(number, JSON_NUMBER)) {
        leaf->type = JSON_NUMBER;
        leaf->text = arena_str(a, number->text);
    } else if (json_is(boolean, JSON_BOOL)) {
        leaf->type = JSON_BOOL;
        leaf->boolean = boolean->boolean;
    } else if (json_has(piece, "nullValue") || json_has(piece, "null_value")) {
        leaf->type = JSON_NULL;
    }
    if (leaf->type != JSON_STRING)
        g->leaf = NULL;
    return true; /* a piece without a value only announces one */
}

void gemini_args_begin(struct gemini_args *g, struct arena *a)
{
    *g = (struct gemini_args){.root = json_new(a, JSON_OBJECT)};
}

struct err *gemini_args_set(struct gemini_args *g, struct arena *a, const struct json *args)
{
    g->leaf = NULL;
    return json_parse(a, arena_str(a, args->raw), JSON_REPAIR_UTF8, &g->root);
}

struct err *gemini_args_add(struct gemini_args *g, struct arena *a, const struct json *piece)
{
    struct str path = gemini_get_text(piece, "jsonPath");
    struct json *leaf;

    TRY(find_leaf(g, a, path, &leaf));
    if (!set_value(g, a, leaf, piece))
        return bad_path(path);
    if (!json_bool(gemini_get(piece, "willContinue"), false))
        g->leaf = NULL;
    return NULL;
}
