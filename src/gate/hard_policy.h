/* hard_policy.h - step 5: what no rule, hook, mode or answer lets through.
 *
 * Paths are judged as they are once links and ".." are resolved. Of the places that one lies in the
 * innermost counts, so that a workspace in a secret place is none, and a secret place in a
 * workspace is one.
 * - Tools that change files stay in the jail: the workspace, added directories, and what an allow
 *   rule for Edit or Write names outside of them by `//` or `~`. So do redirections of a command,
 *   as far as they can be told; the sandbox holds the rest of it.
 * - In the jail, some places are not theirs to write, by either name of a link: those that others
 *   obey (base/protected_places.h), and those that git obeys whatever they are called
 *   (gate/git_places.h). The jail's own directories may be called so.
 * - Secret places (keys, other people's homes, keel's own home, what its mode closes to others) are
 *   neither read nor written: gate/reach.h. The person's own home is not secret because the
 *   directory of all homes is.
 * - A path that leads nowhere, for all its links, is not opened.
 * - Commands and hosts must be on their lists where there are lists; an empty list allows none. A
 *   line whose commands cannot be told runs only if it is on the list as it stands. */
#ifndef KEEL_GATE_HARD_POLICY_H
#define KEEL_GATE_HARD_POLICY_H

#include "base/arena.h"

struct subject;
struct rulebook;

/* Paths are absolute and canonical. All lists are borrowed. */
struct hard_policy {
    /* The workspace as named, and its target when keel began: a command that can write above it may
     * replace it with a link. NULL: the target is looked up at each call. */
    const char *workspace, *real_workspace;
    const char *const *writable; /* besides the workspace */
    size_t n_writable;
    const char *const *secret; /* base/secret_places.h, other people's homes, keel's own */
    size_t n_secret;
    const char *const *readable; /* without a question, besides writable ones */
    size_t n_readable;
    /* Exact commands, or globs with `*`. Each simple command of a line must be listed, and so must
     * each command that it starts through env, xargs, sh -c and the like. */
    bool lists_commands;
    const struct str *commands;
    size_t n_commands;
    /* Hosts with their subdomains; `*.example.com` matches only subdomains. */
    bool lists_domains;
    const struct str *domains;
    size_t n_domains;
};

struct refusal {
    struct str rule;   /* "policy:outside", ":protected", ":git", ":secret", ":links", ":commands",
                          ":domains" */
    struct str reason; /* for the model; also tells the person how to allow it, if possible */
};

/* Pure. The subject is prepared. The refusal is in `a`. */
bool hard_policy_refuses(const struct hard_policy *policy, const struct rulebook *rules,
                         const struct subject *s, struct arena *a, struct refusal *ret_refusal);

#endif
