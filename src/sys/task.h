/* task.h - structured, stackful tasks on one loop.
 *
 * A task is a function with its own stack that may wait; while it waits, others run. Tasks never
 * change their thread and never run at the same time, so data that only tasks of one loop touch
 * needs no lock. Every task belongs to a group, and every group is joined before its scope ends:
 * nothing outlives the function that started it.
 *
 * Waiting functions return `struct err *`. Cancelling a task makes its current or next wait return
 * ERR_CANCELLED, and every one after that, until the task returns: errors unwind the stack. A
 * deadline does the same with ERR_TIMEOUT until its scope ends. Cancelled wins over timeout.
 * Clean-up that must wait nevertheless does so inside task_shield_begin/end.
 *
 * Calling a waiting function outside a task is a bug; errno does not survive a wait. Other threads
 * may only call loop_post() (loop.h), and run the function of work_run(). */
#ifndef KEEL_SYS_TASK_H
#define KEEL_SYS_TASK_H

#include "base/err.h"

struct loop;
struct task;

typedef struct err *(*task_fn)(void *arg);

/* --- the current task --- */

struct task *task_self(void); /* NULL outside tasks */
struct loop *task_loop(void); /* of the current task; a bug outside tasks */
const char *task_name(const struct task *t);

MUST_USE struct err *task_sleep(uint64_t duration_ms);
MUST_USE struct err *task_yield(void); /* lets every runnable task run once */
/* The error that the next wait would return now, without waiting: for long computations. */
MUST_USE struct err *task_check(void);
/* Has this task been cancelled, even though a shield hides it? A shielded wait is worth less then.
 * False outside tasks. */
bool task_was_cancelled(void);

enum { TASK_FD_READ = 1, TASK_FD_WRITE = 2 };
/* Waits until fd is ready for one of `events` or hung up; ret_ready may be NULL. The file's flags
 * are not changed. Several tasks may wait for one fd; none may close it meanwhile. */
MUST_USE struct err *task_wait_fd(int fd, int events, int *ret_ready);

/* Waits inside a shield ignore cancelling and the deadlines that were begun outside; deadlines that
 * are begun inside count. They do not reach groups that are begun inside either. Nests. */
void task_shield_begin(void);
void task_shield_end(void);

/* Limits all waits of this task, and of the groups it opens, until deadline_end(). Nests; the
 * earliest one counts. `what` is the subject of the error's text: "WHAT took longer than 30 s". */
struct deadline {
    bool expired; /* a wait has failed because of it; the rest is private */
    struct task *task;
    struct deadline *outer, *earliest;
    const char *what;
    uint64_t at_ms, duration_ms;
    unsigned n_shields;
};
void deadline_begin(struct deadline *d, uint64_t duration_ms, const char *what);
void deadline_end(struct deadline *d);
DEFINE_AUTO_VAL(deadline, deadline_end)

/* --- parking: the primitive under all other waits --- */

/* One wait of one task. Embed it, hand out its address, park. The code that brings the event calls
 * waker_wake() on the loop's thread. It may wake first and park later. A cancelled task does not
 * begin to wait. A task that is woken and cancelled during the same wait was woken, and the next
 * wait reports the rest. After an error others may still have the waker: take it back. */
struct waker {
    struct task *task;
    bool woken;
};
void waker_init(struct waker *w); /* for the current task */
MUST_USE struct err *waker_park(struct waker *w);
void waker_wake(struct waker *w); /* idempotent; never switches, only marks runnable */

/* --- groups --- */

/* A set of child tasks that ends together. Lives on the stack of the task that owns it:
 *
 *     struct group g;
 *     group_begin(&g, 4, 0);                   at most four at a time, 0 = no bound
 *     group_spawn(&g, "fetch", fetch, arg);    as often as needed
 *     TRY(group_end(&g));                      joins all
 *
 * Nothing may return early between begin and end. group_end() waits for every child even when its
 * owner is cancelled or timed out (the children are then cancelled too). The first child that fails
 * cancels its siblings, unless the group was begun with GROUP_KEEP_GOING.
 *
 * The result is the first error in order of spawning that is not ERR_CANCELLED; else the
 * interruption of the owner; else the first ERR_CANCELLED. Every child runs, even if it was
 * cancelled before it began: its first wait reports that, so its argument always has an owner. */
enum group_flags { GROUP_KEEP_GOING = 1 };

struct group { /* private */
    struct loop *loop;
    struct task *owner; /* NULL: the group belongs to no task */
    struct group *outer;
    struct group *first_inner;             /* of the groups that belong to no task */
    struct group *beside, **back;          /* the next one in `outer`; what points here */
    struct deadline *deadline;             /* that children inherit */
    struct task *first_child, *last_child; /* that are alive, in order of spawning */
    struct task *first_waiting;            /* for its turn, like all after it */
    unsigned n_live, n_running, max_running, n_shields;
    int flags;
    bool cancelled;
    struct group *next_to_cancel;
    struct err *error;
    size_t error_index, n_spawned;
    struct waker *joiner;
};

void group_begin(struct group *g, unsigned max_running, int flags);
/* A group that belongs to no task, for what outlives the function that begins it, such as the
 * commands that a conversation leaves running. No child's error cancels its siblings. It is inside
 * `outer`, another such group (NULL: the loop's own group), is cancelled with it, and ends before
 * it. Any task of the loop may spawn into it, cancel, join and end it; ending it while no child is
 * left needs no task. loop_run() waits for its children, too. */
void group_begin_in(struct group *g, struct group *outer);
/* Never waits and never switches: the child runs when its parent waits, and one over the bound when
 * another one ends. `name` is borrowed. Children may spawn siblings. */
void group_spawn(struct group *g, const char *name, task_fn fn, void *arg);
/* Cancels all children, also later ones: a cancelled group stays cancelled. */
void group_cancel(struct group *g);
MUST_USE struct err *group_end(struct group *g);
/* Joins the present children; the group stays open. An interruption of the owner ends this wait at
 * once. */
MUST_USE struct err *group_join(struct group *g);

/* --- channels --- */

/* A bounded queue of pointers between tasks of one loop. Senders wait when it is full. All are
 * served in the order of arrival. After chan_close() receivers drain what is left and then get
 * *ret_open = false; sending is an error (ERR_CANCELLED). */
struct chan;
struct chan *chan_new(size_t n_room) MUST_USE; /* at least 1 */
void chan_free(struct chan *c);                /* nobody may wait on it any more */
MUST_USE struct err *chan_send(struct chan *c, void *item);
MUST_USE struct err *chan_receive(struct chan *c, void **ret_item, bool *ret_open);
bool chan_try_send(struct chan *c, void *item);
bool chan_try_receive(struct chan *c, void **ret_item);
void chan_close(struct chan *c);
DEFINE_AUTO_PTR(chan, chan_free)

#endif
