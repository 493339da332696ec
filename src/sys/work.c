/* work.c - blocking functions on libuv's pool of threads, with the task parked meanwhile. */
#include "sys/work.h"

#include "sys/scheduler.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#define LAST_PAUSES_MS 1000 /* in all, of a loop that was cancelled */

struct work {
    uv_work_t request;
    struct loop *loop;
    struct err *(*fn)(void *arg);
    void *arg;
    struct err *result;
    atomic_bool cancelled;
    bool dropped; /* it was cancelled before a worker took it up */
    struct waker waker;
    struct timer timer; /* for the task's deadline */
};

/* Of a worker while it runs something. */
static _Thread_local struct work *running;

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
            return true; /* the caller's read or write says what is wrong */
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

static void in_worker(uv_work_t *request)
{
    struct work *w = request->data;

    running = w;
    w->result = w->fn(w->arg);
    running = NULL;
}

static void on_done(uv_work_t *request, int status)
{
    struct work *w = request->data;

    w->dropped = status == UV_ECANCELED;
    waker_wake(&w->waker);
}

static void cancel(void *arg)
{
    struct work *w = arg;

    if (!atomic_exchange(&w->cancelled, true))
        uv_cancel((uv_req_t *)&w->request); /* refused when a worker has it */
}

static void pass_on_interruptions(struct work *w, struct task *t)
{
    const struct deadline *d = task_find_deadline(t);

    if (d)
        timer_add(&t->loop->timers, &w->timer, d->at_ms, cancel, w);
    if (t->n_shields == 0) {
        t->on_cancel = cancel;
        t->on_cancel_arg = w;
    }
}

/* The worker uses this stack, so nothing may end the wait before it is done. */
static void wait_for_worker(struct work *w, struct task *t)
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
    struct work w = {.loop = l, .fn = fn, .arg = arg};

    TRY(task_check());
    w.request.data = &w;
    waker_init(&w.waker);
    BUG_IF(uv_queue_work(&l->uv, &w.request, in_worker, on_done) < 0);
    pass_on_interruptions(&w, w.waker.task);
    wait_for_worker(&w, w.waker.task);
    return w.dropped ? task_check() : w.result;
}

/* --- without a task --- */

struct work_beside {
    uv_loop_t uv; /* for this alone */
    uv_work_t request;
    void (*fn)(void *arg);
    void *arg;
};

static void beside_run(uv_work_t *request)
{
    struct work_beside *w = request->data;

    w->fn(w->arg);
}

static void beside_ran(uv_work_t *request, int status)
{
    BUG_IF(status != 0); /* nothing cancels it */
}

struct work_beside *work_beside_begin(void (*fn)(void *arg), void *arg)
{
    struct work_beside *w = mem_alloc(sizeof *w);

    w->fn = fn;
    w->arg = arg;
    w->request.data = w;
    if (uv_loop_init(&w->uv) < 0) {
        mem_free(w);
        return NULL;
    }
    BUG_IF(uv_queue_work(&w->uv, &w->request, beside_run, beside_ran) < 0);
    return w;
}

void work_beside_end(struct work_beside *w)
{
    if (!w)
        return;
    uv_run(&w->uv, UV_RUN_DEFAULT);
    BUG_IF(uv_loop_close(&w->uv) < 0);
    mem_free(w);
}
