/* connections.c - opens, keeps, reuses and closes connections. */
#include "net/http1_client.h"

#define KEPT_MS 90000
#define MAX_KEPT 32

void connection_free(struct http_connection *c)
{
    if (!c)
        return;
    wire_free(c->wire);
    if (c->key)
        mem_wipe(c->key, strlen(c->key)); /* it may hold a proxy's password */
    mem_free(c->key);
    mem_free(c);
}

/* --- opening --- */

/* Opens the proxy's own wire, or the target's without a proxy. */
static struct err *dial_first(struct http_connection *c, const struct route *r)
{
    bool is_proxy = r->kind != ROUTE_DIRECT;
    const struct url *u = is_proxy ? &r->proxy : &r->target;
    AUTO_FREE char *host = str_dup(u->host);
    struct dial d = {
        .host = host,
        .port = u->port,
        .addresses = is_proxy ? NULL : r->pins,
        .unix_socket = r->unix_socket,
        .peer = is_proxy ? r->proxy_peer : r->peer,
        .is_proxy = is_proxy,
    };
    int fd;

    TRY(dial_open(&d, c->client->names, &fd));
    c->socket = socket_new(fd, d.peer);
    c->wire = &c->socket->wire;
    return NULL;
}

static struct err *begin_tls(struct http_connection *c, const struct url *u,
                             const struct http_identity *identity, const char *peer)
{
    struct tls_context *context;
    struct wire *lower;

    TRY(http1_client_tls(c->client, identity, &context));
    lower = TAKE(c->wire);
    return tls_open(context, lower, c->socket, u->host, u->port, peer, &c->wire);
}

/* SOCKS without `h`: this side finds the address. */
static struct err *open_socks5(struct http_connection *c, const struct route *r,
                               const struct tunnel *t)
{
    AUTO_FREE char *host = str_dup(r->target.host);
    AUTO_FREE char *first = NULL;
    struct lookup l;

    if (r->kind == ROUTE_SOCKS5H || url_host_is_address(r->target.host))
        return tunnel_socks5(t, NULL);
    if (r->pins) {
        struct str pin = str_slice(str_of(r->pins), 0, str_find_char(str_of(r->pins), ','));

        if (str_starts(pin, S("[")))
            pin = str_slice(pin, 1, pin.n - 2);
        first = str_dup(pin);
        return tunnel_socks5(t, first);
    }
    TRY(name_cache_find(c->client->names, host, &l));
    return l.n ? tunnel_socks5(t, l.addresses[0]) : lookup_not_found(&l);
}

static struct err *pass_proxy(struct http_connection *c, const struct route *r)
{
    static const struct http_identity nobody;
    struct tunnel t;

    if (r->proxy_is_tls)
        TRY(begin_tls(c, &r->proxy, &nobody, r->proxy_peer));
    t = (struct tunnel){.wire = c->wire, .socket = c->socket, .route = r};
    if (r->kind == ROUTE_TUNNEL)
        return tunnel_connect(&t, c->client->options.user_agent);
    return r->kind == ROUTE_ABSOLUTE ? NULL : open_socks5(c, r, &t);
}

static struct err *open_all(struct http_connection *c, const struct route *r)
{
    TRY(dial_first(c, r));
    if (r->kind != ROUTE_DIRECT)
        TRY(pass_proxy(c, r));
    return r->is_tls ? begin_tls(c, &r->target, &r->identity, r->peer) : NULL;
}

struct err *connection_open(struct http1_client *client, const struct route *r,
                            struct http_connection **ret_connection)
{
    struct http_connection *c = mem_alloc(sizeof *c);
    struct err *e;

    c->client = client;
    c->key = r->key ? mem_strdup(r->key) : NULL;
    e = open_all(c, r);
    if (e) {
        connection_free(c);
        return e;
    }
    *ret_connection = c;
    return NULL;
}

/* --- keeping --- */

static void remove_kept(struct http_connection *c)
{
    struct http_connection **link = &c->client->pool.kept;

    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    c->next = NULL;
    c->socket->on_unasked = NULL;
    if (!c->client->pool.kept)
        loop_timer_stop(TAKE(c->client->pool.timer));
}

/* The server closed it, or sent something without a request. */
static void connection_unasked(void *arg)
{
    remove_kept(arg);
    connection_free(arg);
}

static void close_old(void *arg);

/* One timer, for the oldest connection. If that one is gone when it fires, it is set again. */
static void start_timer(struct http1_client *client)
{
    const struct http_connection *oldest = client->pool.kept;
    uint64_t now_ms = loop_now_ms(client->loop);

    if (!oldest || client->pool.timer)
        return;
    while (oldest->next)
        oldest = oldest->next;
    client->pool.timer = loop_timer_start(
        client->loop, oldest->end_ms > now_ms ? oldest->end_ms - now_ms : 0, close_old, client);
}

static void close_old(void *arg)
{
    struct http1_client *client = arg;
    uint64_t now_ms = loop_now_ms(client->loop);
    struct http_connection *c = client->pool.kept, *next;

    loop_timer_stop(TAKE(client->pool.timer));
    for (; c; c = next) {
        next = c->next;
        if (c->end_ms <= now_ms)
            connection_unasked(c);
    }
    start_timer(client);
}

static void close_too_many(struct http1_client *client)
{
    struct http_connection *c = client->pool.kept;

    for (size_t n = 1; c && n < MAX_KEPT; n++)
        c = c->next;
    while (c && c->next)
        connection_unasked(c->next);
}

void connection_keep(struct http_connection *take_connection)
{
    struct http_connection *c = take_connection;
    struct http1_client *client = c->client;
    struct err *e;

    if (!c->key) {
        connection_free(c);
        return;
    }
    c->end_ms = loop_now_ms(client->loop) + KEPT_MS;
    c->next = client->pool.kept;
    client->pool.kept = c;
    c->socket->on_unasked = connection_unasked;
    c->socket->on_unasked_arg = c;
    e = socket_watch(c->socket);
    if (e) {
        err_ignore(e, "then it is not kept");
        connection_unasked(c);
        return;
    }
    close_too_many(client);
    start_timer(client);
}

struct http_connection *connection_take(struct http1_client *client, const struct route *r)
{
    struct http_connection *c = client->pool.kept, *next;

    for (; r->key && c; c = next) {
        next = c->next;
        if (strcmp(c->key, r->key) != 0)
            continue;
        remove_kept(c);
        if (socket_is_silent(c->socket)) {
            c->is_reused = true;
            return c;
        }
        connection_free(c);
    }
    return NULL;
}

void connections_free(struct http1_client *client)
{
    while (client->pool.kept)
        connection_unasked(client->pool.kept);
    loop_timer_stop(TAKE(client->pool.timer));
}
