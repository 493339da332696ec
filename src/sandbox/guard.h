/* guard.h - protected places that the kernel does not protect: remembered before a command, looked
 * at after it.
 *
 * With namespaces these are only places that do not exist yet, links, and files with a second name:
 * mounts do not protect those. Without, all of them. What was changed is put back as it was; what
 * was put there is moved aside (aside.h). All of it blocks. */
#ifndef KEEL_SANDBOX_GUARD_H
#define KEEL_SANDBOX_GUARD_H

#include "sandbox/sandbox.h"

struct guard;

/* ERR_SANDBOX when there is more than can be remembered. */
MUST_USE struct err *guard_take(const struct sandbox_policy *policy, bool namespaces,
                                struct guard **ret_guard);
void guard_free(struct guard *g);
DEFINE_AUTO_PTR(guard, guard_free)

/* Does it hold what is wanted for commands that go this way? */
bool guard_serves(const struct guard *g, bool namespaces);

/* Puts things right, and appends a line for a person about each. */
void guard_check(struct guard *g, struct strbuf *notes);

#endif
