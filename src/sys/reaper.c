/* reaper.c - children that are about to end, without a task that waits for them.
 *
 * A supervisor whose tree is gone still has its namespaces, and the kernel takes longer to remove
 * them than for everything else at the end of a command. The loop reaps it when it has ended, and
 * the end of the loop waits for it. */
#include "sys/scheduler.h"

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

struct leaving_child {
    struct loop_watch watch; /* of its pidfd */
    struct leaving_child *next;
    struct loop *loop;
};

/* Waits if necessary. */
static void bury(struct leaving_child *c)
{
    struct leaving_child **link = &c->loop->leaving;
    int pidfd = c->watch.fd;
    siginfo_t info;

    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    loop_watch_stop(&c->watch);
    while (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED) < 0 && errno == EINTR)
        continue;
    close(pidfd);
    mem_free(c);
}

static void child_on_ended(void *arg, int ready)
{
    bury(arg);
}

void reaper_add(struct loop *l, int take_pidfd)
{
    struct leaving_child *c = mem_alloc(sizeof *c);
    struct err *e = loop_watch_start(&c->watch, l, take_pidfd, TASK_FD_READ, child_on_ended, c);

    c->loop = l;
    c->next = l->leaving;
    l->leaving = c;
    if (!e)
        return;
    err_ignore(e, "it is waited for at once");
    bury(c);
}

void reaper_finish(struct loop *l)
{
    while (l->leaving)
        bury(l->leaving);
}
