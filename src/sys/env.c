/* env.c - looks up variables. */
#include "sys/env.h"

#include <unistd.h>

struct str env_get(const char *const *environment, struct str name)
{
    if (!environment)
        environment = (const char *const *)environ;
    for (; environment && *environment; environment++) {
        struct str entry = str_of(*environment);

        if (entry.n > name.n + 1 && entry.p[name.n] == '=' && str_starts(entry, name))
            return str_skip(entry, name.n + 1);
    }
    return (struct str){0};
}

const char *env_find(const char *const *environment, const char *name)
{
    return env_get(environment, str_of(name)).p;
}

bool env_is_reference(struct str value)
{
    return str_starts(value, S(ENV_REFERENCE_PREFIX));
}

struct str env_resolve(struct str reference, const char *const *environment)
{
    return env_get(environment, str_skip(reference, strlen(ENV_REFERENCE_PREFIX)));
}
