/* yaml.c - builds a JSON tree from libyaml's events. */
#include "base/yaml.h"

#include <yaml.h>

struct yaml_builder {
    struct arena *arena;
    yaml_parser_t parser;
    struct json *open[YAML_MAX_DEPTH];
    struct str key[YAML_MAX_DEPTH]; /* the name that waits for its value */
    bool has_key[YAML_MAX_DEPTH];
    unsigned depth;
    size_t n_values;
    struct json *root;
};

static struct err *bad(const yaml_mark_t *at, const char *reason)
{
    return err_new(ERR_VALIDATION, "not valid YAML: line %zu, column %zu: %s", at->line + 1,
                   at->column + 1, reason);
}

/* --- scalars --- */

static bool is_one_of(struct str text, const char *const *words)
{
    for (; *words; words++)
        if (str_is(text, *words))
            return true;
    return false;
}

/* A number as JSON spells it; YAML's other spellings (.5, 0x1f, +1) are converted. */
static struct json *number(struct arena *a, struct str text)
{
    struct json_where where;
    struct json *value;
    int64_t plain;

    if (str_starts(text, S("+")))
        text = str_skip(text, 1);
    if (str_to_int64(text, &plain))
        return json_new_int(a, plain);
    if (json_parse_at(a, arena_str(a, text), 0, &value, &where) && value->type == JSON_NUMBER)
        return value;
    return NULL;
}

static struct json *plain_scalar(struct arena *a, struct str text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const yes[] = {"true", "True", "TRUE", NULL};
    static const char *const no[] = {"false", "False", "FALSE", NULL};
    struct json *value;

    if (is_one_of(text, nulls))
        return json_new(a, JSON_NULL);
    if (is_one_of(text, yes) || is_one_of(text, no))
        return json_new_bool(a, is_one_of(text, yes));
    value = number(a, text);
    return value ? value : json_new_str(a, text);
}

static struct json *scalar(struct arena *a, const yaml_event_t *event)
{
    struct str text = str_make((const char *)event->data.scalar.value, event->data.scalar.length);
    const char *tag = (const char *)event->data.scalar.tag;
    bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;

    if (!is_plain || (tag && strcmp(tag, YAML_STR_TAG) == 0))
        return json_new_str(a, text);
    return plain_scalar(a, text);
}

/* --- structure --- */

static struct err *place(struct yaml_builder *b, const yaml_event_t *event, struct json *value)
{
    unsigned top = b->depth - 1;

    if (++b->n_values > YAML_MAX_VALUES)
        return bad(&event->start_mark, "the document has too many values");
    if (b->depth == 0) {
        b->root = value;
        return NULL;
    }
    if (b->open[top]->type == JSON_ARRAY) {
        json_push(b->open[top], value);
        return NULL;
    }
    json_set_key(b->arena, b->open[top], b->key[top], value);
    b->has_key[top] = false;
    return NULL;
}

static bool expects_key(const struct yaml_builder *b)
{
    return b->depth && b->open[b->depth - 1]->type == JSON_OBJECT && !b->has_key[b->depth - 1];
}

static struct err *take_key(struct yaml_builder *b, const yaml_event_t *event)
{
    unsigned top = b->depth - 1;
    struct str key = str_make((const char *)event->data.scalar.value, event->data.scalar.length);

    if (json_get_str(b->open[top], key))
        return bad(&event->start_mark, "this mapping has the same key twice");
    b->key[top] = arena_str(b->arena, key);
    b->has_key[top] = true;
    return NULL;
}

static struct err *open_container(struct yaml_builder *b, const yaml_event_t *event,
                                  enum json_type type)
{
    struct json *value = json_new(b->arena, type);

    if (expects_key(b))
        return bad(&event->start_mark, "a key must be a plain word or a string");
    if (b->depth == YAML_MAX_DEPTH)
        return bad(&event->start_mark, "values are nested too deep");
    TRY(place(b, event, value));
    b->open[b->depth] = value;
    b->has_key[b->depth++] = false;
    return NULL;
}

static struct err *take_event(struct yaml_builder *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_ALIAS_EVENT:
        return bad(&event->start_mark, "aliases are not supported");
    case YAML_SCALAR_EVENT:
        return expects_key(b) ? take_key(b, event) : place(b, event, scalar(b->arena, event));
    case YAML_SEQUENCE_START_EVENT:
        return open_container(b, event, JSON_ARRAY);
    case YAML_MAPPING_START_EVENT:
        return open_container(b, event, JSON_OBJECT);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        return NULL;
    case YAML_DOCUMENT_START_EVENT:
        return b->root ? bad(&event->start_mark, "only one document is allowed") : NULL;
    default:
        return NULL;
    }
}

static struct err *build(struct yaml_builder *b)
{
    for (bool at_end = false; !at_end;) {
        yaml_event_t event;
        struct err *e;

        if (!yaml_parser_parse(&b->parser, &event))
            return bad(&b->parser.problem_mark,
                       b->parser.problem ? b->parser.problem : "cannot be read");
        e = take_event(b, &event);
        at_end = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (e)
            return e;
    }
    return NULL;
}

struct err *yaml_parse(struct arena *a, struct str input, struct json **ret_value)
{
    struct yaml_builder b = {.arena = a};
    struct err *e;

    if (input.n > JSON_MAX_BYTES)
        return err_new(ERR_VALIDATION, "the YAML text is larger than 64 MiB");
    if (!yaml_parser_initialize(&b.parser))
        return err_new(ERR_INTERNAL, "the YAML reader cannot be set up");
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)input.p, input.n);
    e = build(&b);
    yaml_parser_delete(&b.parser);
    if (e)
        return e;
    *ret_value = b.root ? b.root : json_new(a, JSON_NULL);
    return NULL;
}
