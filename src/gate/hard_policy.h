/* hard_policy.h - step 5: what no rule, hook, mode or answer can allow.
 *
 * Paths are judged with links and ".." resolved. If a path is in several places, the innermost
 * counts: a workspace in a secret place is not secret, a secret place in a workspace is.
 * - Tools that change files stay in the jail: the workspace, added directories, and places outside
 *   that an allow rule for Edit or Write names with `//` or `~`. So do redirections of a command,
 * as far as they are known; the sandbox protects against the rest.
 * - Some places in the jail cannot be written, by either name of a link: those that other programs
 *   obey (base/protected_places.h), and those that git obeys under any name (gate/git_places.h).
 *   The jail's own directories may have such names.
 * - Secret places (keys, other people's homes, keel's own home, files closed to other users) are
 *   neither read nor written: gate/reach.h. The directory of all homes is secret, but not the
 *   person's own home.
 * - A path whose links lead nowhere is not opened.
 * - If there are lists of commands or hosts, these must be on them; an empty list allows none. A
 *   line whose commands are unknown runs only if the line itself is on the list. */
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

struct policy_refusal {
    struct str rule;   /* "policy:outside", ":protected", ":git", ":secret", ":links", ":commands",
                          ":domains" */
    struct str reason; /* for the model; also tells the person how to allow it, if possible */
};

/* Pure. The subject is prepared. The refusal is in `a`. */
bool hard_policy_refuses(const struct hard_policy *policy, const struct rulebook *rules,
                         const struct subject *s, struct arena *a,
                         struct policy_refusal *ret_refusal);

#endif
