/* passed_variables.c - reads sandbox.environment. */
#include "config/passed_variables.h"

const struct str *passed_variables(const struct settings *s, struct arena *a, size_t *ret_n)
{
    const struct json *list = settings_get(s, "sandbox.environment");
    struct str *names = ARENA_ARRAY(a, list ? list->n : 0, struct str);
    size_t n = 0;

    json_each (name, list)
        names[n++] = arena_str(a, json_str(name));
    *ret_n = n;
    return names;
}
