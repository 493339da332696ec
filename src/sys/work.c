/* work.c - runs blocking functions in other threads while the task is parked. */
#include "sys/work.h"

#include "sys/pool.h"
#include "sys/scheduler.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#define LAST_PAUSES_MS 1000 /* in total, after the loop was cancelled */

struct work_item {
    struct pool_job job; /* first */
    struct loop *loop;
    struct err *(*fn)(void *arg);
    void *arg;
    struct err *result;
    atomic_bool cancelled;
    bool is_dropped; /* cancelled before a worker took it */
    struct waker waker;
    struct timer timer; /* for the task's deadline */
};

/* Of a worker while it runs something. */
static _Thread_local struct work_item *running;

bool work_cancelled(void)
{
    return running && atomic_load(&running->cancelled);
}

bool work_wait_fd(int fd, short events)
{
    struct pollfd file = {.fd = fd, .events = events};

    while (!work_cancelled()) {
        int n = poll(&file, 1, WORK_PAUSE_MS);

        if (n > 0 || (n < 0 && errno != EINTR))
            return true; /* the caller's read or write reports the error */
    }
    return false;
}

bool work_pause(unsigned n_tries)
{
    unsigned ms = MIN(1U << MIN(n_tries, 16U), WORK_PAUSE_MS);
    struct loop *l = running ? running->loop : NULL;

    if (l && atomic_load(&l->is_cancelled) &&
        atomic_fetch_add(&l->last_pauses_ms, ms) >= LAST_PAUSES_MS)
        return false;
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
    return true;
}

static void work_on_done(void *arg)
{
    struct work_item *w = arg;

    waker_wake(&w->waker);
}

static void work_in_worker(struct pool_job *j)
{
    struct work_item *w = (struct work_item *)j;

    running = w;
    w->result = w->fn(w->arg);
    running = NULL;
    loop_post(w->loop, work_on_done, w);
}

static void work_time_out(void *arg)
{
    struct work_item *w = arg;

    if (atomic_exchange(&w->cancelled, true) || !pool_take_back(&w->job))
        return;
    w->is_dropped = true;
    waker_wake(&w->waker);
}

static void pass_on_interruptions(struct work_item *w, struct task *t)
{
    const struct deadline *d = task_find_deadline(t);

    if (d)
        timer_add(&t->loop->timers, &w->timer, d->at_ms, work_time_out, w);
    if (t->n_shields == 0) {
        t->on_cancel = work_time_out;
        t->on_cancel_arg = w;
    }
}

/* The worker uses this stack, so nothing may end the wait before the worker is done. */
static void wait_for_worker(struct work_item *w, struct task *t)
{
    loop_external_begin(t->loop);
    task_shield_begin();
    err_ignore(task_park(&w->waker, "waits for a worker"), "nothing interrupts a shielded wait");
    task_shield_end();
    loop_external_end(t->loop);
    t->on_cancel = NULL;
    timer_remove(&t->loop->timers, &w->timer);
}

struct err *work_run(struct err *(*fn)(void *arg), void *arg)
{
    struct loop *l = task_loop();
    struct work_item w = {.job.run = work_in_worker, .loop = l, .fn = fn, .arg = arg};

    TRY(task_check());
    waker_init(&w.waker);
    pool_add(&w.job);
    pass_on_interruptions(&w, w.waker.task);
    wait_for_worker(&w, w.waker.task);
    return w.is_dropped ? task_check() : w.result;
}

/* --- without a task --- */

struct work_ahead {
    struct pool_job job; /* first */
    struct err *(*fn)(void *arg);
    void *arg;
    struct err *result;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    bool has_ended;
};

static void ahead_run(struct pool_job *j)
{
    struct work_ahead *w = (struct work_ahead *)j;

    w->result = w->fn(w->arg);
    pthread_mutex_lock(&w->lock);
    w->has_ended = true;
    pthread_cond_signal(&w->ended);
    pthread_mutex_unlock(&w->lock);
}

struct work_ahead *work_ahead_begin(struct err *(*fn)(void *arg), void *arg)
{
    struct work_ahead *w = mem_alloc(sizeof *w);

    *w = (struct work_ahead){.job.run = ahead_run, .fn = fn, .arg = arg};
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    pool_add(&w->job);
    return w;
}

bool work_ahead_has_ended(struct work_ahead *w)
{
    bool has_ended;

    pthread_mutex_lock(&w->lock);
    has_ended = w->has_ended;
    pthread_mutex_unlock(&w->lock);
    return has_ended;
}

struct err *work_ahead_end(struct work_ahead *w)
{
    struct err *e;

    if (!w)
        return NULL;
    if (pool_take_back(&w->job))
        ahead_run(&w->job);
    pthread_mutex_lock(&w->lock);
    while (!w->has_ended)
        pthread_cond_wait(&w->ended, &w->lock);
    pthread_mutex_unlock(&w->lock);
    e = w->result;
    pthread_cond_destroy(&w->ended);
    pthread_mutex_destroy(&w->lock);
    mem_free(w);
    return e;
}

struct work_beside {
    pthread_t thread;
    void (*fn)(void *arg);
    void *arg;
};

static void *beside_run(void *arg)
{
    struct work_beside *w = arg;

    w->fn(w->arg);
    pool_thaw();
    return NULL;
}

/* A thread of its own, which ends with the work: libraries keep data for every thread that has
 * called them, and free it only then. */
struct work_beside *work_beside_begin(void (*fn)(void *arg), void *arg)
{
    struct work_beside *w = mem_alloc(sizeof *w);

    w->fn = fn;
    w->arg = arg;
    pool_freeze(1);
    if (pthread_create(&w->thread, NULL, beside_run, w) == 0)
        return w;
    pool_thaw();
    mem_free(w);
    return NULL;
}

void work_beside_end(struct work_beside *w)
{
    if (!w)
        return;
    pthread_join(w->thread, NULL);
    mem_free(w);
}
