/* wire.c - sockets as wires, and waits for them. */
#include "net/wire.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

void wire_free(struct wire *w)
{
    if (w)
        w->ops->free(w);
}

/* --- moving bytes --- */

static struct err *broke_off(const struct socket *s, int error)
{
    return err_errno(ERR_NETWORK, error, "lost the connection to %s", s->peer);
}

/* Waits for every piece, even when there is more: a peer that never stops must not keep others from
 * their turn or outrun the clock. */
static struct err *socket_read_some(struct wire *w, char *bytes, size_t size, size_t *ret_n)
{
    struct socket *s = (struct socket *)w;
    ssize_t n;

    *ret_n = 0;
    w->wants = TASK_FD_READ;
    if (!s->is_readable)
        return NULL;
    s->is_readable = false;
    n = recv(s->fd, bytes, size, MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? NULL : broke_off(s, errno);
    w->wants = 0;
    s->n_received += (uint64_t)n;
    *ret_n = (size_t)n;
    return NULL;
}

static struct err *socket_write_some(struct wire *w, const struct iovec *parts, int n_parts,
                                     size_t *ret_n)
{
    struct socket *s = (struct socket *)w;
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)n_parts};
    ssize_t n = sendmsg(s->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

    *ret_n = 0;
    w->wants = TASK_FD_WRITE;
    if (n < 0)
        return errno == EAGAIN || errno == EINTR ? NULL : broke_off(s, errno);
    w->wants = 0;
    *ret_n = (size_t)n;
    return NULL;
}

static void socket_free(struct wire *w)
{
    struct socket *s = (struct socket *)w;

    loop_watch_stop(&s->watch);
    close(s->fd);
    mem_free(s->peer);
    mem_free(s);
}

struct socket *socket_new(int take_fd, const char *peer)
{
    static const struct wire_ops ops = {
        .read = socket_read_some, .write = socket_write_some, .free = socket_free};
    struct socket *s = mem_alloc(sizeof *s);

    s->wire.ops = &ops;
    s->fd = take_fd;
    s->loop = task_loop();
    s->peer = mem_strdup(peer);
    return s;
}

/* --- waiting --- */

/* Stops the watch when no task waits: otherwise the loop would report the event for ever. */
static void on_socket_ready(void *arg, int ready)
{
    struct socket *s = arg;

    if (ready & TASK_FD_READ)
        s->is_readable = true;
    if (s->waker) {
        waker_wake(s->waker);
        return;
    }
    loop_watch_stop(&s->watch);
    if (s->on_unasked)
        s->on_unasked(s->on_unasked_arg);
}

static struct err *watch(struct socket *s, int events)
{
    if (s->watch.loop && s->watch.events == events)
        return NULL;
    loop_watch_stop(&s->watch);
    return loop_watch_start(&s->watch, s->loop, s->fd, events, on_socket_ready, s);
}

struct err *socket_watch(struct socket *s)
{
    return watch(s, TASK_FD_READ);
}

struct err *socket_wait(struct socket *s, int events)
{
    struct waker waker;
    struct err *e;

    TRY(watch(s, events));
    waker_init(&waker);
    s->waker = &waker;
    loop_external_begin(s->loop);
    e = waker_park(&waker);
    loop_external_end(s->loop);
    s->waker = NULL;
    return e;
}

bool socket_is_silent(const struct socket *s)
{
    char byte;

    return !s->is_readable && recv(s->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* --- for tasks --- */

struct err *wire_read(struct wire *top, struct socket *s, char *bytes, size_t size, size_t *ret_n)
{
    for (;;) {
        TRY(top->ops->read(top, bytes, size, ret_n));
        if (*ret_n || !top->wants)
            return NULL;
        TRY(socket_wait(s, top->wants));
    }
}

struct err *wire_write_all(struct wire *top, struct socket *s, struct str bytes)
{
    do {
        struct iovec part = {.iov_base = (char *)bytes.p, .iov_len = bytes.n};
        size_t n;

        TRY(top->ops->write(top, &part, 1, &n));
        bytes = str_skip(bytes, n);
        if (top->wants)
            TRY(socket_wait(s, top->wants));
    } while (bytes.n || top->wants);
    return NULL;
}
