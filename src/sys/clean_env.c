/* clean_env.c - a copy of the environment that commands may see. */
#include "sys/clean_env.h"

#include "base/variables.h"

#include <unistd.h>

/* What a shell or the loader would run or heed before the command's first word, and where the
 * person was before: keel's own business. */
static const char *const left_out[] = {
    "BASH_ENV", "ENV",        "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS",
    "CDPATH",   "LD_PRELOAD", "LD_AUDIT",       "OLDPWD",
};

static const char *const fixed[] = {"PAGER=cat", "GIT_PAGER=cat", "TERM=dumb", NULL};

/* Without the "=" and what follows; empty for what is no variable. */
static struct str name_of(const char *entry)
{
    const char *equals = strchr(entry, '=');

    return equals ? str_make(entry, (size_t)(equals - entry)) : (struct str){0};
}

static struct str value_of(const char *entry)
{
    const char *equals = strchr(entry, '=');

    return str_of(equals ? equals + 1 : NULL);
}

static bool sets(const char *const *settings, struct str name)
{
    for (; settings && *settings; settings++)
        if (str_eq(name_of(*settings), name))
            return true;
    return false;
}

static size_t count(const char *const *entries)
{
    size_t n = 0;

    while (entries && entries[n])
        n++;
    return n;
}

static bool is_listed(struct str name, const struct str *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        bool is_prefix = str_ends(list[i], S("*"));

        if (is_prefix ? str_starts(name, str_slice(list[i], 0, list[i].n - 1))
                      : str_eq(name, list[i]))
            return true;
    }
    return false;
}

/* --- which --- */

static bool is_left_out(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
        if (str_is(name, left_out[i]))
            return true;
    return name.n == 0 || str_starts(name, S("KEEL_"));
}

bool clean_env_withholds(const struct clean_env_options *o, const char *entry)
{
    struct str name = name_of(entry), value = value_of(entry);

    if (name.n == 0 || is_listed(name, o->passed, o->n_passed))
        return false;
    if (is_listed(name, o->hidden, o->n_hidden) || secrets_has(o->secrets, value))
        return true;
    switch (variable_kind(name, value)) {
    case VARIABLE_SECRET:
        return true;
    case VARIABLE_ADDRESS:
    case VARIABLE_PROXY:
        return o->is_confined;
    case VARIABLE_PLAIN:
        return false;
    }
    BUG("a variable of no known kind");
}

/* git counts its settings: without one of them it refuses to work. */
static bool is_git_setting(struct str name)
{
    return str_starts(name, S("GIT_CONFIG_KEY_")) || str_starts(name, S("GIT_CONFIG_VALUE_"));
}

static bool withholds_git_settings(const struct clean_env_options *o,
                                   const char *const *environment)
{
    for (; *environment; environment++)
        if (is_git_setting(name_of(*environment)) && clean_env_withholds(o, *environment))
            return true;
    return false;
}

/* --- the copy --- */

const char *const *clean_environment(struct arena *a, const struct clean_env_options *o)
{
    static const char *const none[] = {NULL};
    const char *const *environment = o->environment ? o->environment
                                     : environ      ? (const char *const *)environ
                                                    : none;
    bool no_git_settings = withholds_git_settings(o, environment);
    const char **out =
        ARENA_ARRAY(a, count(environment) + count(fixed) + count(o->settings) + 1, const char *);
    size_t n = 0;

    for (; *environment; environment++) {
        struct str name = name_of(*environment);

        if (is_left_out(name) || sets(fixed, name) || sets(o->settings, name) ||
            clean_env_withholds(o, *environment) ||
            (no_git_settings && (is_git_setting(name) || str_is(name, "GIT_CONFIG_COUNT"))))
            continue;
        out[n++] = *environment;
    }
    for (size_t i = 0; fixed[i]; i++)
        if (!sets(o->settings, name_of(fixed[i])))
            out[n++] = fixed[i];
    for (size_t i = 0; o->settings && o->settings[i]; i++)
        out[n++] = o->settings[i];
    return out;
}

const char *const *environment_without(struct arena *a, const char *const *environment,
                                       const struct secrets *secrets, struct str kept)
{
    const char **out;
    size_t n = 0;

    if (!environment)
        environment = (const char *const *)environ;
    out = ARENA_ARRAY(a, count(environment) + 1, const char *);
    for (; environment && *environment; environment++)
        if (str_eq(name_of(*environment), kept) || !secrets_has(secrets, value_of(*environment)))
            out[n++] = *environment;
    return out;
}
