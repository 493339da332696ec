/* task.c - the current task and its waits: park, sleep, yield, fds, deadlines, shields. */
#include "sys/scheduler.h"

#include <errno.h>
#include <stdio.h>

/* Of this thread. Every task sets it on its own stack too, because a fiber may be a thread. */
static _Thread_local struct task *current;

struct task *task_self(void)
{
    return current;
}

static struct task *self(void)
{
    if (!current)
        BUG("only a task can do this");
    return current;
}

struct loop *task_loop(void)
{
    return self()->loop;
}

const char *task_name(const struct task *t)
{
    return t->name;
}

/* --- life --- */

struct task *task_new(struct group *g, const char *name, task_fn fn, void *arg)
{
    struct task *t = mem_alloc(sizeof *t);

    t->loop = g->loop;
    t->group = g;
    t->name = name;
    t->fn = fn;
    t->arg = arg;
    t->cancelled = g->cancelled;
    t->inherited_deadline = g->deadline;
    t->loop->n_tasks++;
    return t;
}

void task_make_ready(struct task *t)
{
    struct loop *l = t->loop;

    if (t->is_ready)
        return;
    t->is_ready = true;
    if (l->last_ready)
        l->last_ready->next_ready = t;
    else
        l->first_ready = t;
    l->last_ready = t;
}

static void task_run(void *arg)
{
    struct task *t = arg;

    current = t;
    t->result = t->fn(t->arg);
    if (t->innermost_group || t->innermost_deadline || t->n_shields)
        BUG("a task returned with a group, a deadline or a shield open");
}

void task_resume(struct task *t)
{
    bool alive;

    if (!t->fiber)
        t->fiber = fiber_new(t->loop->fibers, task_run, t);
    t->loop->knows_unix_ms = false;
    current = t;
    while ((alive = fiber_enter(t->fiber)) && t->host_fn) {
        current = NULL;
        t->host_fn(t->host_arg);
        t->host_fn = NULL;
        t->loop->knows_unix_ms = false;
        current = t;
    }
    current = NULL;
    if (alive)
        return;
    fiber_free(TAKE(t->fiber));
    t->loop->n_tasks--;
    group_child_ended(t->group, t);
    mem_free(t);
}

void loop_call_host(void (*fn)(void *arg), void *arg)
{
    if (!current) {
        fn(arg);
        return;
    }
    current->host_fn = fn;
    current->host_arg = arg;
    fiber_leave(current->fiber);
}

/* --- interruptions --- */

bool task_is_cancelled(const struct task *t)
{
    return t->cancelled && t->n_shields == 0;
}

/* A shield hides deadlines that were begun outside of it. */
struct deadline *task_find_deadline(const struct task *t)
{
    struct deadline *d = t->innermost_deadline;

    if (d && d->n_shields == t->n_shields)
        return d->earliest;
    return t->n_shields == 0 ? t->inherited_deadline : NULL;
}

static void format_duration(uint64_t ms, char *out, size_t size)
{
    unsigned long long s = ms / 1000;

    if (ms < 1000 || ms % 100)
        snprintf(out, size, "%llu ms", (unsigned long long)ms);
    else if (ms % 1000)
        snprintf(out, size, "%llu.%llu s", s, (unsigned long long)(ms % 1000 / 100));
    else if (s < 60 || s % 60)
        snprintf(out, size, "%llu s", s);
    else
        snprintf(out, size, "%llu min", s / 60);
}

static struct err *interruption(struct task *t)
{
    struct deadline *d = task_find_deadline(t);
    char duration[40];

    if (task_is_cancelled(t))
        return err_new(ERR_CANCELLED, "cancelled");
    if (d && loop_now_ms(t->loop) >= d->at_ms) {
        d->expired = true;
        format_duration(d->duration_ms, duration, sizeof duration);
        return err_new(ERR_TIMEOUT, "%s took longer than %s", d->what, duration);
    }
    return NULL;
}

struct err *task_check(void)
{
    return interruption(self());
}

bool task_was_cancelled(void)
{
    return current && current->cancelled;
}

void task_shield_begin(void)
{
    self()->n_shields++;
}

void task_shield_end(void)
{
    struct task *t = self();
    const struct deadline *d = t->innermost_deadline;
    const struct group *g = t->innermost_group;

    BUG_IF(t->n_shields == 0);
    if ((d && d->n_shields == t->n_shields) || (g && g->n_shields == t->n_shields))
        BUG("a shield ended before a deadline or a group that was begun inside it");
    t->n_shields--;
}

void deadline_begin(struct deadline *d, uint64_t duration_ms, const char *what)
{
    struct task *t = self();
    struct deadline *other = task_find_deadline(t);

    *d = (struct deadline){
        .task = t,
        .outer = t->innermost_deadline,
        .what = what,
        .duration_ms = duration_ms,
        .at_ms = loop_ms_from_now(t->loop, duration_ms),
        .n_shields = t->n_shields,
    };
    d->earliest = other && other->at_ms <= d->at_ms ? other : d;
    t->innermost_deadline = d;
}

void deadline_end(struct deadline *d)
{
    struct task *t = d->task;

    if (!t)
        return;
    BUG_IF(t != current || t->innermost_deadline != d);
    for (const struct group *g = t->innermost_group; g; g = g->outer)
        if (g->deadline == d)
            BUG("a deadline ended before a group that it limits");
    t->innermost_deadline = d->outer;
    d->task = NULL;
}

/* --- parking --- */

void waker_init(struct waker *w)
{
    *w = (struct waker){.task = self()};
}

void waker_wake(struct waker *w)
{
    w->woken = true;
    if (w->task->parked_on == w)
        task_make_ready(w->task);
}

static void on_deadline(void *arg)
{
    task_make_ready(arg);
}

/* An interruption counts first when the wait begins, the event when it ends. So a task that always
 * finds its event notices that it is cancelled, and an event that was handed over is never lost. */
struct err *task_park(struct waker *w, const char *waits_for)
{
    struct task *t = self();
    struct timer_heap *timers = &t->loop->timers;
    const struct deadline *d = task_find_deadline(t);
    struct err *e = interruption(t);

    BUG_IF(w->task != t);
    if (e || w->woken)
        return e;
    if (d)
        timer_add(timers, &t->deadline_timer, d->at_ms, on_deadline, t);
    t->parked_on = w;
    t->waits_for = waits_for;
    do {
        fiber_leave(t->fiber);
    } while (!w->woken && !(e = interruption(t)));
    t->parked_on = NULL;
    timer_remove(timers, &t->deadline_timer);
    return e;
}

struct err *waker_park(struct waker *w)
{
    return task_park(w, "waits to be woken");
}

/* --- waits --- */

static void sleeper_wake(void *arg)
{
    waker_wake(arg);
}

struct err *task_sleep(uint64_t duration_ms)
{
    struct loop *l = task_loop();
    struct timer timer = {0};
    struct waker waker;
    struct err *e;

    waker_init(&waker);
    timer_add(&l->timers, &timer, loop_ms_from_now(l, duration_ms), sleeper_wake, &waker);
    e = task_park(&waker, "sleeps");
    timer_remove(&l->timers, &timer);
    return e;
}

struct err *task_yield(void)
{
    struct task *t = self();

    TRY(interruption(t));
    task_make_ready(t);
    fiber_leave(t->fiber);
    return interruption(t);
}

struct fd_wait {
    struct loop_watch watch;
    struct waker waker;
    int ready;
};

static void fd_wait_ready(void *arg, int ready)
{
    struct fd_wait *wait = arg;

    wait->ready = ready;
    waker_wake(&wait->waker);
    loop_watch_stop(&wait->watch); /* otherwise it is reported until the task has run */
}

struct err *task_wait_fd(int fd, int events, int *ret_ready)
{
    struct loop *l = task_loop();
    struct fd_wait wait = {
        .watch = {.fd = fd, .events = events, .fn = fd_wait_ready, .arg = &wait},
    };
    struct err *e;
    int error;

    waker_init(&wait.waker);
    error = watch_start(&wait.watch, l);
    if (error == EPERM) {
        /* Regular files cannot be watched; they are always ready. */
        TRY(task_check());
        if (ret_ready)
            *ret_ready = events;
        return NULL;
    }
    if (error)
        return err_errno(ERR_INTERNAL, error, "cannot wait for file descriptor %d", fd);
    loop_external_begin(l);
    e = task_park(&wait.waker, "waits for a file descriptor");
    loop_external_end(l);
    loop_watch_stop(&wait.watch);
    if (!e && ret_ready)
        *ret_ready = wait.ready;
    return e;
}
