/* json_series.c - finds the string that differs, and replaces it. */
#include "base/json_series.h"

#include "base/utf8.h"

void json_series_done(struct json_series *s)
{
    strbuf_done(&s->source);
    arena_done(&s->arena);
    *s = (struct json_series){0};
}

struct err *json_series_parse(struct json_series *s, struct str text, struct json **ret_value)
{
    s->root = s->string = NULL;
    strbuf_clear(&s->source);
    arena_clear(&s->arena);
    if (text.n > JSON_SERIES_MAX_BYTES)
        return json_parse(&s->arena, text, 0, ret_value);
    strbuf_add(&s->source, text);
    TRY(json_parse(&s->arena, strbuf_str(&s->source), 0, ret_value));
    s->root = *ret_value;
    return NULL;
}

/* --- finding the string --- */

static size_t common_start(struct str a, struct str b)
{
    size_t n = 0;

    while (n < a.n && n < b.n && a.p[n] == b.p[n])
        n++;
    return n;
}

static bool holds(const struct json *v, const char *at)
{
    return at > v->raw.p && at < v->raw.p + v->raw.n;
}

/* Without an escape its text is a part of the source. */
static bool is_plain_string(const struct json *v)
{
    return v->type == JSON_STRING && v->text.p == v->raw.p + 1 && v->text.n + 2 == v->raw.n;
}

static struct json *child_around(const struct json *v, const char *at)
{
    json_each (child, v)
        if (holds(child, at))
            return child;
    return NULL;
}

/* Finds the containers from the root on, and the string in which the texts differ. */
static void find_string(struct json_series *s, struct str text)
{
    const char *source = s->source.p;
    const char *at = source + common_start(strbuf_str(&s->source), text);
    struct json *v = holds(s->root, at) ? s->root : NULL;

    for (s->n_around = 0; v && v->first && s->n_around < JSON_SERIES_MAX_DEPTH;) {
        size_t n_before = (size_t)(v->raw.p - source);

        s->around[s->n_around++] =
            (struct json_around){v, n_before, s->source.n - n_before - v->raw.n};
        v = child_around(v, at);
    }
    if (v && is_plain_string(v)) {
        const char *end = s->source.p + s->source.n;

        s->string = v;
        s->before = str_make(s->source.p, (size_t)(v->text.p - s->source.p));
        s->after = str_make(v->text.p + v->text.n, (size_t)(end - v->text.p) - v->text.n);
    }
}

/* --- another text --- */

static bool is_like(const struct json_series *s, struct str text, struct str *ret_string)
{
    if (text.n < s->before.n + s->after.n)
        return false;
    *ret_string = str_slice(text, s->before.n, text.n - s->before.n - s->after.n);
    return str_starts(text, s->before) && str_ends(text, s->after) &&
           json_find_special(*ret_string, 0) == ret_string->n && utf8_is_valid(*ret_string);
}

struct json *json_series_next(struct json_series *s, struct str text)
{
    struct str string;

    if (s->root && !s->string)
        find_string(s, text);
    if (!s->root || !s->string || !is_like(s, text, &string))
        return NULL;
    s->string->text = string;
    s->string->raw = str_make(string.p - 1, string.n + 2);
    for (size_t i = 0; i < s->n_around; i++) {
        const struct json_around *a = &s->around[i];

        a->value->raw = str_make(text.p + a->n_before, text.n - a->n_before - a->n_after);
    }
    return s->root;
}
