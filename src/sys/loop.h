/* loop.h - one event loop: timers, fds and the tasks that wait for them.
 *
 * A loop belongs to the thread that runs it; a process may have one per core. Time comes from its
 * clock (clock.h). With a virtual clock the loop jumps to the next timer when no task can run and
 * nothing outside is under way, so tests never sleep. An idle loop causes no wake-ups. */
#ifndef KEEL_SYS_LOOP_H
#define KEEL_SYS_LOOP_H

#include "sys/clock.h"
#include "sys/task.h"

struct uv_loop_s;

/* `clock` is borrowed; NULL: the machine's. Returns NULL and sets errno when the process may open
 * no more files. */
struct loop *loop_new(const struct clock *clock) MUST_USE;
void loop_free(struct loop *l); /* no task may be left; runs what is still posted */
DEFINE_AUTO_PTR(loop, loop_free)

/* Runs fn as the root task and drives the loop until fn and all its tasks have ended. */
MUST_USE struct err *loop_run(struct loop *l, task_fn fn, void *arg);
/* The same in one call, with a new loop. */
MUST_USE struct err *loop_run_once(task_fn fn, void *arg);

/* For hosts that drive the loop themselves: start it, then step without blocking until a step
 * returns false, each time after poll(2) reported loop_poll_fd() as readable or
 * loop_poll_timeout_ms() has passed. Get the time-out last before polling: it is 0 when there is
 * something to do. */
void loop_start(struct loop *l, task_fn fn, void *arg);
bool loop_step(struct loop *l, bool may_block); /* false when nothing is left to do */
int loop_poll_fd(struct loop *l);
int loop_poll_timeout_ms(struct loop *l);         /* -1: none */
MUST_USE struct err *loop_result(struct loop *l); /* the root task's, once it has ended */
void loop_cancel(struct loop *l);                 /* cancels the root task, if it still runs */

uint64_t loop_now_ms(struct loop *l); /* monotonic */
/* The time of day, read once while a task runs without a wait: for calls so frequent that reading
 * the clock would cost more than they do. */
int64_t loop_unix_ms(struct loop *l);
const struct clock *loop_clock(struct loop *l);
struct uv_loop_s *loop_uv(struct loop *l);

/* Runs fn on the loop's thread, outside tasks, in the order of posting. The only function here that
 * every thread may call (but not a signal handler). */
void loop_post(struct loop *l, void (*fn)(void *arg), void *arg);

/* Something outside is under way that will wake a task by a post, a watch or a libuv handle: until
 * it ends a virtual clock does not move. Waiting for fds and for work counts by itself. If no task
 * can run, no timer is set and nothing is under way, nothing will ever happen again: that is a bug,
 * which aborts and lists the tasks. */
void loop_external_begin(struct loop *l);
void loop_external_end(struct loop *l);

/* Calls fn on the loop's thread, outside tasks, whenever fd is ready for one of `events`
 * (TASK_FD_READ, TASK_FD_WRITE) or hung up; again and again until it is stopped or the readiness is
 * used up. Lives in the caller's memory; stop it before the fd is closed. Unlike a uv_poll_t it
 * leaves the file's flags unchanged, shares its fd with other watches, and is visible to a host's
 * poll at once. Does not count as external by itself. */
struct loop_watch {    /* private */
    struct loop *loop; /* NULL: stopped */
    struct loop_watch *next;
    int fd, events;
    void (*fn)(void *arg, int ready);
    void *arg;
    uint64_t round;
};
MUST_USE struct err *loop_watch_start(struct loop_watch *w, struct loop *l, int fd, int events,
                                      void (*fn)(void *arg, int ready), void *arg);
void loop_watch_stop(struct loop_watch *w); /* also for stopped and zeroed ones */

/* A timer that calls fn on the loop's thread, outside tasks. One shot. */
struct loop_timer;
struct loop_timer *loop_timer_start(struct loop *l, uint64_t delay_ms, void (*fn)(void *arg),
                                    void *arg) MUST_USE;
void loop_timer_stop(struct loop_timer *t); /* frees; accepts NULL; fine after it fired */

/* Calls fn when the loop is freed, while it still works, outside tasks, the newest first. It is for
 * objects that keep timers, watches or groups in a loop and may end before or after it. Lives in
 * the caller's memory. */
struct loop_ending {   /* private */
    struct loop *loop; /* NULL: stopped, or called */
    struct loop_ending *next;
    void (*fn)(void *arg);
    void *arg;
};
void loop_ending_start(struct loop_ending *x, struct loop *l, void (*fn)(void *arg), void *arg);
void loop_ending_stop(struct loop_ending *x); /* also for stopped and zeroed ones */

/* Runs a function of the host on the thread's own stack instead of a task's small one, and waits
 * for it. No task is current meanwhile: the function cannot wait, but it may run another loop. A
 * plain call when no task is current. */
void loop_call_host(void (*fn)(void *arg), void *arg);

#endif
