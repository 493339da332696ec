/* scope.h - the writable directories of a sandbox: what is protected in them now, and what a
 * command has made there.
 *
 * All of it blocks. */
#ifndef KEEL_SANDBOX_SCOPE_H
#define KEEL_SANDBOX_SCOPE_H

#include "base/strbuf.h"
#include "sandbox/sandbox.h"

struct scope;
struct scope *scope_new(void);
void scope_free(struct scope *s);

/* Before a command, while none runs: what has changed meanwhile is a person's doing. */
MUST_USE struct err *scope_look(struct scope *s, const struct sandbox_policy *policy);
/* After a command: what it made is put right, and the person told. */
MUST_USE struct err *scope_check(struct scope *s, struct strbuf *notes);

/* The policy with all that is to be read-only. Lives until the next look or check. */
struct sandbox_policy scope_policy(struct scope *s, const struct sandbox_policy *policy);
/* More commands will come: see dir_watch_settle(). */
void scope_settle(struct scope *s);
/* Is a look over in less time than the way to another thread and back takes? */
bool scope_is_quick(const struct scope *s);

#endif
