/* proxy.h - the only way out for commands whose network is by rule: a filtering proxy in keel.
 *
 * Commands find it on the loopback of their own network (EXEC_PROXY_PORT), which leads nowhere
 * else. It takes CONNECT and plain HTTP, looks names up itself, asks the rules, and connects to
 * exactly the address that was checked. What a tunnel carries is not looked into.
 *
 * Its tasks run in a group of the session and end with that: at most PROXY_MAX_CONNECTIONS at once,
 * with fixed buffers; more wait until one has ended. Where the person's own environment names a
 * proxy (HTTPS_PROXY, HTTP_PROXY, NO_PROXY) the way leads through it, and it is the one that looks
 * names up: what is private as seen from here is refused all the same. */
#ifndef KEEL_SANDBOX_PROXY_PROXY_H
#define KEEL_SANDBOX_PROXY_PROXY_H

#include "sandbox/proxy/host_rules.h"
#include "sys/task.h"

#define PROXY_MAX_CONNECTIONS 64

struct lookup;
struct proxy;

/* All is borrowed for as long as the proxy lives. */
struct proxy_options {
    const struct net_rules *rules;
    const char *const *environment; /* with the person's own proxy; NULL: keel's own */
    struct group *group;            /* begun with GROUP_KEEP_GOING */
    /* A host was refused: for the person, once a host, and not for too many. May be NULL. */
    void (*on_refusal)(void *self, struct str host, const struct err *why);
    void *self;
    struct err *(*look_up)(struct lookup *l); /* NULL: lookup_run() */
};

struct proxy *proxy_new(const struct proxy_options *options) MUST_USE;
void proxy_free(struct proxy *p); /* when the group has ended */
DEFINE_AUTO_PTR(proxy, proxy_free)

/* Serves those who connect to this socket, which does not block. Does not wait. */
void proxy_listen(struct proxy *p, int take_fd);

/* What tells programs of it: "HTTPS_PROXY=http://127.0.0.1:3128", ...; ends with NULL. The loopback
 * is the sandbox's own and reached without it, but for names of it that the rules allow: these mean
 * the machine's. In `a`. */
const char *const *proxy_variables(const struct proxy *p, struct arena *a);
const struct net_rules *proxy_rules(const struct proxy *p);

#endif
