/* upstream.c - from a request to an open connection, by way of the rules. */
#include "sandbox/proxy/parts.h"

#include "net/http1_head.h"
#include "net/lookup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    OPEN_MS = 60000,    /* all of it */
    CONNECT_MS = 15000, /* one address */
};

/* --- sockets --- */

static struct err *broke_off(void)
{
    return err_errno(ERR_NETWORK, errno, "the connection was lost");
}

static bool is_not_yet(ssize_t n)
{
    return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Waits even when there is something: a peer that never stops must neither keep others from their
 * turn nor outrun the clock. */
struct err *socket_read(int fd, char *buffer, size_t size, size_t *ret_n)
{
    ssize_t n;

    do {
        TRY(task_wait_fd(fd, TASK_FD_READ, NULL));
        n = recv(fd, buffer, size, 0);
    } while (is_not_yet(n));
    if (n < 0)
        return broke_off();
    *ret_n = (size_t)n;
    return NULL;
}

struct err *socket_write(int fd, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);

        if (is_not_yet(n))
            TRY(task_wait_fd(fd, TASK_FD_WRITE, NULL));
        else if (n < 0)
            return broke_off();
        else
            bytes = str_skip(bytes, (size_t)n);
    }
    return NULL;
}

/* --- connecting --- */

struct peer {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t n_bytes;
};

static struct peer peer_of(const char *address, int port)
{
    struct peer p = {.n_bytes = sizeof p.address.v6};

    if (inet_pton(AF_INET6, address, &p.address.v6.sin6_addr) == 1) {
        p.address.v6.sin6_family = AF_INET6;
        p.address.v6.sin6_port = htons((uint16_t)port);
        return p;
    }
    p.n_bytes = sizeof p.address.v4;
    p.address.v4.sin_family = AF_INET;
    p.address.v4.sin_port = htons((uint16_t)port);
    BUG_IF(inet_pton(AF_INET, address, &p.address.v4.sin_addr) != 1);
    return p;
}

static struct err *await_connected(int fd, const struct peer *p, const char *address)
{
    socklen_t n_bytes = sizeof(int);
    int error = 0;

    if (connect(fd, &p->address.any, p->n_bytes) < 0) {
        error = errno;
        if (error == EINPROGRESS) {
            TRY(task_wait_fd(fd, TASK_FD_WRITE, NULL));
            getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n_bytes);
        }
    }
    return error ? err_errno(ERR_NETWORK, error, "cannot connect to %s", address) : NULL;
}

static struct err *connect_one(const char *address, int port, int *ret_fd)
{
    AUTO(deadline) struct deadline deadline;
    struct peer p = peer_of(address, port);
    int fd = socket(p.address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int on = 1;
    struct err *e;

    deadline_begin(&deadline, CONNECT_MS, "connecting");
    if (fd < 0)
        return err_errno(ERR_NETWORK, errno, "cannot connect to %s", address);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    e = await_connected(fd, &p, address);
    if (e)
        close(fd);
    else
        *ret_fd = fd;
    return e;
}

/* The first address that answers. */
static struct err *connect_any(const struct lookup *l, int port, int *ret_fd)
{
    struct err *e = NULL;

    for (size_t i = 0; i < l->n; i++) {
        err_ignore(e, "the next address may do");
        e = connect_one(l->addresses[i], port, ret_fd);
        if (!e || err_is(e, ERR_CANCELLED))
            break;
    }
    return e;
}

/* --- names --- */

/* An address has itself. */
static struct err *look_up(struct proxy *p, struct str host, struct lookup *ret)
{
    struct err *e;

    *ret = (struct lookup){.host = host.p};
    if (url_host_is_address(host)) {
        snprintf(ret->addresses[ret->n++], sizeof ret->addresses[0], "%s", host.p);
        return NULL;
    }
    TRY(proxy_acquire(p->lookups));
    e = p->options.look_up ? p->options.look_up(ret) : lookup_run(ret);
    proxy_release(p->lookups);
    return e;
}

/* What cannot be found from here is for the person's own proxy to find, if there is one. */
static struct err *look_up_allowed(struct proxy *p, const struct url *u, bool has_own_proxy,
                                   struct lookup *ret)
{
    const struct net_rules *rules = p->options.rules;

    TRY(net_rules_check(rules, u));
    TRY(look_up(p, u->host, ret));
    if (ret->n == 0 && url_host_is_loopback(u->host))
        TRY(net_rules_check_address(rules, u, u->host, /* is_public= */ false));
    if (ret->n == 0 && !has_own_proxy)
        return lookup_not_found(ret);
    for (size_t i = 0; i < ret->n; i++)
        TRY(net_rules_check_address(rules, u, str_of(ret->addresses[i]),
                                    lookup_is_public(ret->addresses[i])));
    return NULL;
}

/* --- the person's own proxy --- */

static struct err *parse_own(struct arena *a, const char *text, struct url *ret)
{
    if (proxy_parse(a, text, ret) && str_is(ret->scheme, "http"))
        return NULL;
    return err_new(
        ERR_NETWORK,
        "the proxy in keel's environment is not of the form http://host:port, which commands need");
}

/* Some proxies quote a request in the page that says why it failed. */
static struct secrets *find_secrets(struct arena *a, const struct url *own)
{
    struct secret_value values[PROXY_N_SECRETS] = {0};
    struct str found[PROXY_N_SECRETS];
    size_t n = proxy_secrets(a, own, found);

    for (size_t i = 0; i < n; i++)
        values[i].value = found[i];
    return secrets_new(values, n);
}

static struct err *write_connect(const struct upstream *u, const struct url *target)
{
    AUTO(strbuf) struct strbuf head = {0};

    strbuf_add(&head, S("CONNECT "));
    proxy_add_authority(&head, target);
    strbuf_add(&head, S(" HTTP/1.1\r\nHost: "));
    proxy_add_authority(&head, target);
    if (u->authorization.n)
        strbuf_addf(&head, "\r\nProxy-Authorization: %" STR_FMT, STR_ARG(u->authorization));
    strbuf_add(&head, S("\r\n\r\n"));
    return socket_write(u->fd, strbuf_str(&head));
}

static struct err *check_answer(struct str head)
{
    bool is_http = str_starts(head, S("HTTP/1.1 ")) || str_starts(head, S("HTTP/1.0 "));
    int64_t status;

    if (!is_http || !str_to_int64(str_slice(head, 9, 3), &status))
        return err_new(ERR_NETWORK, "the proxy in keel's environment did not answer with HTTP");
    if (status / 100 == 2)
        return NULL;
    return err_new(ERR_NETWORK, "the proxy in keel's environment answered with status %d",
                   (int)status);
}

static struct err *read_answer(struct arena *a, struct upstream *u)
{
    char *buffer = arena_alloc(a, PROXY_HEAD_MAX_BYTES);
    struct str all = {buffer, 0};
    size_t n, n_head = 0;

    while (n_head == 0) {
        if (all.n == PROXY_HEAD_MAX_BYTES)
            return err_new(ERR_NETWORK, "the reply of the proxy in keel's environment is too long");
        TRY(socket_read(u->fd, buffer + all.n, PROXY_HEAD_MAX_BYTES - all.n, &n));
        if (n == 0)
            return err_new(ERR_NETWORK, "the proxy in keel's environment closed the connection");
        all.n += n;
        n_head = proxy_head_length(all, all.n - n);
    }
    u->early = str_skip(all, n_head);
    return check_answer(str_slice(all, 0, n_head));
}

static struct err *open_by_own(struct proxy *p, struct arena *a, const char *own,
                               const struct proxy_request *r, struct upstream *u)
{
    struct lookup l;
    struct url url;

    TRY(parse_own(a, own, &url));
    TRY(look_up(p, url.host, &l));
    if (l.n == 0)
        return lookup_not_found(&l);
    TRY(connect_any(&l, url.port, &u->fd));
    u->is_proxy = true;
    u->authorization = http1_basic(a, &url);
    if (!r->is_connect) {
        u->secrets = find_secrets(a, &url);
        return NULL;
    }
    TRY(write_connect(u, &r->target));
    return read_answer(a, u);
}

/* --- all of it --- */

/* NULL: there is none for this target. The loopback is this machine's, whatever a proxy makes of
 * its name. */
static const char *find_own(const struct proxy *p, const struct proxy_request *r)
{
    struct url u = r->target;

    if (url_host_is_loopback(u.host))
        return NULL;
    u.scheme = r->is_connect ? S("https") : S("http");
    return proxy_choose(&p->own, &u);
}

static struct err *open_any(struct proxy *p, struct arena *a, const struct proxy_request *r,
                            struct upstream *u)
{
    const char *own = find_own(p, r);
    struct lookup l;

    TRY(look_up_allowed(p, &r->target, own, &l));
    return own ? open_by_own(p, a, own, r, u) : connect_any(&l, r->target.port, &u->fd);
}

void upstream_close(struct upstream *u)
{
    if (u->fd >= 0)
        close(u->fd);
    secrets_unref(u->secrets);
}

struct err *upstream_open(struct proxy *p, struct arena *a, const struct proxy_request *r,
                          struct upstream *ret_upstream)
{
    AUTO(deadline) struct deadline deadline;
    struct upstream u = {.fd = -1};
    struct err *e;

    deadline_begin(&deadline, OPEN_MS, "connecting");
    e = open_any(p, a, r, &u);
    if (e)
        upstream_close(&u);
    else
        *ret_upstream = u;
    return e;
}
