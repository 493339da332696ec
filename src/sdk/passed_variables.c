/* passed_variables.c - reads sandbox.environment of the layers that may say it. */
#include "sdk/passed_variables.h"

static const enum layer layers[] = {LAYER_FLAGS, LAYER_USER};

const struct str *passed_variables(const struct settings *s, struct arena *a, size_t *ret_n)
{
    struct str *names = NULL;
    size_t n = 0, room = 0;

    for (size_t i = 0; i < ARRAY_LEN(layers); i++) {
        struct str file;
        const struct json *sandbox = json_get(settings_layer(s, layers[i], &file), "sandbox");

        json_each (name, json_get(sandbox, "environment")) {
            names = arena_grow(a, names, n, &room, sizeof *names);
            names[n++] = arena_str(a, json_str(name));
        }
    }
    *ret_n = n;
    return names;
}

struct str passed_variables_unused(const struct settings *s)
{
    struct setting_origin origin;
    size_t at = 0;

    while (settings_next_origin(s, "sandbox.environment", &at, &origin))
        if (origin.layer != LAYER_FLAGS && origin.layer != LAYER_USER)
            return origin.file;
    return (struct str){0};
}
