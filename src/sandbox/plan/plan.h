/* plan.h - a policy worked out into the items that keel-exec carries out.
 *
 * Where places lie in each other the nearest one decides: a workspace in a hidden directory is
 * writable, a hidden file in the workspace is hidden. Blocks a little: it looks which places in the
 * workspace are there. */
#ifndef KEEL_SANDBOX_PLAN_PLAN_H
#define KEEL_SANDBOX_PLAN_PLAN_H

#include "sandbox/sandbox.h"

struct held_roots;
struct mount_table;

/* ERR_SANDBOX for a policy that nobody can want. */
MUST_USE struct err *plan_check(const struct sandbox_policy *policy);
/* ERR_SANDBOX where writing would change the machine, or other processes: in /proc or /sys. */
MUST_USE struct err *plan_check_places(const struct sandbox_policy *policy,
                                       const struct mount_table *mounts);
struct plan_input {
    const struct sandbox_policy *policy;
    struct held_roots *roots; /* what lies in them is looked at; NULL: nothing is */
    const struct mount_table
        *mounts;     /* hidden places are hidden under all their paths; NULL: none */
    const char *cwd; /* where the command starts; canonical */
    bool namespaces;
};
/* Appends a policy in the format of exec/policy.h. */
MUST_USE struct err *plan_write(const struct plan_input *input, struct strbuf *out);
/* Do two of them build the same walls? Where the command starts does not count. */
bool plan_is_same(struct str a, struct str b);
/* What item `index` of such a policy is about; NULL: there is no such item. Borrowed from it. */
const char *plan_item_text(struct str plan, unsigned index);

/* Is `path` the directory or in it? */
bool path_is_in(const char *path, const char *directory);
/* A directory sorts right before what is in it. */
int path_cmp(const char *a, const char *b);

#endif
