/* parking.c - has the next supervisor started by a worker. */
#include "sandbox/parking.h"

#include "sys/work.h"

#include <fcntl.h>
#include <unistd.h>

struct parking {
    struct proc_parked *waiting;
    struct parking_way way; /* of the one that waits or is being started */
    bool is_expecting, is_starting;
    struct waker *taker; /* who waits for the start; NULL: nobody */
};

struct parking *parking_new(void)
{
    struct parking *p = mem_alloc(sizeof *p);

    p->way.how.policy_fd = -1;
    return p;
}

/* A descriptor of its own: the sandbox may replace the policy before the start has come to it. */
static void set_way(struct parking *p, const struct parking_way *way)
{
    if (p->way.how.policy_fd >= 0)
        close(p->way.how.policy_fd);
    p->way = *way;
    if (way->how.policy_fd >= 0)
        p->way.how.policy_fd = fcntl(way->how.policy_fd, F_DUPFD_CLOEXEC, 0);
}

void parking_free(struct parking *p)
{
    if (!p)
        return;
    BUG_IF(p->is_starting);
    set_way(p, &(struct parking_way){.how.policy_fd = -1});
    proc_parked_free(p->waiting);
    mem_free(p);
}

int parking_pid(const struct parking *p)
{
    return p->waiting ? proc_parked_pid(p->waiting) : 0;
}

bool parking_is_starting(const struct parking *p)
{
    return p->is_starting;
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
    struct parking_start start = {.how = p->way.how};

    task_shield_begin();
    err_ignore(work_run(parking_start_run, &start), "a shielded task is not cancelled");
    task_shield_end();
    p->is_starting = false;
    if (p->is_expecting || p->taker)
        p->waiting = start.started;
    else
        proc_parked_free(start.started);
    if (p->taker)
        waker_wake(p->taker);
    return NULL;
}

/* --- using --- */

static bool is_same_way(const struct parking_way *a, const struct parking_way *b)
{
    return a->how.has_namespaces == b->how.has_namespaces && a->how.user_fd == b->how.user_fd &&
           (a->how.policy_fd < 0 ||
            (a->how.network_fd == b->how.network_fd && a->walls == b->walls));
}

void parking_expect(struct parking *p, const struct parking_way *way, struct group *tasks)
{
    p->is_expecting = true;
    if (p->is_starting || p->waiting)
        return;
    set_way(p, way);
    p->is_starting = true;
    group_spawn(tasks, "parking", parking_task, p);
}

void parking_rest(struct parking *p)
{
    p->is_expecting = false;
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

struct err *parking_take(struct parking *p, const struct parking_way *way,
                         struct proc_parked **ret_parked)
{
    AUTO(proc_parked) struct proc_parked *waiting = NULL;

    *ret_parked = NULL;
    if (is_same_way(&p->way, way))
        TRY(await_start(p));
    waiting = TAKE(p->waiting);
    if (waiting && is_same_way(&p->way, way))
        *ret_parked = TAKE(waiting);
    return NULL;
}
