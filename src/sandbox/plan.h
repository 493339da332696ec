/* plan.h - a policy worked out into the items that keel-exec carries out.
 *
 * Where places lie in each other the nearest one decides: a workspace in a hidden directory is
 * writable, a hidden file in the workspace is hidden. Blocks a little: it looks which places in the
 * workspace are there. */
#ifndef KEEL_SANDBOX_PLAN_H
#define KEEL_SANDBOX_PLAN_H

#include "sandbox/sandbox.h"

struct held_roots;

/* ERR_SANDBOX for a policy that nobody can want. */
MUST_USE struct err *plan_check(const struct sandbox_policy *policy);
/* Appends a policy in the format of exec/policy.h, for a command that starts in `cwd`, which is
 * canonical. Looks at what lies in the roots; NULL: at nothing. */
MUST_USE struct err *plan_write(const struct sandbox_policy *policy, struct held_roots *roots,
                                const char *cwd, bool namespaces, struct strbuf *out);
/* What item `index` of such a policy is about; NULL: there is no such item. Borrowed from it. */
const char *plan_item_text(struct str plan, unsigned index);

/* Is `path` the directory or in it? */
bool path_is_in(const char *path, const char *directory);
/* A directory sorts right before what is in it. */
int path_cmp(const char *a, const char *b);

#endif
