/* watch.c - the fds that somebody waits for: an epoll set of its own inside libuv's.
 *
 * uv_poll_t does not fit: it makes the file non-blocking, which a terminal shares with the shell
 * that started keel; it allows one handle per fd, though one task may read and another write; and
 * the kernel learns of it only at the next turn of the loop, which a host that polls loop_poll_fd()
 * may never reach. */
#include "sys/scheduler.h"

#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

static unsigned to_epoll(int events)
{
    return (events & TASK_FD_READ ? (unsigned)EPOLLIN : 0) |
           (events & TASK_FD_WRITE ? (unsigned)EPOLLOUT : 0);
}

/* A hang-up or an error is for all: the next read or write reports it. */
static int from_epoll(unsigned events)
{
    int ready = 0;

    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
        ready |= TASK_FD_READ;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        ready |= TASK_FD_WRITE;
    return ready;
}

static int wanted_events(const struct watch_set *s, int fd)
{
    struct loop_watch **list = (size_t)fd < s->n_by_fd ? &s->by_fd[fd] : NULL;
    int events = 0;

    for (const struct loop_watch *w = list ? *list : NULL; w; w = w->next)
        events |= w->events;
    return events;
}

static int tell_kernel(const struct watch_set *s, int fd, int old_events, int events)
{
    struct epoll_event e = {.events = to_epoll(events), .data.fd = fd};
    int operation = old_events == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;

    if (events == old_events)
        return 0;
    return epoll_ctl(s->epoll_fd, operation, fd, &e) < 0 ? errno : 0;
}

static void link_watch(struct watch_set *s, struct loop_watch *w)
{
    size_t need = (size_t)w->fd + 1;

    if (need > s->n_by_fd) {
        size_t n = MAX(MAX(s->n_by_fd * 2, (size_t)64), need);

        s->by_fd = mem_resize(s->by_fd, n * sizeof *s->by_fd);
        memset(s->by_fd + s->n_by_fd, 0, (n - s->n_by_fd) * sizeof *s->by_fd);
        s->n_by_fd = n;
    }
    w->next = s->by_fd[w->fd];
    s->by_fd[w->fd] = w;
}

int watch_start(struct loop_watch *w, struct loop *l)
{
    struct watch_set *s = &l->watches;
    int old_events, error;

    BUG_IF(w->loop || to_epoll(w->events) == 0);
    if (w->fd < 0)
        return EBADF;
    old_events = wanted_events(s, w->fd);
    error = tell_kernel(s, w->fd, old_events, old_events | w->events);
    if (error)
        return error;
    link_watch(s, w);
    w->loop = l;
    w->round = s->round; /* the events being reported happened before it began */
    return 0;
}

struct err *loop_watch_start(struct loop_watch *w, struct loop *l, int fd, int events,
                             void (*fn)(void *arg, int ready), void *arg)
{
    int error;

    *w = (struct loop_watch){.fd = fd, .events = events, .fn = fn, .arg = arg};
    error = watch_start(w, l);
    if (error)
        return err_errno(ERR_INTERNAL, error, "cannot wait for file descriptor %d", fd);
    return NULL;
}

void loop_watch_stop(struct loop_watch *w)
{
    struct loop_watch **link;
    struct watch_set *s;
    int old_events;

    if (!w->loop)
        return;
    s = &w->loop->watches;
    w->loop = NULL;
    old_events = wanted_events(s, w->fd);
    link = &s->by_fd[w->fd];
    while (*link != w)
        link = &(*link)->next;
    *link = w->next;
    /* Fails if the fd was closed before: the kernel has then forgotten it. */
    tell_kernel(s, w->fd, old_events, wanted_events(s, w->fd));
}

/* Its function may start and stop any watch, so the search begins anew after each. */
static void report(struct watch_set *s, int fd, int ready)
{
    struct loop_watch *w = s->by_fd[fd];

    while (w) {
        if (w->round == s->round || !(w->events & ready)) {
            w = w->next;
            continue;
        }
        w->round = s->round;
        w->fn(w->arg, w->events & ready);
        w = s->by_fd[fd];
    }
}

static void watch_set_on_readable(uv_poll_t *handle, int status, int events)
{
    struct watch_set *s = handle->data;
    struct epoll_event ready[64];
    int n = epoll_wait(s->epoll_fd, ready, ARRAY_LEN(ready), 0);

    s->round++;
    for (int i = 0; i < n; i++)
        report(s, ready[i].data.fd, from_epoll(ready[i].events));
}

int watch_set_init(struct watch_set *s, uv_loop_t *uv)
{
    int error;

    s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->epoll_fd < 0)
        return errno;
    error = -uv_poll_init(uv, &s->readable, s->epoll_fd);
    if (error) {
        close(s->epoll_fd);
        return error;
    }
    s->readable.data = s;
    BUG_IF(uv_poll_start(&s->readable, UV_READABLE, watch_set_on_readable) < 0);
    uv_unref((uv_handle_t *)&s->readable);
    return 0;
}

void watch_set_done(struct watch_set *s)
{
    close(s->epoll_fd);
    mem_free(s->by_fd);
}
