/* clean_env.h - what commands find in their environment. Pure.
 *
 * A copy of keel's own without credentials (base/variables.h), without what makes a shell or the
 * loader do things that the command does not say, and with settings that keep programs from paging,
 * colouring and asking for a person who is not there. */
#ifndef KEEL_SYS_CLEAN_ENV_H
#define KEEL_SYS_CLEAN_ENV_H

#include "base/secrets.h"

struct clean_env_options {
    const char *const *environment; /* NULL: the process's own */
    /* Names that are secret though they do not look like it; so is each variable that holds one of
     * `secrets`, whatever its name. */
    const struct str *hidden;
    size_t n_hidden;
    const struct secrets *secrets; /* may be NULL */
    /* Names that a person lets pass, whatever they hold; a star at the end stands for the rest. */
    const struct str *passed;
    size_t n_passed;
    struct str command; /* its text, which may bring an editor of its own; may be empty */
    /* A person sits at its terminal, so that it may page, colour and ask. */
    bool is_attended;
    /* The command runs in the sandbox: without addresses of what it cannot reach, and without the
     * person's proxy, which is the sandbox's business. */
    bool is_confined;
    const char *const *settings; /* "NAME=value", ends with NULL: win over all else; may be NULL */
};

/* The array ends with NULL and lives in `a`; its entries borrow. */
const char *const *clean_environment(struct arena *a,
                                     const struct clean_env_options *options) MUST_USE;

/* Is it withheld from commands for what it is, not for what keel sets instead? */
bool clean_env_withholds(const struct clean_env_options *options, const char *entry);

/* For a program of the operator's own, which may need credentials that keel knows nothing of: all
 * but the variables that hold one of `secrets`; the one named `kept` stays. */
const char *const *environment_without(struct arena *a, const char *const *environment,
                                       const struct secrets *secrets, struct str kept) MUST_USE;

#endif
