/* write_notices.h - tells observers what running commands are about to change.
 *
 * The kernel holds those calls (exec/write_calls.h) and gives them to a listener. Each command has
 * a thread here that waits at its listener, finds out what the call is about (held_call.h), lets
 * the observer know and lets the call continue: whatever becomes of the observer, it does continue.
 * One thread a command, so that none waits for what another one writes, nor for a file system that
 * does not answer. Any thread may call. */
#ifndef KEEL_SANDBOX_WATCH_WRITE_NOTICES_H
#define KEEL_SANDBOX_WATCH_WRITE_NOTICES_H

#include "base/err.h"
#include "sys/write_observer.h"

struct write_notices;

struct write_notices *write_notices_new(void) MUST_USE;
/* Commands that run even now cannot change anything any more: their calls fail. Blocks. */
void write_notices_free(struct write_notices *n);

/* Where a command may write; absolute and canonical. */
struct write_notices_scope {
    const char *const *roots; /* what happens there is reported */
    size_t n_roots;
    const char *scratch; /* what happens there is not; may be NULL */
};
MUST_USE struct err *write_notices_add(struct write_notices *n, int take_listener,
                                       struct write_observer *observer,
                                       const struct write_notices_scope *scope);

/* Of commands that have ended altogether: when this returns nothing more is reported. Blocks while
 * an observer is at work. */
void write_notices_settle(struct write_notices *n);
/* Would it block? */
bool write_notices_are_settled(struct write_notices *n);

#endif
