/* clean_env.c - a copy of the environment that commands may see. */
#include "sys/clean_env.h"

#include "base/variables.h"

#include <unistd.h>

/* What a shell or the loader would run or obey before the command's first word, and keel's own
 * directories. */
static const char *const left_out[] = {
    "BASH_ENV", "ENV",        "PROMPT_COMMAND", "SHELLOPTS", "BASHOPTS",
    "CDPATH",   "LD_PRELOAD", "LD_AUDIT",       "OLDPWD",
};

/* Settings that keep programs from waiting for a person. A command that sets `unless` itself keeps
 * its own. They change nothing else: no CI=1, which turns off more than questions; no
 * GIT_SSH_COMMAND, which would replace core.sshCommand; no LESS, since less prints like cat without
 * a terminal. */
static const struct {
    const char *entry, *unless;
} fixed[] = {
    {"TERM=dumb", NULL},
    /* The output is read as a whole. */
    {"PAGER=cat", NULL},
    {"GIT_PAGER=cat", NULL}, /* overrides core.pager */
    {"MANPAGER=cat", NULL},
    {"SYSTEMD_PAGER=cat", NULL},
    {"AWS_PAGER=cat", NULL}, /* overrides cli_pager */
    /* An editor that accepts the text unchanged: amend, revert and merge keep git's message, rebase
     * its list, and a commit without a message fails with the reason. An editor that fails would
     * stop all of them. */
    {"EDITOR=true", NULL},
    {"VISUAL=true", NULL},
    {"GIT_EDITOR=true", "core.editor"}, /* overrides the user's core.editor */
    {"GIT_SEQUENCE_EDITOR=true", "sequence.editor"},
    /* Without input, vim reads from stderr and waits for ever. With input from /dev/null it now
     * ends after its -c commands. */
    {"VIMINIT=if resolve('/proc/self/fd/0')=~#'/null$'|exe 'au VimEnter * cquit'|endif", NULL},
    /* A program that asks for a password fails at once and names what is missing. */
    {"GIT_TERMINAL_PROMPT=0", NULL},
    {"GIT_ASKPASS=", "core.askPass"}, /* neither that nor SSH_ASKPASS, which git asks otherwise */
    {"SSH_ASKPASS_REQUIRE=never", NULL},
    {"GCM_INTERACTIVE=never", NULL},
    {"DEBIAN_FRONTEND=noninteractive", NULL},
    {"PIP_NO_INPUT=1", NULL},
};

/* Usually the first letter already differs. */
static bool has_name(const char *entry, struct str name)
{
    return name.n && entry[0] == name.p[0] && strncmp(entry, name.p, name.n) == 0 &&
           entry[name.n] == '=';
}

/* The part before the "="; empty if the entry is not a variable. */
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
        if (has_name(*settings, name))
            return true;
    return false;
}

static const char *find_fixed(const struct clean_env_options *o, struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(fixed) && !o->is_attended; i++) {
        const char *unless = fixed[i].unless;

        if (has_name(fixed[i].entry, name))
            return unless && str_find(o->command, str_of(unless)) != STR_NONE ? NULL
                                                                              : fixed[i].entry;
    }
    return NULL;
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

/* --- which variables --- */

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

/* git counts its settings: it refuses to work if one is missing. */
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

static bool has(const char *const *entries, size_t n, struct str name)
{
    for (size_t i = 0; i < n; i++)
        if (has_name(entries[i], name))
            return true;
    return false;
}

const char *const *clean_environment(struct arena *a, const struct clean_env_options *o)
{
    static const char *const none[] = {NULL};
    const char *const *environment = o->environment ? o->environment
                                     : environ      ? (const char *const *)environ
                                                    : none;
    bool no_git_settings = withholds_git_settings(o, environment);
    const char **out = ARENA_ARRAY(
        a, count(environment) + ARRAY_LEN(fixed) + count(o->settings) + 1, const char *);
    size_t n = 0;

    for (; *environment; environment++) {
        struct str name = name_of(*environment);

        if (is_left_out(name) ||
            (find_fixed(o, name) && !is_listed(name, o->passed, o->n_passed)) ||
            sets(o->settings, name) || clean_env_withholds(o, *environment) ||
            (no_git_settings && (is_git_setting(name) || str_is(name, "GIT_CONFIG_COUNT"))))
            continue;
        out[n++] = *environment;
    }
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        struct str name = name_of(fixed[i].entry);

        if (find_fixed(o, name) && !sets(o->settings, name) && !has(out, n, name))
            out[n++] = fixed[i].entry;
    }
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
