/* hard_policy.h - step 5: what no rule, hook, mode or answer lets through.
 *
 * Paths are judged as they are once links and ".." are resolved:
 * - Tools that change files stay in the jail: the workspace, added directories, and what an allow
 *   rule for Edit or Write names outside of them by `//` or `~`.
 * - In it, some places are not theirs to write: .git, .ssh, .keel, .claude, .mcp.json, start-up
 *   files of shells, dotenv files and files of credentials.
 * - Secret places (keys, other people's homes, keel's own home) are neither read nor written,
 *   unless the workspace lies in them.
 * Commands and hosts must be on their lists where there are lists. */
#ifndef KEEL_GATE_HARD_POLICY_H
#define KEEL_GATE_HARD_POLICY_H

#include "base/str.h"

/* Paths are absolute and canonical. All lists are borrowed. */
struct hard_policy {
    const char *const *writable; /* besides the workspace */
    size_t n_writable;
    const char *const *secret;
    size_t n_secret;
    /* Exact commands, or globs with `*`; each simple command of a line must be on it. */
    bool lists_commands;
    const struct str *commands;
    size_t n_commands;
    /* Hosts, with their subdomains. */
    bool lists_domains;
    const struct str *domains;
    size_t n_domains;
};

#endif
