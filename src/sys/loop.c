/* loop.c - runs the loop: polls, fires timers, resumes tasks, repeats. */
#include "sys/scheduler.h"

#include <errno.h>
#include <stdio.h>

/* The loop polls after this many resumes, however many tasks want to run. */
enum { MAX_RESUMES = 1000 };

static bool is_running(const struct loop *l)
{
    return l->n_tasks > 0;
}

uint64_t loop_now_ms(struct loop *l)
{
    return clock_monotonic_ms(l->clock);
}

int64_t loop_unix_ms(struct loop *l)
{
    if (!task_self() || !l->knows_unix_ms)
        l->unix_ms = clock_unix_ms(l->clock);
    l->knows_unix_ms = true;
    return l->unix_ms;
}

const struct clock *loop_clock(struct loop *l)
{
    return l->clock;
}

struct uv_loop_s *loop_uv(struct loop *l)
{
    return &l->uv;
}

void loop_external_begin(struct loop *l)
{
    l->n_external++;
}

void loop_external_end(struct loop *l)
{
    BUG_IF(l->n_external == 0);
    l->n_external--;
}

/* --- timers --- */

struct loop_timer {
    struct loop *loop;
    struct timer timer;
};

struct loop_timer *loop_timer_start(struct loop *l, uint64_t delay_ms, void (*fn)(void *arg),
                                    void *arg)
{
    struct loop_timer *t = mem_alloc(sizeof *t);

    t->loop = l;
    timer_add(&l->timers, &t->timer, loop_ms_from_now(l, delay_ms), fn, arg);
    return t;
}

void loop_timer_stop(struct loop_timer *t)
{
    if (!t)
        return;
    timer_remove(&t->loop->timers, &t->timer);
    mem_free(t);
}

/* --- one step --- */

static bool is_virtual(const struct loop *l)
{
    return l->clock->advance_to_ms != NULL;
}

/* Only the loop moves a virtual clock, and not while something outside is under way. */
static bool can_jump(const struct loop *l)
{
    return is_virtual(l) && l->n_external == 0;
}

/* How long nothing happens without an event from outside; UINT64_MAX: for ever. */
static uint64_t idle_ms(struct loop *l)
{
    const struct timer *next = timer_find_next(&l->timers);
    uint64_t now_ms = loop_now_ms(l);

    if (l->first_ready || (next && (next->at_ms <= now_ms || can_jump(l))))
        return 0;
    return next && !is_virtual(l) ? next->at_ms - now_ms : UINT64_MAX;
}

/* Handles of others on libuv's loop count; the loop's own do not. */
static bool can_be_woken(struct loop *l)
{
    bool alive;

    if (l->n_external > 0 || timer_find_next(&l->timers))
        return true;
    uv_unref((uv_handle_t *)&l->posts.posted);
    alive = uv_loop_alive(&l->uv);
    uv_ref((uv_handle_t *)&l->posts.posted);
    return alive;
}

static void list_tasks(const struct group *g, unsigned depth)
{
    for (const struct task *t = g->first_child; t; t = t->next) {
        fprintf(stderr, "  %*s%s: %s\n", (int)depth * 2, "", t->name,
                t->parked_on ? t->waits_for : "not started");
        for (const struct group *inner = t->innermost_group; inner; inner = inner->outer)
            list_tasks(inner, depth + 1);
    }
    for (const struct group *inner = g->first_inner; inner; inner = inner->beside)
        list_tasks(inner, depth);
}

static void loop_on_alarm(uv_timer_t *alarm)
{
    (void)alarm; /* it ends the poll; loop_step() looks at the heap itself */
}

static void set_alarm(struct loop *l)
{
    uint64_t delay_ms = idle_ms(l);

    uv_update_time(&l->uv);
    if (delay_ms == UINT64_MAX)
        uv_timer_stop(&l->alarm);
    else
        uv_timer_start(&l->alarm, loop_on_alarm, delay_ms, 0);
}

/* Set at the last moment: libuv calls other functions before the poll, and what they make ready or
 * due must not wait for it. */
static void loop_before_poll(uv_prepare_t *handle)
{
    set_alarm(handle->data);
}

static void look_outside(struct loop *l, bool may_block)
{
    const struct timer *next;

    if (may_block && idle_ms(l) > 0) {
        if (!can_be_woken(l)) {
            fprintf(stderr, "keel: every task waits and nothing can wake one:\n");
            list_tasks(&l->root, 0);
            BUG("deadlock");
        }
        uv_run(&l->uv, UV_RUN_ONCE);
        return;
    }
    uv_run(&l->uv, UV_RUN_NOWAIT);
    next = timer_find_next(&l->timers);
    if (!l->first_ready && can_jump(l) && next && next->at_ms > loop_now_ms(l))
        l->clock->advance_to_ms(l->clock->self, next->at_ms);
}

static struct task *take_ready(struct loop *l)
{
    struct task *t = l->first_ready;

    l->first_ready = t->next_ready;
    if (!l->first_ready)
        l->last_ready = NULL;
    t->next_ready = NULL;
    t->is_ready = false;
    return t;
}

bool loop_step(struct loop *l, bool may_block)
{
    if (!is_running(l))
        return false;
    look_outside(l, may_block);
    timer_fire_due(&l->timers, loop_now_ms(l));
    for (unsigned n = 0; l->first_ready && n < MAX_RESUMES; n++)
        task_resume(take_ready(l));
    return is_running(l);
}

int loop_poll_fd(struct loop *l)
{
    return uv_backend_fd(&l->uv);
}

int loop_poll_timeout_ms(struct loop *l)
{
    uv_run(&l->uv, UV_RUN_NOWAIT); /* only here libuv tells the kernel of new handles */
    if (!is_running(l))
        return 0;
    set_alarm(l);
    return uv_backend_timeout(&l->uv);
}

/* --- life cycle --- */

struct loop *loop_new(const struct clock *clock)
{
    struct loop *l = mem_alloc(sizeof *l);
    int error = -uv_loop_init(&l->uv);

    if (!error) {
        error = watch_set_init(&l->watches, &l->uv);
        if (error)
            uv_loop_close(&l->uv);
    }
    if (error) {
        mem_free(l);
        errno = error;
        return NULL;
    }
    l->clock = clock ? clock : &clock_system;
    l->fibers = fiber_pool_new();
    post_queue_init(&l->posts, &l->uv);
    uv_timer_init(&l->uv, &l->alarm);
    uv_unref((uv_handle_t *)&l->alarm);
    uv_prepare_init(&l->uv, &l->before_poll);
    l->before_poll.data = l;
    uv_prepare_start(&l->before_poll, loop_before_poll);
    uv_unref((uv_handle_t *)&l->before_poll);
    return l;
}

void loop_ending_start(struct loop_ending *x, struct loop *l, void (*fn)(void *arg), void *arg)
{
    *x = (struct loop_ending){.loop = l, .next = l->endings, .fn = fn, .arg = arg};
    l->endings = x;
}

void loop_ending_stop(struct loop_ending *x)
{
    struct loop_ending **at;

    if (!x->loop)
        return;
    for (at = &x->loop->endings; *at != x;)
        at = &(*at)->next;
    *at = x->next;
    x->loop = NULL;
}

void loop_free(struct loop *l)
{
    if (!l)
        return;
    BUG_IF(is_running(l) || l->root.error || l->n_external);
    while (l->endings) {
        struct loop_ending *x = l->endings;

        loop_ending_stop(x);
        x->fn(x->arg);
    }
    if (l->root.first_inner)
        BUG("a loop is freed before a group in it has ended");
    reaper_finish(l);
    while (post_queue_run(&l->posts))
        ; /* their arguments have no other owner, and one may post another */
    uv_close((uv_handle_t *)&l->posts.posted, NULL);
    uv_close((uv_handle_t *)&l->alarm, NULL);
    uv_close((uv_handle_t *)&l->before_poll, NULL);
    uv_close((uv_handle_t *)&l->watches.readable, NULL);
    uv_run(&l->uv, UV_RUN_NOWAIT);
    if (uv_loop_close(&l->uv) < 0)
        BUG("a libuv handle is still open on a loop that is freed");
    watch_set_done(&l->watches);
    timer_heap_done(&l->timers);
    fiber_pool_free(l->fibers);
    post_queue_done(&l->posts);
    mem_free(l);
}

/* --- running --- */

void loop_start(struct loop *l, task_fn fn, void *arg)
{
    struct group *lasting = l->root.first_inner;

    if (task_self())
        BUG("a task may not drive a loop");
    BUG_IF(is_running(l) || l->root.error);
    atomic_store(&l->is_cancelled, false);
    atomic_store(&l->last_pauses_ms, 0);
    group_init(&l->root, l, NULL, 0, 0);
    l->root.first_inner = lasting; /* groups outlive root tasks */
    group_spawn(&l->root, "root", fn, arg);
}

struct err *loop_result(struct loop *l)
{
    BUG_IF(is_running(l));
    return TAKE(l->root.error);
}

void loop_cancel(struct loop *l)
{
    if (!is_running(l))
        return;
    atomic_store(&l->is_cancelled, true);
    group_cancel(&l->root);
}

struct err *loop_run(struct loop *l, task_fn fn, void *arg)
{
    loop_start(l, fn, arg);
    while (loop_step(l, /* may_block= */ true))
        ;
    return loop_result(l);
}

struct err *loop_run_once(task_fn fn, void *arg)
{
    AUTO(loop) struct loop *l = loop_new(NULL);

    if (!l)
        return err_errno(ERR_INTERNAL, errno, "cannot make an event loop");
    return loop_run(l, fn, arg);
}
