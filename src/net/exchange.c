/* exchange.c - one request and its response, in the caller's task. */
#include "net/http1_client.h"

/* The pieces of a stream are small, and thousands of streams run at once. With few streams, each
 * gets room for bytes that come faster. */
#define BUFFER_BYTES 4096
#define LARGE_BUFFER_BYTES 16384
#define MAX_LARGE_BUFFERS 64

/* The limit on bytes that are neither headers nor content, such as chunk extensions and padding. */
#define FREE_WIRE_BYTES ((uint64_t)16 << 20) /* TLS, chunks and bytes read ahead */
#define WIRE_BYTES_PER_BYTE 64               /* a chunk of one byte in a record of its own */

struct http_exchange {
    struct http1_client *client;
    struct arena arena;
    struct route route;
    struct http_connection *connection; /* NULL: it was given back */
    uint64_t n_wire_before;             /* bytes that it received before this exchange */
    bool may_be_reused;

    uint64_t connect_ms, idle_ms, total_ms;
    uint64_t end_ms; /* on the loop's clock; 0: none */
    size_t max_body_bytes;

    struct strbuf request_head;
    struct iovec unsent[2]; /* of the request's head and body */

    bool is_to_head; /* the request's method is HEAD */
    struct http1_head_reader head_reader;
    struct http_response response;
    struct http1_body body;
    size_t n_body_bytes;

    char *buffer;
    size_t buffer_bytes;
    size_t at, end; /* the unread bytes in it */
    struct err *failure;
};

/* --- waiting --- */

/* UINT64_MAX: for ever. */
static uint64_t wait_limit_ms(const struct http_exchange *x, uint64_t limit_ms)
{
    uint64_t now_ms;

    if (!x->end_ms)
        return limit_ms;
    now_ms = loop_now_ms(x->client->loop);
    return MIN(limit_ms, x->end_ms > now_ms ? x->end_ms - now_ms : 0);
}

static bool total_is_up(const struct http_exchange *x)
{
    return x->end_ms && loop_now_ms(x->client->loop) >= x->end_ms;
}

static struct err *exchange_wait(struct http_exchange *x, int events)
{
    uint64_t limit_ms = wait_limit_ms(x, x->idle_ms ? x->idle_ms : UINT64_MAX);
    struct deadline limit;
    struct err *e;

    if (limit_ms == UINT64_MAX)
        return socket_wait(x->connection->socket, events);
    deadline_begin(&limit, limit_ms, "waiting for an answer");
    e = socket_wait(x->connection->socket, events);
    deadline_end(&limit);
    if (!limit.expired || !err_is(e, ERR_TIMEOUT))
        return e;
    err_free(e);
    return total_is_up(x) ? exchange_total_timeout(&x->route, x->total_ms)
                          : exchange_idle_timeout(&x->route, x->idle_ms);
}

/* --- the connection --- */

static struct err *open_fresh(struct http_exchange *x)
{
    struct deadline limit;
    struct err *e;

    deadline_begin(&limit, wait_limit_ms(x, x->connect_ms), "connecting");
    e = connection_open(x->client, &x->route, &x->connection);
    deadline_end(&limit);
    if (!limit.expired || !err_is(e, ERR_TIMEOUT))
        return e;
    err_free(e);
    return total_is_up(x) ? exchange_total_timeout(&x->route, x->total_ms)
                          : exchange_connect_timeout(&x->route, x->connect_ms);
}

static struct err *get_connection(struct http_exchange *x, bool must_be_fresh)
{
    struct socket *s;

    x->connection = must_be_fresh ? NULL : connection_take(x->client, &x->route);
    if (!x->connection)
        TRY(open_fresh(x));
    s = x->connection->socket;
    mem_free(s->peer);
    s->peer = mem_strdup(x->route.peer);
    x->n_wire_before = s->n_received;
    x->may_be_reused = true;
    return NULL;
}

static bool has_unsent(const struct http_exchange *x)
{
    return x->unsent[0].iov_len || x->unsent[1].iov_len;
}

/* The response is over. Bytes after its end would be taken for the next response. */
static void release_connection(struct http_exchange *x)
{
    struct http_connection *c = TAKE(x->connection);

    if (c && x->body.is_over && x->may_be_reused && !has_unsent(x) && x->at == x->end)
        connection_keep(c);
    else
        connection_free(c);
}

/* --- sending --- */

static void stop_sending(struct http_exchange *x)
{
    if (has_unsent(x))
        x->may_be_reused = false;
    x->unsent[0].iov_len = x->unsent[1].iov_len = 0;
}

static void skip_sent(struct iovec *part, size_t *n)
{
    size_t n_here = MIN(part->iov_len, *n);

    part->iov_base = (char *)part->iov_base + n_here;
    part->iov_len -= n_here;
    *n -= n_here;
}

/* Sends what the peer takes now. A peer that takes no more may have answered already. */
static struct err *send_some(struct http_exchange *x)
{
    struct wire *w = x->connection->wire;
    size_t n = 0;
    struct err *e = w->ops->write(w, x->unsent, ARRAY_LEN(x->unsent), &n);

    skip_sent(&x->unsent[0], &n);
    skip_sent(&x->unsent[1], &n);
    if (!err_is(e, ERR_NETWORK) || e->is_final)
        return e;
    err_ignore(e, "reading tells more");
    x->may_be_reused = false;
    stop_sending(x);
    return NULL;
}

/* --- receiving --- */

static void make_buffer(struct http_exchange *x)
{
    if (x->buffer)
        return;
    x->buffer_bytes =
        x->client->n_exchanges <= MAX_LARGE_BUFFERS ? LARGE_BUFFER_BYTES : BUFFER_BYTES;
    x->buffer = mem_alloc(x->buffer_bytes);
}

static struct err *check_wire(const struct http_exchange *x)
{
    uint64_t n = x->connection->socket->n_received - x->n_wire_before;
    uint64_t n_useful = x->head_reader.n_bytes + x->n_body_bytes;

    if (n < FREE_WIRE_BYTES + WIRE_BYTES_PER_BYTE * n_useful)
        return NULL;
    return exchange_too_much_between(&x->route, n);
}

/* Fills an empty buffer with the next bytes, and sends unsent ones meanwhile. An empty buffer means
 * that the peer has ended its side. */
static struct err *fill_buffer(struct http_exchange *x)
{
    struct wire *w = x->connection->wire;
    size_t n;

    make_buffer(x);
    x->at = x->end = 0;
    for (;;) {
        int wants = 0;

        if (has_unsent(x)) {
            TRY(send_some(x));
            wants = w->wants;
        }
        TRY(w->ops->read(w, x->buffer, x->buffer_bytes, &n));
        if (n || !w->wants)
            break;
        if (!has_unsent(x) || wants)
            TRY(exchange_wait(x, w->wants | wants));
    }
    x->end = n;
    return check_wire(x);
}

/* --- the head --- */

static struct err *read_head(struct http_exchange *x, struct http1_head *ret_head)
{
    enum http1_fault fault;
    bool is_whole = false;
    size_t n_used;

    while (!is_whole) {
        if (x->at == x->end)
            TRY(fill_buffer(x));
        if (x->end == 0)
            return exchange_head_missing(&x->route, x->head_reader.n_bytes);
        fault = http1_head_take(&x->head_reader, str_make(x->buffer + x->at, x->end - x->at),
                                &n_used, &is_whole);
        if (fault != HTTP1_NONE)
            return exchange_fault(&x->route, fault);
        x->at += n_used;
    }
    fault = http1_head_parse(&x->arena, strbuf_str(&x->head_reader.text), ret_head);
    strbuf_clear(&x->head_reader.text);
    return fault == HTTP1_NONE ? NULL : exchange_fault(&x->route, fault);
}

static bool is_provisional(int status)
{
    return status / 100 == 1 && status != 101;
}

/* A server that refuses a request before it has all of it does not want the rest. */
static struct err *read_final_head(struct http_exchange *x)
{
    struct http1_head head;
    enum http1_fault fault;

    do
        TRY(read_head(x, &head));
    while (is_provisional(head.status));
    fault = http1_body_init(&x->body, &head, x->is_to_head);
    if (fault != HTTP1_NONE)
        return exchange_fault(&x->route, fault);
    if (head.status >= 300)
        stop_sending(x);
    if (head.closes || head.status == 101 || x->body.framing == HTTP1_BY_CLOSE)
        x->may_be_reused = false;
    x->response.status = head.status;
    x->response.headers = head.headers;
    if (x->body.is_over)
        release_connection(x);
    return NULL;
}

/* --- open --- */

/* The server may close an idle connection at any time, even at this moment. */
static bool was_stale(const struct http_exchange *x, const struct err *e)
{
    return err_is(e, ERR_NETWORK) && !e->is_final && x->connection && x->connection->is_reused &&
           x->head_reader.n_bytes == 0;
}

static struct err *send_request(struct http_exchange *x, struct str body, bool must_be_fresh)
{
    struct str head = strbuf_str(&x->request_head);

    TRY(get_connection(x, must_be_fresh));
    x->unsent[0] = (struct iovec){.iov_base = (char *)head.p, .iov_len = head.n};
    x->unsent[1] = (struct iovec){.iov_base = (char *)body.p, .iov_len = body.n};
    return read_final_head(x);
}

static struct err *send_request_twice(struct http_exchange *x, struct str body)
{
    struct err *e = send_request(x, body, /* must_be_fresh= */ false);

    if (!was_stale(x, e))
        return e;
    err_ignore(e, "it was meant for the connection before");
    connection_free(TAKE(x->connection));
    x->at = x->end = 0;
    return send_request(x, body, /* must_be_fresh= */ true);
}

static struct err *begin_exchange(struct http_exchange *x, const struct http_request *request)
{
    struct http1_form form = {.user_agent = x->client->options.user_agent};

    TRY(route_find(&x->arena, request, &x->client->proxies, &x->route));
    x->response.final_url = url_format(&x->arena, &x->route.target);
    if (x->route.kind == ROUTE_ABSOLUTE) {
        form.is_absolute = true;
        form.proxy_authorization = http1_basic(&x->arena, &x->route.proxy);
    }
    http1_write_head(&x->request_head, request, &x->route.target, &form);
    return send_request_twice(x, request->body);
}

struct err *exchange_open(struct http_client *c, const struct http_request *request,
                          struct http_exchange **ret_exchange, struct http_response *ret_response)
{
    struct http_exchange *x = mem_alloc(sizeof *x);
    struct err *e;

    x->client = (struct http1_client *)c;
    x->client->n_exchanges++;
    x->connect_ms = request->connect_ms;
    x->idle_ms = request->idle_ms;
    x->total_ms = request->total_ms;
    x->max_body_bytes = request->max_body_bytes;
    x->is_to_head = strcmp(request->method, "HEAD") == 0;
    if (request->total_ms)
        x->end_ms = loop_now_ms(x->client->loop) + request->total_ms;
    e = begin_exchange(x, request);
    if (e) {
        exchange_close(x);
        return e;
    }
    if (!has_unsent(x))
        strbuf_done(&x->request_head);
    strbuf_done(&x->head_reader.text);
    *ret_exchange = x;
    *ret_response = x->response;
    return NULL;
}

/* --- read --- */

/* Finds the content among the bytes that arrived; empty when they were only framing. */
static struct err *decode(struct http_exchange *x, struct str *ret_content)
{
    char *bytes = x->buffer + x->at;
    size_t n_content, n_used;
    enum http1_fault fault =
        http1_body_decode(&x->body, bytes, x->end - x->at, &n_content, &n_used);

    x->at += n_used;
    if (fault != HTTP1_NONE)
        x->failure = exchange_fault(&x->route, fault);
    if (n_content > x->max_body_bytes - x->n_body_bytes)
        return exchange_too_large(&x->route, x->max_body_bytes);
    x->n_body_bytes += n_content;
    *ret_content = str_make(bytes, n_content);
    if (x->body.is_over)
        release_connection(x);
    return NULL;
}

static struct err *note_end(struct http_exchange *x)
{
    if (x->body.framing != HTTP1_BY_CLOSE || x->connection->wire->was_cut)
        return exchange_body_missing(&x->route, &x->body);
    x->body.is_over = true;
    release_connection(x);
    return NULL;
}

static struct err *read_content(struct http_exchange *x, struct str *ret_bytes)
{
    *ret_bytes = (struct str){0};
    while (!ret_bytes->n && !x->body.is_over && !x->failure) {
        if (x->at == x->end)
            TRY(fill_buffer(x));
        if (x->end == 0)
            TRY(note_end(x));
        else
            TRY(decode(x, ret_bytes));
    }
    return NULL;
}

/* A failure of the peer is final; an interrupted wait may be repeated. */
struct err *exchange_read(struct http_exchange *x, struct str *ret_bytes)
{
    struct str bytes = {0};
    struct err *e;

    if (!x->failure && total_is_up(x))
        return exchange_total_timeout(&x->route, x->total_ms);
    e = x->failure ? NULL : read_content(x, &bytes);
    if (e && !err_is(e, ERR_CANCELLED) && !err_is(e, ERR_TIMEOUT))
        x->failure = TAKE(e);
    if (e || (x->failure && !bytes.n))
        return e ? e : err_copy(x->failure);
    *ret_bytes = bytes;
    return NULL;
}

/* --- close --- */

/* The rest of a short, unread response has usually arrived. */
static void skip_rest(struct http_exchange *x)
{
    size_t n_content, n_used;

    if (!x->response.status || !x->connection || x->failure || x->at == x->end)
        return;
    if (http1_body_decode(&x->body, x->buffer + x->at, x->end - x->at, &n_content, &n_used) !=
        HTTP1_NONE)
        x->may_be_reused = false;
    x->at += n_used;
}

void exchange_close(struct http_exchange *x)
{
    skip_rest(x);
    release_connection(x);
    x->client->n_exchanges--;
    http1_head_reader_done(&x->head_reader);
    strbuf_done(&x->request_head);
    arena_done(&x->arena);
    err_free(x->failure);
    mem_free(x->buffer);
    mem_free(x);
}
