/* secrets_json.c - removes secrets from JSON: by their values, and by the names of their
 * members. */
#include "base/secrets.h"

/* --- by value --- */

static bool is_in(const struct secrets *s, const struct json *v)
{
    if (secrets_has(s, v->key) || (v->type == JSON_STRING && secrets_has(s, v->text)))
        return true;
    json_each (child, v)
        if (is_in(s, child))
            return true;
    return false;
}

static struct str hide_in_str(const struct secrets *s, struct arena *a, struct str text,
                              uint64_t *found)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct str shown = secrets_hide(s, text, &out, found);

    return shown.p == text.p ? text : arena_str(a, shown);
}

static void hide_in_tree(const struct secrets *s, struct arena *a, struct json *v, uint64_t *found)
{
    v->raw = (struct str){0};
    v->key = hide_in_str(s, a, v->key, found);
    if (v->type == JSON_STRING)
        v->text = hide_in_str(s, a, v->text, found);
    json_each (child, v)
        hide_in_tree(s, a, child, found);
}

const struct json *secrets_hide_in_json(const struct secrets *s, struct arena *a,
                                        const struct json *v, uint64_t *found)
{
    struct json *copy;

    if (!s || !v || !is_in(s, v))
        return v;
    copy = json_copy(a, v);
    hide_in_tree(s, a, copy, found);
    return copy;
}

/* The text with its own white space, unless a value spans the end of a string: the result must be
 * the same wherever the bytes come from. */
static bool says(struct str text, struct str values)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json_where where;
    struct json *v;

    if (!json_parse_at(&a, text, JSON_REPAIR_UTF8, &v, &where))
        return false;
    strbuf_init(&out, SIZE_MAX / 2);
    json_write(&out, v);
    return str_eq(strbuf_str(&out), values);
}

struct str secrets_hide_in_json_text(const struct secrets *s, struct str text, struct strbuf *out,
                                     uint64_t *found)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf values = {0};
    struct json_where where;
    struct str shown;
    struct json *v;

    if (!secrets_has(s, text))
        return text;
    if (!json_parse_at(&a, text, JSON_REPAIR_UTF8, &v, &where))
        return secrets_hide(s, text, out, found);
    strbuf_init(&values, SIZE_MAX / 2);
    json_write(&values, secrets_hide_in_json(s, &a, v, found));
    shown = secrets_hide(s, text, out, NULL);
    if (says(shown, strbuf_str(&values)))
        return shown;
    strbuf_clear(out);
    strbuf_add(out, strbuf_str(&values));
    return strbuf_str(out);
}

/* --- by name --- */

static bool is_scalar(const struct json *v)
{
    return v->type == JSON_STRING || v->type == JSON_NUMBER || v->type == JSON_BOOL;
}

/* A list of secrets has their name. */
static bool names_secret(const struct json *v, bool in_secret)
{
    return key_is_secret(v->key) || (in_secret && v->key.n == 0);
}

static bool has_secret_key(const struct json *v, bool in_secret)
{
    bool is_secret = names_secret(v, in_secret);

    if (is_secret && is_scalar(v))
        return true;
    json_each (child, v)
        if (has_secret_key(child, is_secret && v->type == JSON_ARRAY))
            return true;
    return false;
}

static void hide_under_keys(struct json *v, bool in_secret)
{
    bool is_secret = names_secret(v, in_secret);

    v->raw = (struct str){0};
    if (is_secret && is_scalar(v)) {
        v->type = JSON_STRING;
        v->text = S(REDACTED);
    }
    json_each (child, v)
        hide_under_keys(child, is_secret && v->type == JSON_ARRAY);
}

const struct json *json_hide_secret_keys(struct arena *a, const struct json *v)
{
    struct json *copy;

    if (!v || !has_secret_key(v, /* in_secret= */ false))
        return v;
    copy = json_copy(a, v);
    hide_under_keys(copy, /* in_secret= */ false);
    return copy;
}
