/* env.c - looks up variables. */
#include "sys/env.h"

#include <errno.h>
#include <pwd.h>
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

#define ENTRY_BYTES 1024
#define MAX_ENTRY_BYTES (1 << 20)

struct str env_user_home(struct arena *a)
{
    for (size_t n = ENTRY_BYTES; n <= MAX_ENTRY_BYTES; n *= 4) {
        struct passwd entry, *found = NULL;
        int error = getpwuid_r(geteuid(), &entry, arena_alloc(a, n), n, &found);

        if (error != ERANGE)
            return found ? arena_str(a, str_of(found->pw_dir)) : (struct str){0};
    }
    return (struct str){0};
}

bool env_is_reference(struct str value)
{
    return str_starts(value, S(ENV_REFERENCE_PREFIX));
}

struct str env_resolve(struct str reference, const char *const *environment)
{
    return env_get(environment, str_skip(reference, strlen(ENV_REFERENCE_PREFIX)));
}
