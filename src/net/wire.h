/* wire.h - bytes to and from a peer: a socket, or TLS over another wire.
 *
 * Reading and writing never wait. When nothing can be moved now, *ret_n is 0 and `wants` is what
 * the socket at the bottom must be ready for (TASK_FD_READ, TASK_FD_WRITE): the task waits with
 * socket_wait() and tries again. So foreign code (OpenSSL) never runs on a stack that waits. A wire
 * owns the wire below it. */
#ifndef KEEL_NET_WIRE_H
#define KEEL_NET_WIRE_H

#include "base/err.h"
#include "sys/loop.h"

#include <sys/uio.h>

struct wire;

/* All members are required. */
struct wire_ops {
    /* With *ret_n == 0 and `wants` == 0 the peer has ended its side. */
    struct err *(*read)(struct wire *w, char *bytes, size_t size, size_t *ret_n)MUST_USE;
    struct err *(*write)(struct wire *w, const struct iovec *parts, int n_parts,
                         size_t *ret_n)MUST_USE;
    void (*free)(struct wire *w);
};

struct wire {
    const struct wire_ops *ops;
    int wants;
    bool was_cut; /* it ended without the announcement that TLS requires */
};

void wire_free(struct wire *w); /* closes; accepts NULL */

/* --- sockets --- */

/* The loop watches the descriptor from the first wait until it is closed: a stream of small pieces
 * needs no calls of the kernel but those that read them. */
struct socket {
    struct wire wire; /* first */
    int fd;
    struct loop *loop;
    char *peer; /* for messages: "example.com:443", "the proxy http://..." */
    uint64_t n_received;
    /* Called when bytes or the end arrive and no task waits. NULL: they are left for the next
     * task. */
    void (*on_unasked)(void *arg);
    void *on_unasked_arg;

    struct loop_watch watch; /* the rest is private */
    struct waker *waker;
    bool is_readable;
};

/* For a connected, non-blocking socket. wire_free() frees the wire. */
struct socket *socket_new(int take_fd, const char *peer) MUST_USE;
/* Waits until it is ready for one of `events`. */
MUST_USE struct err *socket_wait(struct socket *s, int events);
/* Watches it without a task that waits, for on_unasked. */
MUST_USE struct err *socket_watch(struct socket *s);
/* Is there neither a byte nor an end to read? */
bool socket_is_silent(const struct socket *s);

/* --- the same for tasks: `top` is above `s`, and these wait --- */

MUST_USE struct err *wire_read(struct wire *top, struct socket *s, char *bytes, size_t size,
                               size_t *ret_n); /* 0: the end */
MUST_USE struct err *wire_write_all(struct wire *top, struct socket *s, struct str bytes);

#endif
