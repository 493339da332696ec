/* payload_strings.c - a walk through the front of a JSON value. */
#include "session/codec/payload_strings.h"

/* However large and deep a payload is: what is worth a look stands near its beginning. */
#define MAX_VALUES 256
#define MAX_DEPTH 16

static void walk(const struct json *v, unsigned depth, size_t *n_values,
                 struct payload_strings *out)
{
    if (++*n_values > MAX_VALUES || depth > MAX_DEPTH || out->n == PAYLOAD_STRINGS_MAX)
        return;
    if (v->type == JSON_STRING)
        out->items[out->n++] = v->text;
    json_each (child, v) {
        if (*n_values > MAX_VALUES)
            return;
        walk(child, depth + 1, n_values, out);
    }
}

void payload_strings_of(const struct json *payload, struct payload_strings *ret_strings)
{
    size_t n_values = 0;

    ret_strings->n = 0;
    if (payload)
        walk(payload, 0, &n_values, ret_strings);
}
