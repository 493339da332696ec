/* clean_env.h - the environment of commands. Pure.
 *
 * A copy of keel's own environment without credentials (base/variables.h) and without variables
 * that make a shell or the loader do more than the command says; with settings that keep programs
 * from paging, colouring and asking a person. */
#ifndef KEEL_SYS_CLEAN_ENV_H
#define KEEL_SYS_CLEAN_ENV_H

#include "base/secrets.h"

struct clean_env_options {
    const char *const *environment; /* NULL: the process's own */
    /* Names that are secret although they do not look like it. Each variable that holds one of
     * `secrets` is secret, too, whatever its name. */
    const struct str *hidden;
    size_t n_hidden;
    const struct secrets *secrets; /* may be NULL */
    /* Names that a person lets pass, whatever they hold; a star at the end matches any rest. */
    const struct str *passed;
    size_t n_passed;
    struct str command; /* its text, which may set an editor of its own; may be empty */
    /* A person uses the terminal: the command may page, colour and ask. */
    bool is_attended;
    /* The command runs in the sandbox: no addresses that it cannot reach, and not the user's proxy,
     * which the sandbox sets. */
    bool is_confined;
    const char *const
        *settings; /* "NAME=value", ends with NULL: override everything else; may be NULL */
};

/* The array ends with NULL and lives in `a`; its entries borrow. */
const char *const *clean_environment(struct arena *a,
                                     const struct clean_env_options *options) MUST_USE;

/* Is it withheld from commands for what it is, not because keel sets another value? */
bool clean_env_withholds(const struct clean_env_options *options, const char *entry);

/* For a program of the operator, which may need credentials that keel does not know: removes only
 * variables that hold one of `secrets`; keeps the one named `kept`. */
const char *const *environment_without(struct arena *a, const char *const *environment,
                                       const struct secrets *secrets, struct str kept) MUST_USE;

#endif
