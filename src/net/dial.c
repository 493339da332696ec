/* dial.c - finds addresses and tries to connect to them. */
#include "net/http1_client.h"

#include "net/url.h"
#include "sys/loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define NEXT_ATTEMPT_MS 250
#define KEEP_ALIVE_S 60
#define KEEP_ALIVE_STEP_S 30

struct dial_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    };
    socklen_t n_bytes;
};

struct dial_attempt {
    int fd; /* -1: it failed */
    struct loop_watch watch;
    struct waker *waker; /* of all */
};

struct attempts {
    struct dial_address addresses[LOOKUP_MAX_ADDRESSES];
    struct dial_attempt tries[LOOKUP_MAX_ADDRESSES];
    size_t n_addresses, n_begun;
    struct waker waker;
    int error; /* the most informative one */
};

/* --- addresses --- */

static bool add_address(struct attempts *a, struct str text, int port)
{
    struct dial_address *address = &a->addresses[a->n_addresses];
    char copy[INET6_ADDRSTRLEN];

    if (str_starts(text, S("[")) && str_ends(text, S("]")))
        text = str_slice(text, 1, text.n - 2);
    if (text.n >= sizeof copy || a->n_addresses == LOOKUP_MAX_ADDRESSES)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    if (inet_pton(AF_INET6, copy, &address->v6.sin6_addr) == 1) {
        address->v6.sin6_family = AF_INET6;
        address->v6.sin6_port = htons((uint16_t)port);
        address->n_bytes = sizeof address->v6;
    } else if (inet_pton(AF_INET, copy, &address->v4.sin_addr) == 1) {
        address->v4.sin_family = AF_INET;
        address->v4.sin_port = htons((uint16_t)port);
        address->n_bytes = sizeof address->v4;
    } else {
        return false;
    }
    a->n_addresses++;
    return true;
}

/* The resolver puts the better family first. After that the families take turns. */
static void interleave(struct attempts *a)
{
    for (size_t i = 1; i + 1 < a->n_addresses; i++) {
        int before = a->addresses[i - 1].any.sa_family;
        size_t other = i;

        while (other < a->n_addresses && a->addresses[other].any.sa_family == before)
            other++;
        if (other == a->n_addresses)
            return;
        if (other != i) {
            struct dial_address moved = a->addresses[other];

            memmove(&a->addresses[i + 1], &a->addresses[i], (other - i) * sizeof moved);
            a->addresses[i] = moved;
        }
    }
}

static struct err *unknown_name(const struct dial *d, const struct lookup *l)
{
    bool may_change = l->error == EAI_AGAIN || l->error == EAI_SYSTEM;
    struct err *e;

    if (d->is_proxy)
        e = err_hint(err_new(ERR_NETWORK, "cannot resolve the host name of %s", d->peer),
                     "check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY");
    else
        e = err_hint(err_new(ERR_NETWORK, "cannot resolve the host name %s", d->host),
                     "check the host name, the network, and whether HTTPS_PROXY must be set");
    return may_change ? e : err_final(e);
}

static struct err *look_up(const struct dial *d, struct name_cache *names, struct attempts *a)
{
    struct lookup l;

    TRY(name_cache_find(names, d->host, &l));
    if (l.n == 0)
        return unknown_name(d, &l);
    for (size_t i = 0; i < l.n; i++)
        add_address(a, str_of(l.addresses[i]), d->port);
    return NULL;
}

static struct err *add_unix(const struct dial *d, struct attempts *a)
{
    struct dial_address *address = &a->addresses[0];
    size_t n = strlen(d->unix_socket);

    if (n >= sizeof address->local.sun_path)
        return err_errno(ERR_NETWORK, ENAMETOOLONG, "cannot connect to %s", d->peer);
    address->local.sun_family = AF_UNIX;
    memcpy(address->local.sun_path, d->unix_socket, n + 1);
    address->n_bytes = sizeof address->local;
    a->n_addresses = 1;
    return NULL;
}

/* localhost is this machine, whatever a resolver says (RFC 6761). */
static struct err *find_addresses(const struct dial *d, struct name_cache *names,
                                  struct attempts *a)
{
    struct str list = str_of(d->addresses), item;

    if (d->unix_socket)
        return add_unix(d, a);
    while (str_split(&list, ',', &item))
        add_address(a, item, d->port);
    if (d->addresses && !a->n_addresses)
        return err_new(ERR_VALIDATION, "\"%s\" is not an address of %s", d->addresses, d->peer);
    if (!a->n_addresses && !add_address(a, str_of(d->host), d->port)) {
        if (url_host_is_loopback(str_of(d->host))) {
            add_address(a, S("127.0.0.1"), d->port);
            add_address(a, S("::1"), d->port);
        } else {
            TRY(look_up(d, names, a));
        }
    }
    interleave(a);
    return NULL;
}

/* --- attempts --- */

static void attempt_ready(void *arg, int ready)
{
    struct dial_attempt *attempt = arg;

    loop_watch_stop(&attempt->watch);
    waker_wake(attempt->waker);
}

static void set_options(int fd, int family)
{
    int on = 1, idle_s = KEEP_ALIVE_S, step_s = KEEP_ALIVE_STEP_S;

    if (family == AF_UNIX)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &step_s, sizeof step_s);
}

/* A missing address family says less than the failure of an address of the other one. */
static bool says_little(int error)
{
    return error == 0 || error == EAFNOSUPPORT || error == ENETUNREACH || error == EADDRNOTAVAIL;
}

static void attempt_fail(struct attempts *a, struct dial_attempt *attempt, int error)
{
    if (says_little(a->error))
        a->error = error;
    loop_watch_stop(&attempt->watch);
    if (attempt->fd >= 0)
        close(attempt->fd);
    attempt->fd = -1;
}

/* *ret_is_connected: connected at once. */
static struct err *begin_attempt(struct attempts *a, bool *ret_is_connected)
{
    const struct dial_address *address = &a->addresses[a->n_begun];
    struct dial_attempt *attempt = &a->tries[a->n_begun++];
    int family = address->any.sa_family;

    *ret_is_connected = false;
    attempt->waker = &a->waker;
    attempt->fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (attempt->fd < 0) {
        attempt_fail(a, attempt, errno);
        return NULL;
    }
    set_options(attempt->fd, family);
    if (connect(attempt->fd, &address->any, address->n_bytes) == 0) {
        *ret_is_connected = true;
    } else if (errno != EINPROGRESS) {
        attempt_fail(a, attempt, errno);
    } else {
        return loop_watch_start(&attempt->watch, task_loop(), attempt->fd, TASK_FD_WRITE,
                                attempt_ready, attempt);
    }
    return NULL;
}

/* Finds the attempt that succeeded, or NULL. Closes those that failed. */
static struct dial_attempt *find_winner(struct attempts *a)
{
    for (size_t i = 0; i < a->n_begun; i++) {
        struct dial_attempt *attempt = &a->tries[i];
        socklen_t size = sizeof(int);
        int error = 0;

        if (attempt->fd < 0 || attempt->watch.loop)
            continue;
        if (getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
            error = errno;
        if (error == 0)
            return attempt;
        attempt_fail(a, attempt, error);
    }
    return NULL;
}

static size_t count_open(const struct attempts *a)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n_begun; i++)
        n += a->tries[i].fd >= 0;
    return n;
}

/* Waits until one of them has ended, or it is time for the next. */
static struct err *wait_for_one(struct attempts *a)
{
    struct loop *l = task_loop();
    bool is_last = a->n_begun == a->n_addresses;
    struct deadline turn;
    struct err *e;

    waker_init(&a->waker);
    if (!is_last)
        deadline_begin(&turn, NEXT_ATTEMPT_MS, "an attempt");
    loop_external_begin(l);
    e = waker_park(&a->waker);
    loop_external_end(l);
    if (is_last)
        return e;
    deadline_end(&turn);
    if (turn.expired && err_is(e, ERR_TIMEOUT)) {
        err_ignore(e, "the next one's turn");
        return NULL;
    }
    return e;
}

static struct err *connect_error(const struct dial *d, int error)
{
    struct err *e = err_errno(ERR_NETWORK, error, "cannot connect to %s", d->peer);

    if (error == ECONNREFUSED && !d->unix_socket && url_host_is_loopback(str_of(d->host)))
        e = err_final(e); /* only a person can start it */
    if (d->is_proxy)
        return err_hint(e, "is the proxy running? check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY");
    if (error == ECONNREFUSED)
        return err_hint(e, "is the server running at %s?", d->peer);
    return err_hint(e, "check the network, and whether HTTPS_PROXY must be set");
}

static struct err *try_all(const struct dial *d, struct attempts *a, int *ret_fd)
{
    bool is_connected = false;

    for (;;) {
        bool has_more = a->n_begun < a->n_addresses;
        struct dial_attempt *winner;

        if (has_more)
            TRY(begin_attempt(a, &is_connected));
        winner = is_connected ? &a->tries[a->n_begun - 1] : NULL;
        if (!winner && has_more && a->tries[a->n_begun - 1].fd < 0 && a->n_begun < a->n_addresses)
            continue;
        if (!winner && count_open(a))
            TRY(wait_for_one(a));
        if (!winner)
            winner = find_winner(a);
        if (winner) {
            *ret_fd = winner->fd;
            winner->fd = -1;
            return NULL;
        }
        if (a->n_begun == a->n_addresses && count_open(a) == 0)
            return connect_error(d, a->error);
    }
}

struct err *dial_open(const struct dial *d, struct name_cache *names, int *ret_fd)
{
    struct attempts *a = mem_alloc(sizeof *a);
    struct err *e = find_addresses(d, names, a);

    if (!e) {
        e = try_all(d, a, ret_fd);
        if (err_is(e, ERR_NETWORK))
            name_cache_forget(names, d->host);
    }
    for (size_t i = 0; i < a->n_begun; i++) {
        loop_watch_stop(&a->tries[i].watch);
        if (a->tries[i].fd >= 0)
            close(a->tries[i].fd);
    }
    mem_free(a);
    return e;
}
