/* hard_policy.h - step 5: what no rule, hook, mode or answer lets through.
 *
 * Paths are judged as they are once links and ".." are resolved. Of the places that one lies in the
 * innermost counts, so that a workspace in a secret place is none, and a secret place in a
 * workspace is one.
 * - Tools that change files stay in the jail: the workspace, added directories, and what an allow
 *   rule for Edit or Write names outside of them by `//` or `~`. So do redirections of a command,
 *   as far as they can be told; the sandbox holds the rest of it.
 * - In the jail, some places are not theirs to write, by either name of a link: .git, .ssh, .keel,
 *   .claude, .mcp.json, start-up files of shells, dotenv files and files of credentials. The names
 *   are in protected.c; the jail's own directories may be called so.
 * - Secret places (keys, other people's homes, keel's own home) are neither read nor written. The
 *   person's own home is not secret because the directory of all homes is. Of any process, what it
 *   was started with and its memory are secret (/proc/N/environ, mem), its own included.
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
    const char *const *writable; /* besides the workspace */
    size_t n_writable;
    const char *const *secret;
    size_t n_secret;
    /* Exact commands, or globs with `*`; each simple command of a line must be on it, and each that
     * it starts through env, xargs, sh -c and the like. */
    bool lists_commands;
    const struct str *commands;
    size_t n_commands;
    /* Hosts, with their subdomains; `*.example.com` is those alone. */
    bool lists_domains;
    const struct str *domains;
    size_t n_domains;
};

struct refusal {
    struct str rule;   /* "policy:outside", ":protected", ":secret", ":links", ":commands",
                          ":domains" */
    struct str reason; /* for the model; tells the person too how it can be allowed, if it can */
};

/* Pure. The subject is prepared; what the refusal points at lives in `a`. */
bool hard_policy_refuses(const struct hard_policy *policy, const struct rulebook *rules,
                         const struct subject *s, struct arena *a, struct refusal *ret_refusal);

/* Does a secret place hold the path? `home` may be NULL. */
bool hard_policy_is_secret(const struct hard_policy *policy, const char *workspace,
                           const char *home, const char *real_path);

/* Why no tool may write there: a name in the path below `root` ("a/.git/config" is in ".git").
 * Empty: it may. */
struct str protected_name(const char *path, const char *root);

#endif
