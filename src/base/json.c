/* json.c - looks things up in JSON trees; builds and changes them. */
#include "base/json.h"

#include <stdio.h>

struct json *json_get_str(const struct json *object, struct str key)
{
    if (!json_is(object, JSON_OBJECT))
        return NULL;
    json_each (member, object)
        if (json_same_name(member->key, key))
            return member;
    return NULL;
}

struct json *json_at(const struct json *array, size_t index)
{
    if (!json_is(array, JSON_ARRAY) || index >= array->n)
        return NULL;
    json_each (element, array)
        if (index-- == 0)
            return element;
    return NULL;
}

const char *json_type_name(enum json_type type)
{
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    return names[type];
}

/* --- pointer --- */

/* Compares a member's name with a pointer token, in which ~1 is '/' and ~0 is '~'. */
static bool token_is(struct str token, struct str name)
{
    size_t n = 0;

    for (size_t i = 0; i < token.n; i++, n++) {
        char c = token.p[i];

        if (c == '~') {
            if (++i == token.n || (token.p[i] != '0' && token.p[i] != '1'))
                return false;
            c = token.p[i] == '0' ? '~' : '/';
        }
        if (n == name.n || name.p[n] != c)
            return false;
    }
    return n == name.n;
}

static struct json *pointer_step(const struct json *at, struct str token)
{
    int64_t index;

    if (json_is(at, JSON_OBJECT)) {
        json_each (member, at)
            if (token_is(token, member->key))
                return member;
        return NULL;
    }
    if (token.n == 0 || token.p[0] == '-' || (token.n > 1 && token.p[0] == '0') ||
        !str_to_int64(token, &index))
        return NULL;
    return json_at(at, (size_t)index);
}

struct json *json_pointer(const struct json *root, struct str pointer)
{
    struct json *at = (struct json *)root;
    struct str token;

    if (pointer.n == 0)
        return at;
    if (pointer.p[0] != '/')
        return NULL;
    pointer = str_skip(pointer, 1);
    while (at && str_split(&pointer, '/', &token))
        at = pointer_step(at, token);
    return at;
}

/* --- building --- */

struct json *json_new(struct arena *a, enum json_type type)
{
    struct json *v = ARENA_NEW(a, struct json);

    v->type = type;
    return v;
}

struct json *json_new_str(struct arena *a, struct str text)
{
    struct json *v = json_new(a, JSON_STRING);

    v->text = arena_str(a, text);
    return v;
}

struct json *json_new_int(struct arena *a, int64_t value)
{
    struct json *v = json_new(a, JSON_NUMBER);

    v->text = arena_format(a, "%lld", (long long)value);
    return v;
}

struct json *json_new_bool(struct arena *a, bool value)
{
    struct json *v = json_new(a, JSON_BOOL);

    v->boolean = value;
    return v;
}

static void append(struct json *container, struct json *child)
{
    child->next = NULL;
    if (container->last)
        container->last->next = child;
    else
        container->first = child;
    container->last = child;
    container->n++;
}

/* Children's source bytes are within their parent's, so one copy of the outermost serves all. */
static struct json *copy_at(struct arena *a, const struct json *v, struct str source,
                            const char *source_copy)
{
    struct json *copy = json_new(a, v->type);

    if (v->raw.n && !source.n) {
        source = v->raw;
        source_copy = arena_cstr(a, source);
    }
    if (v->raw.n && v->raw.p >= source.p && v->raw.p + v->raw.n <= source.p + source.n)
        copy->raw = str_make(source_copy + (v->raw.p - source.p), v->raw.n);
    copy->boolean = v->boolean;
    copy->text = v->text.n ? arena_str(a, v->text) : v->text;
    json_each (child, v) {
        struct json *child_copy =
            copy_at(a, child, copy->raw.n ? source : (struct str){0}, source_copy);

        child_copy->key = child->key.n ? arena_str(a, child->key) : child->key;
        append(copy, child_copy);
    }
    return copy;
}

struct json *json_copy(struct arena *a, const struct json *v)
{
    return copy_at(a, v, (struct str){0}, NULL);
}

void json_push(struct json *array, struct json *value)
{
    append(array, value);
    array->raw = (struct str){0}; /* the source no longer matches the value */
}

void json_set_key(struct arena *a, struct json *object, struct str key, struct json *value)
{
    struct json *before = NULL;

    BUG_IF(object->type != JSON_OBJECT);
    value->key = arena_str(a, key);
    for (struct json *m = object->first; m; before = m, m = m->next) {
        if (!str_eq(m->key, key))
            continue;
        value->next = m->next;
        if (before)
            before->next = value;
        else
            object->first = value;
        if (object->last == m)
            object->last = value;
        object->raw = (struct str){0};
        return;
    }
    json_push(object, value);
}

void json_set(struct arena *a, struct json *object, const char *key, struct json *value)
{
    json_set_key(a, object, str_of(key), value);
}

void json_set_str(struct arena *a, struct json *object, const char *key, struct str text)
{
    json_set(a, object, key, json_new_str(a, text));
}

void json_set_int(struct arena *a, struct json *object, const char *key, int64_t value)
{
    json_set(a, object, key, json_new_int(a, value));
}

void json_set_bool(struct arena *a, struct json *object, const char *key, bool value)
{
    json_set(a, object, key, json_new_bool(a, value));
}

bool json_remove(struct json *object, struct str key)
{
    struct json *before = NULL;

    if (!json_is(object, JSON_OBJECT))
        return false;
    for (struct json *m = object->first; m; before = m, m = m->next) {
        if (!str_eq(m->key, key))
            continue;
        if (before)
            before->next = m->next;
        else
            object->first = m->next;
        if (object->last == m)
            object->last = before;
        m->next = NULL;
        object->n--;
        object->raw = (struct str){0};
        return true;
    }
    return false;
}

bool json_equal(const struct json *a, const struct json *b)
{
    const struct json *y;

    if (a->type != b->type || a->n != b->n)
        return false;
    switch (a->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return a->boolean == b->boolean;
    case JSON_NUMBER:
        return json_number_cmp(a->text, b->text) == 0;
    case JSON_STRING:
        return str_eq(a->text, b->text);
    case JSON_ARRAY:
        y = b->first;
        for (const struct json *x = a->first; x; x = x->next, y = y->next)
            if (!json_equal(x, y))
                return false;
        return true;
    case JSON_OBJECT:
        y = b->first; /* usually the order is the same: try the neighbour before searching */
        for (const struct json *x = a->first; x; x = x->next, y = y->next) {
            const struct json *same = str_eq(x->key, y->key) ? y : json_get_str(b, x->key);
            if (!same || !json_equal(x, same))
                return false;
        }
        return true;
    }
    BUG("json type");
}
