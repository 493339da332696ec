/* endpoint_ask.c - asks a model over HTTP: encodes, sends, and decodes the answer. */
#include "base/ascii.h"
#include "base/utf8.h"
#include "model/kept_body.h"
#include "net/url.h"
#include "provider/advice.h"
#include "provider/decode.h"
#include "provider/endpoint_internal.h"
#include "provider/refused_part.h"
#include "sys/loop.h"

/* Room for the text of an answer with framing and escapes. */
#define MAX_BODY_BYTES (2 * REPLY_MAX_BYTES)
/* Comments, pings and blank lines keep an answer open for this many times the longest silence.
 * After that it must have content. */
#define STALL_FACTOR 10
/* After the end of an answer, keel waits for the end of its body only to keep the connection. If
 * the model has ended but not the stream, counts may follow. */
#define END_WAIT_MS 500
#define COUNTS_WAIT_MS 10000
#define ERROR_BODY_WAIT_MS 10000
#define MAX_SHOWN_URL 200

/* --- one exchange --- */

struct endpoint_exchange {
    const struct endpoint *endpoint;
    const struct provider_call *call;
    uint64_t n_payloads;
    int status;
};

static void report(struct endpoint_exchange *x, struct native_payload *p)
{
    if (!x->call->on_native_payload)
        return;
    p->provider = x->endpoint->provider.id;
    p->api_surface = str_of(x->endpoint->config.protocol->api_surface);
    p->sequence = x->n_payloads++;
    p->http_status = x->status;
    x->call->on_native_payload(x->call->self, p);
}

static void report_payload(struct endpoint_exchange *x, enum payload_kind kind, struct str type,
                           struct str bytes)
{
    report(x, &(struct native_payload){.kind = kind, .bytes = bytes, .event_type = type});
}

static void report_request(struct endpoint_exchange *x, const struct model_request *r,
                           const struct strbuf *body)
{
    struct native_payload p = {.kind = PAYLOAD_REQUEST, .bytes = strbuf_str(body)};
    char hash[SHA256_HEX_SIZE];

    if (r->kept) {
        kept_body_hash(r->kept, body, hash);
        p.hash = hash;
    }
    report(x, &p);
}

#define MAX_TYPE 64 /* bytes; longer than the types of any API */

/* Does the framing name a type that the event itself does not? */
static bool is_framing_needed(struct str type, struct str bytes)
{
    static const struct str beginning = S("{\"type\":\""); /* of nearly every event */
    size_t end = beginning.n + type.n;
    char text[MAX_TYPE + 2];

    if (bytes.n > end && bytes.p[end] == '"' && str_starts(bytes, beginning) &&
        memcmp(bytes.p + beginning.n, type.p, type.n) == 0)
        return false;
    if (str_eq(type, DECODE_PLAIN_TYPE) || type.n > MAX_TYPE)
        return false;
    for (size_t i = 0; i < type.n; i++)
        if (!ascii_is_lower(type.p[i]) && type.p[i] != '_' && type.p[i] != '.')
            return false;
    text[0] = text[type.n + 1] = '"';
    memcpy(text + 1, type.p, type.n);
    return str_find(bytes, str_make(text, type.n + 2)) == STR_NONE;
}

/* The kind says how the answer came, whatever was requested. */
static void exchange_on_event(void *self, struct str type, struct str bytes)
{
    if (type.n)
        report_payload(self, PAYLOAD_STREAM_EVENT,
                       is_framing_needed(type, bytes) ? type : (struct str){0}, bytes);
    else
        report_payload(self, PAYLOAD_RESPONSE, type, bytes);
}

/* --- reading the answer --- */

/* How far an answer has been read, and how long its next bytes may take. */
struct answer_reading {
    struct endpoint_exchange *x;
    struct http_exchange *http;
    struct decoder *decoder;
    uint64_t idle_ms;
    uint64_t said_ms;  /* time of its last content */
    uint64_t until_ms; /* latest time of the next byte; 0: only the limits of the request apply */
    size_t progress;   /* of the decoder, at that time */
    bool is_over;
};

static struct err *read_piece(struct answer_reading *r, struct str *ret_bytes)
{
    uint64_t now_ms = loop_now_ms(task_loop());
    AUTO(deadline) struct deadline limit = {0};

    if (!r->until_ms)
        return http_read(r->x->call->http, r->http, ret_bytes);
    deadline_begin(&limit, r->until_ms > now_ms ? r->until_ms - now_ms : 0,
                   "the end of the answer");
    return http_read(r->x->call->http, r->http, ret_bytes);
}

/* Sets how long the next piece may take. ERR_TIMEOUT if the answer makes no progress. */
static struct err *note_progress(struct answer_reading *r)
{
    uint64_t now_ms = loop_now_ms(task_loop());
    size_t progress = decoder_progress(r->decoder);

    if (decoder_is_over(r->decoder)) {
        if (!r->is_over)
            r->until_ms = now_ms + END_WAIT_MS;
        r->is_over = true;
        return NULL;
    }
    if (progress != r->progress) {
        r->progress = progress;
        r->said_ms = now_ms;
        if (r->decoder->decode.reply->is_complete)
            r->until_ms = now_ms + MIN(r->idle_ms, (uint64_t)COUNTS_WAIT_MS);
    }
    if (now_ms - r->said_ms <= r->idle_ms * STALL_FACTOR)
        return NULL;
    return err_hint(err_new(ERR_TIMEOUT,
                            "the provider kept the connection alive for %llu s but sent no answer",
                            (unsigned long long)(r->idle_ms * STALL_FACTOR / 1000)),
                    "raise \"timeout\" of the provider in the settings to wait longer");
}

static struct err *read_answer(struct answer_reading *r)
{
    uint64_t now_ms = loop_now_ms(task_loop());

    r->said_ms = now_ms;
    if (r->decoder->status >= 400)
        r->until_ms = now_ms + MIN(r->idle_ms, (uint64_t)ERROR_BODY_WAIT_MS);
    for (;;) {
        struct str bytes;
        struct err *e = read_piece(r, &bytes);

        if (e)
            return decoder_break(r->decoder, e);
        if (bytes.n == 0 || (r->decoder->status >= 400 && decoder_is_over(r->decoder)))
            return decoder_end(r->decoder);
        TRY(decoder_feed(r->decoder, bytes));
        TRY(note_progress(r));
    }
}

static uint64_t idle_limit(const struct provider_call *call)
{
    return call->idle_ms ? call->idle_ms : PROVIDER_DEFAULT_IDLE_MS;
}

static struct err *receive(struct endpoint_exchange *x, struct http_exchange *http,
                           const struct http_response *response, struct reply *reply)
{
    AUTO(decoder) struct decoder decoder;
    struct answer_reading reading = {
        .x = x, .http = http, .decoder = &decoder, .idle_ms = idle_limit(x->call)};
    struct err *e;

    x->status = response->status;
    decoder_init(&decoder, x->endpoint->config.protocol, response->status, &response->headers,
                 clock_unix_ms(loop_clock(task_loop())), reply);
    decoder_set_vendor(&decoder, x->endpoint->config.words);
    decoder.on_event = exchange_on_event;
    decoder.self = x;
    e = read_answer(&reading);
    if (e)
        reply_finish(reply); /* the parts that have arrived are kept after a broken stream, too */
    if (response->status >= 400)
        report_payload(x, PAYLOAD_RESPONSE, (struct str){0}, strbuf_str(&decoder.whole));
    return e;
}

/* keel does not follow it: the key was meant for the configured address. */
static struct err *redirected(const struct http_response *response)
{
    AUTO(arena) struct arena a = {0};
    struct str to = url_redact(&a, http_headers_get(&response->headers, "location"));
    struct str shown = utf8_truncate(to, MAX_SHOWN_URL);

    return err_hint(err_new(ERR_MODEL_NOT_AVAILABLE,
                            "HTTP %d: the server redirects to another address", response->status),
                    "check the base URL; the server redirects it to %" STR_FMT "%s", STR_ARG(shown),
                    shown.n < to.n ? "..." : "");
}

/* An error if the head alone shows that the body is useless. */
static struct err *check_head(const struct http_response *response)
{
    bool is_redirect = response->status >= 300 && response->status < 400;
    struct str encoding = decoder_compression(&response->headers);

    if (is_redirect && http_headers_get(&response->headers, "location").n)
        return redirected(response);
    if (is_redirect || response->status < 200)
        return err_hint(err_new(ERR_BAD_RESPONSE, "HTTP %d: the server sent a status but no answer",
                                response->status),
                        "check the base URL: it must be the API's");
    if (encoding.n && response->status < 400)
        return err_hint(err_new(ERR_BAD_RESPONSE,
                                "the answer is compressed (%" STR_FMT
                                "), which keel did not ask for",
                                STR_ARG(encoding)),
                        "check the base URL; a proxy in between may compress answers");
    return NULL;
}

static struct err *send_once(struct endpoint_exchange *x, const struct model_request *r,
                             struct str body, const struct secret *key, struct reply *reply)
{
    const struct endpoint_config *c = &x->endpoint->config;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf path = {0};
    struct http_request request = {.method = "POST", .body = body};
    struct http_exchange *http = NULL;
    struct http_response response;
    struct err *e;

    c->protocol->path(r, c->dialect, &path);
    TRY(url_join(&a, c->base_url, strbuf_str(&path), &request.url));
    http_headers_add(&a, &request.headers, S("content-type"), S("application/json"));
    http_headers_add(&a, &request.headers, S("accept"),
                     r->stream ? S("text/event-stream, application/x-ndjson, application/json")
                               : S("application/json"));
    if (c->protocol->headers)
        c->protocol->headers(r, c->dialect, &a, &request.headers);
    TRY(endpoint_add_headers(c, key, &a, &request));
    request.identity = c->identity;
    request.idle_ms = idle_limit(x->call);
    request.total_ms = x->call->total_ms ? x->call->total_ms : PROVIDER_DEFAULT_TOTAL_MS;
    request.max_body_bytes = MAX_BODY_BYTES;

    TRY(http_open(x->call->http, &request, &http, &response));
    reply->http_status = response.status;
    reply->request_id = arena_str(&reply->arena, advice_request_id(&response.headers));
    e = check_head(&response);
    if (!e)
        e = receive(x, http, &response, reply);
    e = advice_name_request(e, &response.headers);
    http_close(x->call->http, http);
    return e;
}

/* A key may have been renewed since it was read: tries once more with a fresh one. Without a fresh
 * key the refusal counts. */
static struct err *try_fresh_key(struct endpoint_exchange *x, const struct model_request *r,
                                 struct str body, struct err *take_refusal, struct reply *reply)
{
    AUTO(secret) struct secret key = {0};
    AUTO(err) struct err *no_key = NULL;

    if (!err_is(take_refusal, ERR_PROVIDER_AUTH) || (x->status != 401 && x->status != 403) ||
        !x->call->credentials || reply->n_parts)
        return take_refusal;
    no_key = credentials_get(x->call->credentials, x->endpoint->provider.id, true, &key);
    if (no_key)
        return take_refusal;
    err_free(take_refusal);
    reply_clear(reply);
    take_refusal = send_once(x, r, body, &key, reply);
    secret_hide_in_err(&key, take_refusal);
    return take_refusal;
}

/* Finds the file that a refusal speaks of in the body. */
static struct err *name_refused(struct err *take_error, struct str body)
{
    char hex[SHA256_HEX_SIZE];

    if (!take_error || !take_error->refused_media)
        return take_error;
    refused_part_find(body, str_of(take_error->text), hex);
    return err_refuse_media(take_error, hex);
}

struct err *endpoint_ask(const struct provider *p, const struct model_request *r,
                         const struct provider_call *call, struct reply *reply)
{
    const struct endpoint *e = (const struct endpoint *)p;
    struct endpoint_exchange x = {.endpoint = e, .call = call};
    AUTO(secret) struct secret key = {0};
    AUTO(strbuf) struct strbuf body;
    struct err *failure;

    strbuf_init(&body, REPLY_MAX_BYTES * 2);
    TRY(request_check(r));
    TRY(e->config.protocol->encode(r, e->config.dialect, &body));
    TRY(credentials_get(call->credentials, p->id, /* refresh= */ false, &key));
    if (call->before_send)
        TRY(call->before_send(call->send_self));
    report_request(&x, r, &body);
    failure = send_once(&x, r, strbuf_str(&body), &key, reply);
    secret_hide_in_err(&key, failure);
    if (failure)
        failure = try_fresh_key(&x, r, strbuf_str(&body), failure, reply);
    failure = name_refused(failure, strbuf_str(&body));
    if (r->kept)
        kept_body_take(r->kept, &body);
    return failure ? advice_explain(&e->config, r->model, failure) : NULL;
}
