/* clean_env.c - a copy of the environment that commands may see. */
#include "sys/clean_env.h"

#include <unistd.h>

/* --- secrets --- */

static const char *const secret_anywhere[] = {"PASSWORD", "PASSWD", "SECRET"};
static const char *const secret_word_ends[] = {
    "TOKEN", "APIKEY", "PASSPHRASE", "CREDENTIAL", "CREDENTIALS", "COOKIE",
};
/* An access key's id is half of a credential. */
static const char *const before_key[] = {"API", "ACCESS", "PRIVATE"};

static bool contains_nocase(struct str s, struct str needle)
{
    for (size_t i = 0; i + needle.n <= s.n; i++)
        if (str_eq_nocase(str_slice(s, i, needle.n), needle))
            return true;
    return false;
}

static bool ends_nocase(struct str s, struct str suffix)
{
    return s.n >= suffix.n && str_eq_nocase(str_skip(s, s.n - suffix.n), suffix);
}

static bool is_one_of(struct str s, const char *const *words, size_t n_words)
{
    for (size_t i = 0; i < n_words; i++)
        if (str_eq_nocase(s, str_of(words[i])))
            return true;
    return false;
}

/* TOKEN and GHTOKEN are, TOKENS and TOKENIZERS are not. PWD alone is a directory. */
static bool word_is_secret(struct str word, struct str before, bool is_last)
{
    for (size_t i = 0; i < ARRAY_LEN(secret_word_ends); i++)
        if (ends_nocase(word, str_of(secret_word_ends[i])))
            return true;
    if (str_eq_nocase(word, S("PASS")))
        return true;
    if (str_eq_nocase(word, S("KEY")))
        return is_last || is_one_of(before, before_key, ARRAY_LEN(before_key));
    return str_eq_nocase(word, S("PWD")) && is_last && before.n > 0;
}

bool variable_is_secret(struct str name)
{
    struct str rest = name, word, before = {0};

    if (key_is_secret(name))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(secret_anywhere); i++)
        if (contains_nocase(name, str_of(secret_anywhere[i])))
            return true;
    while (str_split(&rest, '_', &word)) {
        if (word_is_secret(word, before, /* is_last= */ rest.n == 0))
            return true;
        before = word;
    }
    return false;
}

/* --- the copy --- */

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
    for (; *settings; settings++)
        if (str_eq(name_of(*settings), name))
            return true;
    return false;
}

static bool is_left_out(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(left_out); i++)
        if (str_is(name, left_out[i]))
            return true;
    return name.n == 0 || str_starts(name, S("KEEL_")) || variable_is_secret(name);
}

static bool is_hidden(struct str name, const struct str *hidden, size_t n_hidden)
{
    for (size_t i = 0; i < n_hidden; i++)
        if (str_eq(name, hidden[i]))
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

const char *const *clean_environment(struct arena *a, const char *const *environment,
                                     const struct str *hidden, size_t n_hidden,
                                     const struct secrets *secrets, const char *const *settings)
{
    const char **out;
    size_t n = 0;

    if (!environment)
        environment = (const char *const *)environ;
    out = ARENA_ARRAY(a, count(environment) + count(fixed) + count(settings) + 1, const char *);
    for (; environment && *environment; environment++) {
        struct str name = name_of(*environment);

        if (!is_left_out(name) && !is_hidden(name, hidden, n_hidden) && !sets(fixed, name) &&
            !sets(settings, name) && !secrets_has(secrets, value_of(*environment)))
            out[n++] = *environment;
    }
    for (size_t i = 0; fixed[i]; i++)
        if (!sets(settings, name_of(fixed[i])))
            out[n++] = fixed[i];
    for (; *settings; settings++)
        out[n++] = *settings;
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
