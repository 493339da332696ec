/* scheduler.h - what the files behind task.h, loop.h and work.h know of each other.
 *
 * The loop resumes tasks from its own stack; a task that waits switches back to it. So a wait is
 * one switch out and one in, and callbacks (timers, watches, posts) run between tasks, on the
 * thread's stack. Only files of this folder include it. */
#ifndef KEEL_SYS_SCHEDULER_H
#define KEEL_SYS_SCHEDULER_H

#include "sys/fiber.h"
#include "sys/loop.h"
#include "sys/timer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

struct task {
    struct loop *loop;
    const char *name;
    task_fn fn;
    void *arg;
    struct err *result;
    struct fiber *fiber; /* NULL until it starts */

    struct group *group; /* its parent's */
    struct task *previous, *next;
    size_t index; /* in order of spawning */

    struct group *innermost_group; /* that the task has open itself */
    struct deadline *innermost_deadline;
    struct deadline *inherited_deadline;
    unsigned n_shields;
    bool cancelled;
    void (*on_cancel)(void *arg); /* or NULL; called even while it is shielded */
    void *on_cancel_arg;

    bool is_ready;
    struct task *next_ready;
    struct waker *parked_on;
    const char *waits_for; /* for a person */
    struct timer deadline_timer;

    void (*host_fn)(void *arg); /* to be called on the loop's stack */
    void *host_arg;
};

struct post_queue {
    uv_async_t posted;
    pthread_mutex_t lock;
    struct post *first, *last; /* under the lock */
};

struct watch_set {
    int epoll_fd;
    uv_poll_t readable; /* epoll_fd within libuv's loop */
    struct loop_watch **by_fd;
    size_t n_by_fd;
    uint64_t round;
};

struct loop {
    uv_loop_t uv;
    const struct clock *clock;
    int64_t unix_ms; /* as of the running task's last wait */
    bool knows_unix_ms;
    struct timer_heap timers;
    uv_timer_t alarm; /* for the first of them */
    uv_prepare_t before_poll;
    struct task *first_ready, *last_ready;
    struct fiber_pool *fibers;
    struct group root; /* holds the root task */
    unsigned n_tasks;
    struct loop_ending *endings; /* newest first */
    unsigned n_external;
    atomic_bool is_cancelled;   /* as a whole, since it was started */
    atomic_uint last_pauses_ms; /* of its workers since then, see work_pause() */
    struct watch_set watches;
    struct post_queue posts;
    struct leaving_child *leaving;
};

/* Saturates: a wait that long is endless. */
static inline uint64_t loop_ms_from_now(struct loop *l, uint64_t delay_ms)
{
    uint64_t now_ms = loop_now_ms(l);

    return delay_ms > UINT64_MAX - now_ms ? UINT64_MAX : now_ms + delay_ms;
}

/* task.c */
struct task *task_new(struct group *g, const char *name, task_fn fn, void *arg) MUST_USE;
void task_make_ready(struct task *t); /* never switches */
void task_resume(struct task *t);     /* from the loop; frees the task when it has ended */
/* waker_park() with a word for people on what the task waits for. */
MUST_USE struct err *task_park(struct waker *w, const char *waits_for);
/* The deadline that limits the task's next wait, or NULL. */
struct deadline *task_find_deadline(const struct task *t);
/* Will its next wait fail with ERR_CANCELLED? */
bool task_is_cancelled(const struct task *t);

/* group.c */
void group_init(struct group *g, struct loop *l, struct task *owner, unsigned max_running,
                int flags);
void group_child_ended(struct group *g, struct task *child);

/* post.c; its libuv handles are closed before done */
void post_queue_init(struct post_queue *q, uv_loop_t *uv);
void post_queue_done(struct post_queue *q);
bool post_queue_run(struct post_queue *q); /* false when there was nothing */

/* reaper.c: reaps a child when it ends, in loop_free() at the latest */
void reaper_add(struct loop *l, int take_pidfd);
void reaper_finish(struct loop *l); /* blocks until there is none */

/* watch.c; the same */
int watch_set_init(struct watch_set *s, uv_loop_t *uv); /* an errno, or 0 */
void watch_set_done(struct watch_set *s);
int watch_start(struct loop_watch *w, struct loop *l); /* fields are set; an errno, or 0 */

#endif
