/* json_series_fuzz.c - a value that was made without parsing is the one that parsing makes.
 *
 * The input's lines are the texts of a series. */
#include "base/json_series.h"

static bool is_same(const struct json *a, const struct json *b)
{
    const struct json *other = b->first;

    if (a->type != b->type || a->boolean != b->boolean || a->n != b->n || !str_eq(a->key, b->key) ||
        !str_eq(a->text, b->text) || !str_eq(a->raw, b->raw))
        return false;
    json_each (child, a) {
        if (!other || !is_same(child, other))
            return false;
        other = other->next;
    }
    return !other;
}

static void check(struct json_series *s, struct str text)
{
    AUTO(arena) struct arena a = {0};
    struct json *want, *got = json_series_next(s, text);
    struct err *e = json_parse(&a, text, 0, &want), *of_series = NULL;

    BUG_IF(got && e);
    if (!got)
        of_series = json_series_parse(s, text, &got);
    BUG_IF(!e != !of_series || (!e && !is_same(got, want)));
    err_free(e);
    err_free(of_series);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(json_series) struct json_series s = {0};
    struct str rest = str_make((const char *)data, size), line;

    while (str_split(&rest, '\n', &line))
        check(&s, line);
    return 0;
}
