/* read_rules.h - what may be read of the home, file by file, so that what comes to be there while a
 * command runs cannot be read at all.
 *
 * A set of Landlock rules for the reading of files: for each entry of the directories in which
 * credentials lie or could come to be (secret_dirs.h) and of those above them, but not for the
 * directories themselves. A file that is new has no rule, whoever gets hold of it and how soon. It
 * is made by keel and kept for later commands, as a rule takes 2 us and most of them stay the same;
 * keel-exec adds those for what is the command's own, and confines it (exec/landlock.c). All of it
 * blocks a little. */
#ifndef KEEL_SANDBOX_PLAN_READ_RULES_H
#define KEEL_SANDBOX_PLAN_READ_RULES_H

#include "sandbox/sandbox.h"

/* A descriptor for keel-exec, borrowed until the next call; -1: without, as there is no Landlock or
 * nothing that the rules could protect. `mounts_version`: other mounts show other files. */
int read_rules_get(struct read_rules *r, const struct sandbox_policy *policy,
                   uint64_t mounts_version);
void read_rules_done(struct read_rules *r);

#endif
