/* curl_exchange.c - one exchange: what libcurl hands over, and the task that waits for it. */
#include "net/curl_exchange.h"

#define MAX_HEAD_BYTES ((size_t)256 << 10)
#define MAX_ARRIVED_BYTES ((size_t)64 << 10) /* then the peer must wait */
#define KEPT_BUFFER_BYTES 2048               /* what a stream may hold on to while it waits */

/* --- what arrives --- */

void exchange_wake(struct http_exchange *x)
{
    if (x->is_waiting)
        waker_wake(&x->waker);
}

void exchange_fail(struct http_exchange *x, struct err *take_error)
{
    err_free(x->failure);
    x->failure = take_error;
    x->ended = true;
    exchange_wake(x);
}

static size_t refuse(struct http_exchange *x, struct err *take_error)
{
    exchange_fail(x, take_error);
    return 0; /* libcurl ends the transfer when not all bytes were taken */
}

/* "HTTP/1.1 200 OK" */
static void begin_head(struct http_exchange *x, struct str line)
{
    struct str rest = str_skip(line, str_find_char(line, ' ') + 1);
    int64_t status;

    x->response.headers.n = 0; /* a 1xx may have come before */
    x->response.status = str_to_int64(str_slice(rest, 0, 3), &status) ? (int)status : 0;
}

static void end_head(struct http_exchange *x)
{
    bool is_provisional = x->response.status / 100 == 1 && x->response.status != 101;

    if (is_provisional)
        return;
    x->head_came = true;
    exchange_wake(x);
}

/* Lines that begin with a space continue another one; obsolete, and skipped. */
static void add_header(struct http_exchange *x, struct str line)
{
    size_t colon = str_find_char(line, ':');

    if (colon != STR_NONE && line.p[0] != ' ' && line.p[0] != '\t')
        http_headers_add(&x->arena, &x->response.headers, str_slice(line, 0, colon),
                         str_trim(str_skip(line, colon + 1)));
}

static size_t on_head_line(char *bytes, size_t size, size_t n, void *arg)
{
    struct http_exchange *x = arg;
    struct str line = str_make(bytes, n);

    x->n_head_bytes += n;
    if (x->n_head_bytes > MAX_HEAD_BYTES)
        return refuse(x, err_new(ERR_BAD_RESPONSE,
                                 "the headers of %" STR_FMT
                                 " are larger than their limit of %zu bytes",
                                 STR_ARG(x->url.host), MAX_HEAD_BYTES));
    if (x->head_came)
        return n; /* a trailer */
    if (str_trim(line).n == 0)
        end_head(x);
    else if (str_starts(line, S("HTTP/")))
        begin_head(x, line);
    else
        add_header(x, line);
    return n;
}

static size_t on_body_bytes(char *bytes, size_t size, size_t n, void *arg)
{
    struct http_exchange *x = arg;

    if (n > x->max_body_bytes - x->n_body_bytes)
        return refuse(x,
                      err_new(ERR_BAD_RESPONSE,
                              "the response of %" STR_FMT " is larger than its limit of %zu bytes",
                              STR_ARG(x->url.host), x->max_body_bytes));
    if (x->arrived.n && x->arrived.n + n > MAX_ARRIVED_BYTES) {
        x->paused = true;
        return CURL_WRITEFUNC_PAUSE; /* the same bytes come again when the reader goes on */
    }
    x->n_body_bytes += n;
    strbuf_add(&x->arrived, str_make(bytes, n));
    exchange_wake(x);
    return n;
}

/* From here on silence is the server's. */
static int on_connected(void *arg, char *remote_address, char *local_address, int remote_port,
                        int local_port)
{
    struct http_exchange *x = arg;

    x->connected = true;
    exchange_wake(x);
    return CURL_PREREQFUNC_OK;
}

static void set_callbacks(struct http_exchange *x)
{
    const struct curl_api *api = &x->client->api;

    api->easy_setopt(x->easy, CURLOPT_PRIVATE, x);
    api->easy_setopt(x->easy, CURLOPT_ERRORBUFFER, x->detail);
    api->easy_setopt(x->easy, CURLOPT_HEADERFUNCTION, on_head_line);
    api->easy_setopt(x->easy, CURLOPT_HEADERDATA, x);
    api->easy_setopt(x->easy, CURLOPT_WRITEFUNCTION, on_body_bytes);
    api->easy_setopt(x->easy, CURLOPT_WRITEDATA, x);
    api->easy_setopt(x->easy, CURLOPT_PREREQFUNCTION, on_connected);
    api->easy_setopt(x->easy, CURLOPT_PREREQDATA, x);
    api->easy_setopt(x->easy, CURLOPT_NOPROGRESS, 0L);
    api->easy_setopt(x->easy, CURLOPT_XFERINFOFUNCTION, exchange_check_wire);
    api->easy_setopt(x->easy, CURLOPT_XFERINFODATA, x);
}

/* --- waiting --- */

static void on_time_up(void *arg)
{
    struct http_exchange *x = arg;

    x->time_is_up = true;
    exchange_wake(x);
}

/* How long to wait at most; UINT64_MAX: for ever. */
static uint64_t wait_limit_ms(const struct http_exchange *x)
{
    uint64_t now_ms = loop_now_ms(x->client->loop), limit_ms = UINT64_MAX;

    if (x->idle_ms && x->connected)
        limit_ms = x->idle_ms;
    if (x->end_ms)
        limit_ms = MIN(limit_ms, x->end_ms > now_ms ? x->end_ms - now_ms : 0);
    return limit_ms;
}

static size_t count_sent(const struct http_exchange *x)
{
    curl_off_t n_sent = 0;

    x->client->api.easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T, &n_sent);
    return (size_t)n_sent;
}

/* Changes whenever a byte goes either way. */
static size_t count_bytes(const struct http_exchange *x)
{
    return count_sent(x) + x->n_head_bytes + x->n_body_bytes;
}

static struct err *park(struct http_exchange *x, uint64_t limit_ms)
{
    struct loop *loop = x->client->loop;
    struct loop_timer *timer = NULL;
    struct err *e;

    x->time_is_up = false;
    x->is_waiting = true;
    waker_init(&x->waker);
    if (limit_ms != UINT64_MAX)
        timer = loop_timer_start(loop, limit_ms, on_time_up, x);
    loop_external_begin(loop);
    e = waker_park(&x->waker);
    loop_external_end(loop);
    loop_timer_stop(timer);
    x->is_waiting = false;
    return e;
}

/* Until a callback has something new: connected, the head, bytes, the end. */
static struct err *wait_for_news(struct http_exchange *x)
{
    size_t n_bytes = count_bytes(x);

    TRY(park(x, wait_limit_ms(x)));
    if (!x->time_is_up)
        return NULL;
    if (x->end_ms && loop_now_ms(x->client->loop) >= x->end_ms)
        return exchange_total_timeout(x);
    if (count_bytes(x) == n_bytes)
        return exchange_idle_timeout(x);
    return NULL; /* a long upload goes on */
}

/* --- life --- */

void exchange_close(struct http_exchange *x)
{
    const struct curl_api *api = &x->client->api;

    if (x->is_added)
        api->multi_remove_handle(x->client->multi, x->easy);
    if (x->easy)
        api->easy_cleanup(x->easy);
    api->slist_free_all(x->headers);
    api->slist_free_all(x->resolve);
    err_free(x->failure);
    strbuf_done(&x->arrived);
    strbuf_done(&x->handed_out);
    arena_done(&x->arena);
    x->client->n_exchanges--;
    mem_free(x);
}

static struct err *start(struct http_exchange *x, const struct http_request *request)
{
    const struct curl_api *api = &x->client->api;
    CURLMcode code;

    TRY(url_parse(&x->arena, arena_str(&x->arena, request->url), &x->url));
    x->response.final_url = url_format(&x->arena, &x->url);
    x->easy = api->easy_init();
    if (!x->easy)
        return err_new(ERR_INTERNAL, "cannot make a libcurl handle");
    set_callbacks(x);
    TRY(exchange_setup(x, request));
    code = api->multi_add_handle(x->client->multi, x->easy);
    if (code != CURLM_OK)
        return err_new(ERR_INTERNAL, "libcurl cannot begin a request: %s",
                       api->multi_strerror(code));
    x->is_added = true;
    return NULL;
}

/* libcurl keeps the buffer that a long body was sent through until the end of the response, which
 * may be a stream of hours. Setting its size gives it back. */
static void release_send_buffer(struct http_exchange *x)
{
    if (count_sent(x) == x->n_to_send)
        x->client->api.easy_setopt(x->easy, CURLOPT_UPLOAD_BUFFERSIZE, (long)SEND_BUFFER_BYTES);
}

static struct err *wait_for_head(struct http_exchange *x)
{
    while (!x->head_came && !x->ended)
        TRY(wait_for_news(x));
    return x->head_came ? NULL : exchange_error(x);
}

struct err *exchange_open(struct http_client *c, const struct http_request *request,
                          struct http_exchange **ret_exchange, struct http_response *ret_response)
{
    struct http_exchange *x;
    struct err *e;

    TRY(curl_client_start((struct curl_client *)c));
    x = mem_alloc(sizeof *x);
    x->client = (struct curl_client *)c;
    x->client->n_exchanges++;
    x->connect_ms = request->connect_ms;
    x->idle_ms = request->idle_ms;
    x->total_ms = request->total_ms;
    x->max_body_bytes = request->max_body_bytes;
    x->n_to_send = request->body.n;
    strbuf_init(&x->arrived, MAX_ARRIVED_BYTES);
    strbuf_init(&x->handed_out, MAX_ARRIVED_BYTES);
    if (request->total_ms)
        x->end_ms = loop_now_ms(x->client->loop) + request->total_ms;
    e = start(x, request);
    if (!e)
        e = wait_for_head(x);
    if (e) {
        exchange_close(x);
        return e;
    }
    release_send_buffer(x);
    *ret_exchange = x;
    *ret_response = x->response;
    return NULL;
}

/* --- reading --- */

/* libcurl may hand over what it held back before this returns. */
static void resume(struct http_exchange *x)
{
    CURLcode code;

    if (!x->paused || x->ended)
        return;
    x->paused = false;
    code = x->client->api.easy_pause(x->easy, CURLPAUSE_CONT);
    if (code != CURLE_OK) { /* refused by a callback; libcurl itself would not come back to it */
        x->ended = true;
        x->result = code;
    }
}

/* Most of a stream's life is waiting; a burst must not make it large for ever. */
static void shrink(struct strbuf *b)
{
    if (b->room > KEPT_BUFFER_BYTES)
        strbuf_done(b);
}

static struct err *wait_for_bytes(struct http_exchange *x)
{
    while (!x->arrived.n && !x->ended) {
        shrink(&x->arrived);
        shrink(&x->handed_out);
        TRY(wait_for_news(x));
    }
    return NULL;
}

static void hand_out_arrived(struct http_exchange *x)
{
    struct strbuf used = x->handed_out;

    strbuf_clear(&used);
    x->handed_out = x->arrived;
    x->arrived = used;
}

struct err *exchange_read(struct http_exchange *x, struct str *ret_bytes)
{
    TRY(wait_for_bytes(x));
    if (x->end_ms && loop_now_ms(x->client->loop) >= x->end_ms)
        return exchange_total_timeout(x); /* bytes that never stop leave nothing to wait for */
    hand_out_arrived(x);
    if (x->handed_out.n == 0 && (x->result != CURLE_OK || x->failure))
        return exchange_error(x);
    resume(x);
    *ret_bytes = strbuf_str(&x->handed_out);
    return NULL;
}
