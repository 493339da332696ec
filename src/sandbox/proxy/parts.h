/* parts.h - what the files behind proxy.h know of each other.
 *
 * proxy.c accepts, connection.c serves one connection, upstream.c finds and opens the way for it.
 * Only they include this. */
#ifndef KEEL_SANDBOX_PROXY_PARTS_H
#define KEEL_SANDBOX_PROXY_PARTS_H

#include "base/secrets.h"
#include "net/proxy.h"
#include "sandbox/proxy/proxy.h"
#include "sandbox/proxy/request.h"

enum { PROXY_MAX_TOLD = 64 };

struct proxy {
    struct proxy_options options;
    struct proxy_settings own; /* the person's */
    struct arena arena;
    struct chan *slots;   /* an item for each connection that may be taken */
    struct chan *lookups; /* the same for names that are looked up: that keeps a worker busy */
    struct str told[PROXY_MAX_TOLD]; /* hosts that were refused and told */
    size_t n_told;
};

/* Waits for an item, or puts one back. */
MUST_USE struct err *proxy_acquire(struct chan *items);
void proxy_release(struct chan *items);

/* Tells the person, if that was not done before. */
void proxy_tell(struct proxy *p, struct str host, const struct err *why);

/* Serves a connection in a task of its own, and gives its slot back. */
void proxy_connection_start(struct proxy *p, int take_fd);

/* --- sockets that do not block --- */

/* *ret_n is 0 at the end. ERR_NETWORK: it broke off. */
MUST_USE struct err *socket_read(int fd, char *buffer, size_t size, size_t *ret_n);
MUST_USE struct err *socket_write(int fd, struct str bytes);

/* --- the way to the server --- */

struct upstream {
    int fd;
    bool is_proxy;            /* a further one, which must be told where the request goes */
    struct str authorization; /* for it */
    struct secrets *secrets;  /* to hide if it quotes them; NULL: none */
    struct str early;         /* bytes of the server that came with the further proxy's answer */
};

/* Asks the rules, looks up, checks and connects; a tunnel is open then. What it gives lives in `a`.
 * ERR_TOOL_DENIED, ERR_NETWORK or ERR_TIMEOUT. */
MUST_USE struct err *upstream_open(struct proxy *p, struct arena *a, const struct proxy_request *r,
                                   struct upstream *ret_upstream);
void upstream_close(struct upstream *u);

#endif
