/* connection.c - one connection of a command: its request, the answer, or the tunnel. */
#include "sandbox/proxy/parts.h"

#include "sandbox/proxy/response_head.h"
#include "sys/loop.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    HEAD_MS = 20000,  /* for all of a request's head */
    IDLE_MS = 300000, /* without a byte in either direction */
    LAST_MS = 10000,  /* the same, once one side has ended */
    DRAIN_MS = 2000,
    BUFFER_BYTES = 16 << 10,
};

struct connection {
    struct proxy *proxy;
    int client;
    struct upstream upstream;
    struct arena arena;
    struct proxy_request request;
    struct str rest; /* what came behind the request's head */
    char head[PROXY_HEAD_MAX_BYTES], up[BUFFER_BYTES], down[BUFFER_BYTES];

    /* while bytes are passed on */
    struct loop *loop;
    struct group *directions;
    struct loop_timer *timer;
    uint64_t active_ms, limit_ms;
    bool is_deaf; /* the server takes no more */
};

static void connection_free(struct connection *c)
{
    upstream_close(&c->upstream);
    close(c->client);
    proxy_release(c->proxy->slots);
    arena_done(&c->arena);
    mem_free(c);
}
DEFINE_AUTO_PTR(connection, connection_free)

/* --- the request --- */

/* A command that takes its time is cut off: nobody types requests. */
static struct err *read_request(struct connection *c)
{
    AUTO(deadline) struct deadline deadline;
    struct str all = {c->head, 0};
    size_t n, n_head = 0;

    deadline_begin(&deadline, HEAD_MS, "a request");
    while (n_head == 0) {
        if (all.n == sizeof c->head)
            return err_new(ERR_VALIDATION, "bad request: the header is too long");
        TRY(socket_read(c->client, c->head + all.n, sizeof c->head - all.n, &n));
        if (n == 0)
            return err_new(ERR_CANCELLED, "the command closed the connection");
        all.n += n;
        n_head = proxy_head_length(all, all.n - n);
    }
    c->rest = str_skip(all, n_head);
    return proxy_request_parse(&c->arena, str_slice(all, 0, n_head), &c->request);
}

/* --- a refusal --- */

static const char *status_of(const struct err *e)
{
    switch (e->kind) {
    case ERR_VALIDATION:
        return "400 Bad Request";
    case ERR_TOOL_DENIED:
        return "403 Forbidden by keel"; /* many programs show nothing but this */
    case ERR_TIMEOUT:
        return "504 Gateway Timeout";
    default:
        return "502 Bad Gateway";
    }
}

static void write_refusal(struct strbuf *out, const struct err *e)
{
    AUTO_FREE char *message = err_message(e);
    AUTO(strbuf) struct strbuf body = {0};
    const char *hint = err_find_hint(e);

    strbuf_addf(&body, "keel: %s\n", message);
    if (hint)
        strbuf_addf(&body, "%s\n", hint);
    strbuf_addf(out,
                "HTTP/1.1 %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
                "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                status_of(e), body.n);
    strbuf_add(out, strbuf_str(&body));
}

/* Whoever closes a socket with bytes unread takes back what it has sent. */
static struct err *drain(struct connection *c)
{
    size_t n;

    shutdown(c->client, SHUT_WR);
    do
        TRY(socket_read(c->client, c->up, sizeof c->up, &n));
    while (n);
    return NULL;
}

static struct err *refuse(struct connection *c, const struct err *why)
{
    AUTO(strbuf) struct strbuf answer = {0};
    AUTO(deadline) struct deadline deadline;

    if (err_is(why, ERR_TOOL_DENIED))
        proxy_tell(c->proxy, c->request.target.host, why);
    write_refusal(&answer, why);
    deadline_begin(&deadline, DRAIN_MS, "an answer");
    TRY(socket_write(c->client, strbuf_str(&answer)));
    return drain(c);
}

/* --- idleness --- */

static void on_limit(void *arg);

static void start_timer(struct connection *c)
{
    uint64_t now_ms = loop_now_ms(c->loop), end_ms = c->active_ms + c->limit_ms;

    loop_timer_stop(c->timer);
    c->timer = loop_timer_start(c->loop, end_ms > now_ms ? end_ms - now_ms : 0, on_limit, c);
}

/* Both directions count, so that neither task can tell by itself. */
static void on_limit(void *arg)
{
    struct connection *c = arg;

    if (loop_now_ms(c->loop) >= c->active_ms + c->limit_ms)
        group_cancel(c->directions);
    else
        start_timer(c);
}

static void note_activity(struct connection *c)
{
    c->active_ms = loop_now_ms(c->loop);
}

/* One side has said its last; the other is given some time. */
static void note_end(struct connection *c)
{
    c->limit_ms = LAST_MS;
    note_activity(c);
    start_timer(c);
}

/* --- passing bytes on --- */

/* A server that takes no more may still have its answer on the way. What comes then is read and
 * dropped, so that the client gets that answer. */
static struct err *write_up(struct connection *c, struct str bytes)
{
    struct err *e = c->is_deaf ? NULL : socket_write(c->upstream.fd, bytes);

    if (!err_is(e, ERR_NETWORK))
        return e;
    err_ignore(e, "the answer counts");
    c->is_deaf = true;
    note_end(c);
    return NULL;
}

/* Of plain HTTP just the one request that was checked. *ret_goes_on is false when more came. */
static struct err *pass_up(struct connection *c, struct str bytes, bool *ret_goes_on)
{
    size_t n = bytes.n;

    if (!c->request.is_connect)
        TRY(proxy_body_take(&c->request.body, bytes, &n));
    *ret_goes_on = n == bytes.n;
    return write_up(c, str_slice(bytes, 0, n));
}

static struct err *pass_all_up(void *arg)
{
    struct connection *c = arg;
    struct str bytes = c->rest;
    bool goes_on = true;

    for (;;) {
        size_t n;

        TRY(pass_up(c, bytes, &goes_on));
        if (!goes_on)
            break;
        TRY(socket_read(c->client, c->up, sizeof c->up, &n));
        if (n == 0)
            break;
        note_activity(c);
        bytes = str_make(c->up, n);
    }
    if (goes_on)
        shutdown(c->upstream.fd, SHUT_WR);
    note_end(c);
    return NULL;
}

/* Writes a head that is whole to the command, and leaves what came behind it in `down`. */
static struct err *pass_head_down(struct connection *c, size_t n_head, size_t *n_down,
                                  bool *ret_is_last)
{
    AUTO(strbuf) struct strbuf head = {0}, shown = {0};

    *ret_is_last = proxy_answer_write(&head, str_make(c->down, n_head));
    *n_down -= n_head;
    memmove(c->down, c->down + n_head, *n_down);
    return socket_write(c->client,
                        secrets_hide(c->upstream.secrets, strbuf_str(&head), &shown, NULL));
}

/* The heads of a plain answer. *ret_rest is what came behind them, or what is none. */
static struct err *pass_heads_down(struct connection *c, struct str *ret_rest)
{
    size_t n_down = 0, n = 1;
    bool is_last = false;

    while (!is_last) {
        struct str all = {c->down, n_down};
        size_t n_head = proxy_head_length(all, 0);

        if (n_head && proxy_answer_begins(all)) {
            TRY(pass_head_down(c, n_head, &n_down, &is_last));
        } else if (n == 0 || n_down == sizeof c->down || !proxy_answer_begins(all)) {
            break;
        } else {
            TRY(socket_read(c->upstream.fd, c->down + n_down, sizeof c->down - n_down, &n));
            n_down += n;
            note_activity(c);
        }
    }
    *ret_rest = str_make(c->down, n_down);
    return NULL;
}

static struct err *pass_all_down(void *arg)
{
    struct connection *c = arg;
    struct secrets_stream stream = {.set = c->upstream.secrets};
    struct str bytes = c->upstream.early;
    AUTO(strbuf) struct strbuf shown = {0};

    if (!c->request.is_connect)
        TRY(pass_heads_down(c, &bytes));
    for (;;) {
        size_t n;

        TRY(socket_write(c->client, secrets_stream_add(&stream, bytes, &shown)));
        TRY(socket_read(c->upstream.fd, c->down, sizeof c->down, &n));
        if (n == 0)
            break;
        note_activity(c);
        bytes = str_make(c->down, n);
    }
    TRY(socket_write(c->client, secrets_stream_end(&stream, &shown)));
    shutdown(c->client, SHUT_WR);
    note_end(c);
    return NULL;
}

/* Until both sides have ended, one broke off, or nothing happens any more. */
static struct err *pass_both_ways(struct connection *c)
{
    struct group directions;
    struct err *e;

    c->loop = task_loop();
    c->limit_ms = IDLE_MS;
    note_activity(c);
    start_timer(c);
    group_begin(&directions, 0, 0);
    c->directions = &directions;
    group_spawn(&directions, "proxy up", pass_all_up, c);
    group_spawn(&directions, "proxy down", pass_all_down, c);
    e = group_end(&directions);
    loop_timer_stop(TAKE(c->timer));
    return e;
}

/* --- all of it --- */

static struct err *begin_exchange(struct connection *c)
{
    AUTO(strbuf) struct strbuf head = {0};
    AUTO(deadline) struct deadline deadline;

    deadline_begin(&deadline, HEAD_MS, "a request");
    if (c->request.is_connect)
        return socket_write(c->client, S("HTTP/1.1 200 Connection established\r\n\r\n"));
    proxy_request_write(&head, &c->request, c->upstream.is_proxy, c->upstream.authorization);
    return socket_write(c->upstream.fd, strbuf_str(&head));
}

/* Who sends no request, or too slowly, gets no answer. */
static struct err *serve(struct connection *c)
{
    AUTO(err) struct err *e = read_request(c);

    if (e)
        return err_is(e, ERR_VALIDATION) ? refuse(c, e) : TAKE(e);
    e = upstream_open(c->proxy, &c->arena, &c->request, &c->upstream);
    if (e)
        return err_is(e, ERR_CANCELLED) ? TAKE(e) : refuse(c, e);
    TRY(begin_exchange(c));
    return pass_both_ways(c);
}

/* A connection that fails is the command's business, and has been told to it. */
static struct err *run(void *arg)
{
    AUTO(connection) struct connection *c = arg;

    err_ignore(serve(c), "the others go on");
    return NULL;
}

void proxy_connection_start(struct proxy *p, int take_fd)
{
    struct connection *c = mem_alloc(sizeof *c);
    int on = 1;

    c->proxy = p;
    c->client = take_fd;
    c->upstream.fd = -1;
    setsockopt(take_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    group_spawn(p->options.group, "proxy connection", run, c);
}
