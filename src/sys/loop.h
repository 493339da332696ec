/* loop.h - one event loop: timers, fds and the tasks that wait on them.
 *
 * A loop belongs to the thread that runs it; a process may have one per core. Time comes from its
 * clock (clock.h); with a virtual clock the loop jumps to the next timer whenever no task can run
 * and nothing outside is under way, so tests never sleep. An idle loop makes no wake-ups. */
#ifndef KEEL_SYS_LOOP_H
#define KEEL_SYS_LOOP_H

#include "sys/clock.h"
#include "sys/task.h"

struct uv_loop_s;

struct loop *loop_new(const struct clock *clock) MUST_USE; /* NULL: the machine's clock */
void loop_free(struct loop *l);                            /* no task may be left */
DEFINE_AUTO_PTR(loop, loop_free)

/* Runs fn as the root task and drives the loop until it and all it started have ended. */
MUST_USE struct err *loop_run(struct loop *l, task_fn fn, void *arg);
/* The same in one call, with a loop of its own. */
MUST_USE struct err *loop_run_once(task_fn fn, void *arg);

/* For hosts that drive the loop themselves. */
void loop_start(struct loop *l, task_fn fn, void *arg);
bool loop_step(struct loop *l, bool may_block); /* false when nothing is left to do */
int loop_poll_fd(struct loop *l);
int loop_poll_timeout_ms(struct loop *l);         /* -1: none */
MUST_USE struct err *loop_result(struct loop *l); /* the root task's, once it has ended */
void loop_cancel(struct loop *l);                 /* cancels the root task */

uint64_t loop_now_ms(struct loop *l); /* monotonic */
const struct clock *loop_clock(struct loop *l);
struct uv_loop_s *loop_uv(struct loop *l);

/* Runs fn on the loop's thread, outside tasks; safe from every thread and from signal handlers'
 * helpers. While n_external > 0 the loop waits for the outside world and a virtual clock stands. */
void loop_post(struct loop *l, void (*fn)(void *arg), void *arg);
void loop_external_begin(struct loop *l);
void loop_external_end(struct loop *l);

/* A timer that calls fn on the loop's thread, outside tasks. One shot. */
struct loop_timer;
struct loop_timer *loop_timer_start(struct loop *l, uint64_t delay_ms, void (*fn)(void *arg),
                                    void *arg) MUST_USE;
void loop_timer_stop(struct loop_timer *t); /* frees; accepts NULL; fine after it fired */

/* Runs a function of the host on the thread's own stack instead of a task's small one, and waits
 * for it. Straight call when no task is current. */
void loop_call_host(void (*fn)(void *arg), void *arg);

#endif
