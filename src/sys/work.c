/* work.c - blocking functions on libuv's pool of threads, with the task parked meanwhile. */
#include "sys/work.h"

#include "sys/scheduler.h"

struct work {
    uv_work_t request;
    struct err *(*fn)(void *arg);
    void *arg;
    struct err *result;
    atomic_bool cancelled;
    struct waker waker;
};

/* Of a worker while it runs something. */
static _Thread_local const atomic_bool *cancelled;

bool work_cancelled(void)
{
    return cancelled && atomic_load(cancelled);
}

static void in_worker(uv_work_t *request)
{
    struct work *w = request->data;

    cancelled = &w->cancelled;
    w->result = w->fn(w->arg);
    cancelled = NULL;
}

static void on_done(uv_work_t *request, int status)
{
    struct work *w = request->data;

    waker_wake(&w->waker);
}

static void on_deadline(void *arg)
{
    atomic_store((atomic_bool *)arg, true);
}

/* The worker uses this stack, so nothing may end the wait before it is done. */
static void wait_for_worker(struct work *w)
{
    struct loop *l = task_loop();

    loop_external_begin(l);
    task_shield_begin();
    err_ignore(task_park(&w->waker, "waits for a worker"), "nothing interrupts a shielded wait");
    task_shield_end();
    loop_external_end(l);
}

struct err *work_run(struct err *(*fn)(void *arg), void *arg)
{
    struct task *t = task_self();
    struct loop *l = task_loop();
    const struct deadline *d = task_find_deadline(t);
    struct work w = {.fn = fn, .arg = arg};
    struct timer timer = {0};

    TRY(task_check());
    w.request.data = &w;
    waker_init(&w.waker);
    if (d)
        timer_add(&l->timers, &timer, d->at_ms, on_deadline, &w.cancelled);
    if (t->n_shields == 0)
        t->cancel_flag = &w.cancelled;
    BUG_IF(uv_queue_work(&l->uv, &w.request, in_worker, on_done) < 0);
    wait_for_worker(&w);
    t->cancel_flag = NULL;
    timer_remove(&l->timers, &timer);
    return w.result;
}
