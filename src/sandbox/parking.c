/* parking.c - has the next supervisor started by a worker. */
#include "sandbox/parking.h"

#include "sys/work.h"

enum { MAX_EXPECTED = 16 };

struct parking {
    struct proc_parked *waiting;
    struct proc_parking how; /* of the one that waits or is being started */
    struct group *tasks;
    unsigned n_expected; /* commands, for which none waits yet */
    bool is_starting;
    struct waker *taker; /* who waits for the start; NULL: nobody */
};

struct parking *parking_new(void)
{
    return mem_alloc(sizeof(struct parking));
}

void parking_free(struct parking *p)
{
    if (!p)
        return;
    BUG_IF(p->is_starting);
    proc_parked_free(p->waiting);
    mem_free(p);
}

int parking_pid(const struct parking *p)
{
    return p->waiting ? proc_parked_pid(p->waiting) : 0;
}

/* --- starting --- */

struct parking_start {
    struct proc_parking how;
    struct proc_parked *started; /* NULL: it could not be */
};

/* A start that is not parked says what is wrong. */
static struct err *parking_start_run(void *arg)
{
    struct parking_start *s = arg;

    err_ignore(proc_park(&s->how, &s->started), "the command starts one itself");
    return NULL;
}

/* If it was not needed any more by the time it had started, it is not kept. */
static struct err *parking_task(void *arg)
{
    struct parking *p = arg;
    struct parking_start start = {.how = p->how};

    task_shield_begin();
    err_ignore(work_run(parking_start_run, &start), "a shielded task is not cancelled");
    task_shield_end();
    p->is_starting = false;
    if (p->n_expected > 0 || p->taker) {
        p->waiting = start.started;
        p->n_expected -= p->n_expected > 0;
    } else {
        proc_parked_free(start.started);
    }
    if (p->taker)
        waker_wake(p->taker);
    return NULL;
}

static void start_next(struct parking *p)
{
    if (p->n_expected == 0 || p->is_starting || p->waiting)
        return;
    p->is_starting = true;
    group_spawn(p->tasks, "parking", parking_task, p);
}

/* --- using --- */

static bool is_same_way(const struct proc_parking *a, const struct proc_parking *b)
{
    return a->has_namespaces == b->has_namespaces && a->user_fd == b->user_fd;
}

void parking_expect(struct parking *p, const struct proc_parking *how, struct group *tasks)
{
    if (!p->is_starting && !p->waiting)
        p->how = *how;
    p->tasks = tasks;
    p->n_expected = MIN(p->n_expected + 1, (unsigned)MAX_EXPECTED);
    start_next(p);
}

void parking_rest(struct parking *p)
{
    p->n_expected = 0;
    proc_parked_free(TAKE(p->waiting));
}

/* For the time of its start, one task waits at most; others start their own. */
static struct err *await_start(struct parking *p)
{
    struct waker waker;
    struct err *e = NULL;

    if (!p->is_starting || p->taker)
        return NULL;
    waker_init(&waker);
    p->taker = &waker;
    while (p->is_starting && !e)
        e = waker_park(&waker);
    p->taker = NULL;
    return e;
}

struct err *parking_take(struct parking *p, const struct proc_parking *how,
                         struct proc_parked **ret_parked)
{
    AUTO(proc_parked) struct proc_parked *waiting = NULL;

    *ret_parked = NULL;
    if (is_same_way(&p->how, how))
        TRY(await_start(p));
    waiting = TAKE(p->waiting);
    if (waiting && is_same_way(&p->how, how))
        *ret_parked = TAKE(waiting);
    p->how = *how;
    start_next(p);
    return NULL;
}
