/* scope.h - the writable directories of a sandbox: what is protected in them now, and what a
 * command has made there.
 *
 * All of it blocks. */
#ifndef KEEL_SANDBOX_SCOPE_H
#define KEEL_SANDBOX_SCOPE_H

#include "base/strbuf.h"
#include "sandbox/sandbox.h"

struct scope;
/* `policy` is borrowed. */
struct scope *scope_new(const struct sandbox_policy *policy);
void scope_free(struct scope *s);

/* Before a command, while none runs: what has changed meanwhile is a person's doing. */
MUST_USE struct err *scope_look(struct scope *s);
/* After a command: what it made is put right, and the person told. */
MUST_USE struct err *scope_check(struct scope *s, struct strbuf *notes);

/* The policy with all that is to be read-only. Lives until the next look or check. */
struct sandbox_policy scope_policy(const struct scope *s);
/* Is a look over in less time than the way to another thread and back takes? */
bool scope_is_small(const struct scope *s);

#endif
