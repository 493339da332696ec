/* group.c - sets of child tasks: spawn, bound, cancel, join. */
#include "sys/scheduler.h"

void group_init(struct group *g, struct loop *l, struct task *owner, unsigned max_running,
                int flags)
{
    *g = (struct group){
        .loop = l,
        .owner = owner,
        .max_running = max_running,
        .flags = flags,
    };
}

void group_begin(struct group *g, unsigned max_running, int flags)
{
    struct task *t = task_self();

    group_init(g, task_loop(), t, max_running, flags);
    g->outer = t->innermost_group;
    g->n_shields = t->n_shields;
    g->deadline = task_find_deadline(t);
    g->cancelled = task_is_cancelled(t);
    t->innermost_group = g;
}

void group_begin_in(struct group *g, struct group *outer)
{
    struct group *in = outer ? outer : &task_loop()->root;

    group_init(g, in->loop, NULL, 0, GROUP_KEEP_GOING);
    g->outer = in;
    g->cancelled = in->cancelled;
    g->beside = in->first_inner;
    g->back = &in->first_inner;
    if (g->beside)
        g->beside->back = &g->beside;
    in->first_inner = g;
}

/* --- children --- */

static void unlink_child(struct group *g, struct task *t)
{
    if (t->previous)
        t->previous->next = t->next;
    else
        g->first_child = t->next;
    if (t->next)
        t->next->previous = t->previous;
    else
        g->last_child = t->previous;
    g->n_live--;
}

/* Children start in order, so the waiting ones are the end of the list. */
static void start_waiting(struct group *g)
{
    while (g->first_waiting && (g->max_running == 0 || g->n_running < g->max_running)) {
        struct task *t = g->first_waiting;

        g->first_waiting = t->next;
        g->n_running++;
        task_make_ready(t);
    }
}

void group_spawn(struct group *g, const char *name, task_fn fn, void *arg)
{
    struct task *t = task_new(g, name, fn, arg);

    t->index = g->n_spawned++;
    t->previous = g->last_child;
    if (g->last_child)
        g->last_child->next = t;
    else
        g->first_child = t;
    g->last_child = t;
    g->n_live++;
    if (!g->first_waiting)
        g->first_waiting = t;
    start_waiting(g);
}

/* Being cancelled is usually the consequence of another child's error, which says more. */
static bool tells_more(const struct group *g, const struct err *e, size_t index)
{
    bool is_cancel = err_is(e, ERR_CANCELLED), was_cancel = err_is(g->error, ERR_CANCELLED);

    if (!g->error || is_cancel != was_cancel)
        return !is_cancel || !g->error;
    return index < g->error_index;
}

static void keep_error(struct group *g, struct err *take_error, size_t index)
{
    if (tells_more(g, take_error, index)) {
        err_free(g->error);
        g->error = take_error;
        g->error_index = index;
    } else {
        err_free(take_error);
    }
}

void group_child_ended(struct group *g, struct task *child)
{
    unlink_child(g, child);
    g->n_running--;
    if (child->result) {
        keep_error(g, TAKE(child->result), child->index);
        if (!(g->flags & GROUP_KEEP_GOING))
            group_cancel(g);
    }
    start_waiting(g);
    if (g->n_live == 0 && g->joiner)
        waker_wake(g->joiner);
}

/* --- cancel --- */

static void cancel_later(struct group *g, struct group **todo)
{
    g->next_to_cancel = *todo;
    *todo = g;
}

/* Goes down the tree without recursion: tasks may be nested deeper than their stack allows. Groups
 * that were begun inside a shield are not affected. */
void group_cancel(struct group *g)
{
    struct group *todo = g;

    g->next_to_cancel = NULL;
    while (todo) {
        struct group *now = todo;

        todo = now->next_to_cancel;
        if (now->cancelled)
            continue;
        now->cancelled = true;
        for (struct group *inner = now->first_inner; inner; inner = inner->beside)
            cancel_later(inner, &todo);
        for (struct task *t = now->first_child; t; t = t->next) {
            t->cancelled = true;
            if (t->on_cancel)
                t->on_cancel(t->on_cancel_arg);
            if (t->parked_on && t->n_shields == 0)
                task_make_ready(t);
            for (struct group *inner = t->innermost_group; inner; inner = inner->outer)
                if (inner->n_shields == 0)
                    cancel_later(inner, &todo);
        }
    }
}

/* --- join --- */

/* Waits until no child is left, or the owner is interrupted. */
static struct err *wait_for_children(struct group *g)
{
    struct waker waker;
    struct err *e = NULL;

    BUG_IF(g->joiner);
    waker_init(&waker);
    g->joiner = &waker;
    while (g->n_live > 0 && !e) {
        waker.woken = false;
        e = task_park(&waker, "waits for its children");
    }
    g->joiner = NULL;
    return e;
}

static struct err *choose_error(struct group *g, struct err *take_own)
{
    AUTO(err) struct err *child = TAKE(g->error);
    AUTO(err) struct err *own = take_own;

    if (!own || (child && !err_is(child, ERR_CANCELLED)))
        return TAKE(child);
    return TAKE(own);
}

struct err *group_join(struct group *g)
{
    struct err *own = task_check();

    BUG_IF(g->owner && g->owner != task_self());
    if (!own)
        own = wait_for_children(g);
    return choose_error(g, own);
}

/* For a group that belongs to no task. */
static void unlink_group(struct group *g)
{
    *g->back = g->beside;
    if (g->beside)
        g->beside->back = g->back;
    g->back = NULL;
}

struct err *group_end(struct group *g)
{
    struct task *t = task_self();
    struct err *own = NULL;

    BUG_IF(!g->back && (g->owner != t || t->innermost_group != g));
    if (!g->back || g->n_live > 0)
        own = task_check();
    if (!own && g->n_live > 0)
        own = wait_for_children(g);
    if (g->n_live > 0) {
        /* Children under the same deadline end by themselves and say what took too long. */
        if (!(err_is(own, ERR_TIMEOUT) && g->deadline && g->deadline->expired))
            group_cancel(g);
        task_shield_begin();
        err_ignore(wait_for_children(g), "nothing interrupts a shielded wait");
        task_shield_end();
    }
    if (g->first_inner)
        BUG("a group ended before one in it");
    if (g->back)
        unlink_group(g);
    else
        t->innermost_group = g->outer;
    g->owner = NULL;
    return choose_error(g, own);
}
