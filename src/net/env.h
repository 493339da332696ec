/* env.h - a variable out of an environment that was handed in. */
#ifndef KEEL_NET_ENV_H
#define KEEL_NET_ENV_H

#include "base/str.h"

#include <unistd.h>

/* NULL when it is not set or empty. `environment` NULL: the process's own. */
static inline const char *env_find(const char *const *environment, const char *name)
{
    size_t n = strlen(name);

    if (!environment)
        environment = (const char *const *)environ;
    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
            return (*environment)[n + 1] ? *environment + n + 1 : NULL;
    return NULL;
}

#endif
