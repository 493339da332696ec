/* work.h - a pool of threads for blocking calls: fsync, name look-ups, directory walks, hashing.
 *
 * work_run() parks the task until fn has run in a worker. fn must not touch tasks or the loop,
 * except by loop_post(). Cancelling does not interrupt it: the wait is shielded, because fn uses
 * the caller's memory; a long fn polls work_cancelled(). If the task is cancelled or timed out
 * before a worker was free, fn does not run and the wait ends at once. */
#ifndef KEEL_SYS_WORK_H
#define KEEL_SYS_WORK_H

#include "sys/task.h"

MUST_USE struct err *work_run(struct err *(*fn)(void *arg), void *arg);

/* Inside fn: has the waiting task been cancelled or timed out? Outside: false. */
bool work_cancelled(void);

/* Inside fn: waits until fd is ready for `events` of poll(2), which may be never. False: the
 * waiting task was cancelled or timed out. */
bool work_wait_fd(int fd, short events);

/* Inside fn: sleeps before the next try to take a lock that another process holds, longer with
 * every try (from 0 on, at most WORK_PAUSE_MS). False, without sleep: the loop was cancelled, even
 * though a shield hides it, and such pauses have taken a second since then; give the lock up. */
#define WORK_PAUSE_MS 32
bool work_pause(unsigned n_tries);

/* Begins fn in a worker; any thread may call, without a task. The end waits for it and returns its
 * error. If no worker was free until then, fn runs in the thread that ends it, so workers may wait
 * for it, too. */
struct work_ahead;
struct work_ahead *work_ahead_begin(struct err *(*fn)(void *arg), void *arg) MUST_USE;
MUST_USE struct err *work_ahead_end(struct work_ahead *w); /* accepts NULL */
bool work_ahead_has_ended(struct work_ahead *w);           /* so that its end does not wait */

/* Runs fn in a thread beside the caller, which needs neither task nor loop. Meanwhile there is one
 * worker, and no other is started: fn may load libraries, which holds a lock that every new thread
 * takes. NULL: the system has no room for another thread, and fn does not run. */
struct work_beside;
struct work_beside *work_beside_begin(void (*fn)(void *arg), void *arg) MUST_USE;
void work_beside_end(struct work_beside *w); /* waits for fn; accepts NULL */

#endif
