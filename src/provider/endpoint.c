/* endpoint.c - asks a model over HTTP: encode, send, decode what comes back. */
#include "provider/endpoint.h"

#include "base/utf8.h"
#include "model/kept_body.h"
#include "net/url.h"
#include "provider/advice.h"
#include "provider/aws_sign.h"
#include "provider/decode.h"
#include "provider/model_list.h"
#include "provider/provider_error.h"
#include "provider/refused_part.h"
#include "sys/loop.h"

#include <stdio.h>

struct endpoint {
    struct provider provider;
    struct arena arena; /* owns the configuration's strings */
    struct endpoint_config config;
};

#define LIST_MAX_BYTES ((size_t)8 << 20)
#define LIST_TIMEOUT_MS 20000

/* The text of an answer, its framing and escapes, and not much beside it. */
#define MAX_BODY_BYTES (2 * REPLY_MAX_BYTES)
/* Signs of life (comments, pings, blank lines) keep an answer open for this many times the longest
 * silence, then it must say something. */
#define STALL_FACTOR 10
/* When the end of an answer has been said, the end of its body is waited for only to keep the
 * connection; where only the model has said it, counts may follow. */
#define END_WAIT_MS 500
#define COUNTS_WAIT_MS 10000
#define ERROR_BODY_WAIT_MS 10000
#define MAX_SHOWN_URL 200
/* Of files, where a vendor documents no limit. */
#define USUAL_MAX_EDGE 8000
#define USUAL_MAX_IMAGE_BYTES ((size_t)5 << 20)
#define USUAL_MAX_PDF_BYTES ((size_t)20 << 20)

/* --- one exchange --- */

struct exchange {
    const struct endpoint *endpoint;
    const struct provider_call *call;
    uint64_t n_payloads;
    int status;
};

static void tell(struct exchange *x, struct native_payload *p)
{
    if (!x->call->on_native_payload)
        return;
    p->provider = x->endpoint->provider.id;
    p->api_surface = str_of(x->endpoint->config.protocol->api_surface);
    p->sequence = x->n_payloads++;
    p->http_status = x->status;
    x->call->on_native_payload(x->call->self, p);
}

static void tell_payload(struct exchange *x, enum payload_kind kind, struct str type,
                         struct str bytes)
{
    tell(x, &(struct native_payload){.kind = kind, .bytes = bytes, .event_type = type});
}

static void tell_request(struct exchange *x, const struct model_request *r,
                         const struct strbuf *body)
{
    struct native_payload p = {.kind = PAYLOAD_REQUEST, .bytes = strbuf_str(body)};
    char hash[SHA256_HEX_SIZE];

    if (r->kept) {
        kept_body_hash(r->kept, body, hash);
        p.hash = hash;
    }
    tell(x, &p);
}

#define MAX_TYPE 64 /* bytes; no API has a longer one */

/* Does the event itself not say what its framing says? */
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
        if (!(type.p[i] >= 'a' && type.p[i] <= 'z') && type.p[i] != '_' && type.p[i] != '.')
            return false;
    text[0] = text[type.n + 1] = '"';
    memcpy(text + 1, type.p, type.n);
    return str_find(bytes, str_make(text, type.n + 2)) == STR_NONE;
}

/* The kind says how it came, whatever was asked for. */
static void on_event(void *self, struct str type, struct str bytes)
{
    if (type.n)
        tell_payload(self, PAYLOAD_STREAM_EVENT,
                     is_framing_needed(type, bytes) ? type : (struct str){0}, bytes);
    else
        tell_payload(self, PAYLOAD_RESPONSE, type, bytes);
}

static void add_auth(const struct endpoint_config *c, struct arena *a, const struct secret *key,
                     struct http_headers *out)
{
    static const char *const names[] = {
        [AUTH_BEARER] = "authorization", [AUTH_X_API_KEY] = "x-api-key",
        [AUTH_API_KEY] = "api-key",      [AUTH_X_GOOG_API_KEY] = "x-goog-api-key",
        [AUTH_BOTH] = "x-api-key",       [AUTH_AWS] = "authorization",
        [AUTH_GOOGLE] = "authorization",
    };
    bool is_bearer = str_is(str_of(names[c->auth]), "authorization");
    struct str value = str_make(key->p, key->n), bearer;

    if (!key->n || key->id)
        return;
    bearer = arena_format(a, "Bearer %s", key->p);
    http_headers_add(a, out, str_of(names[c->auth]), is_bearer ? bearer : value);
    if (c->auth == AUTH_BOTH)
        http_headers_add(a, out, S("authorization"), bearer);
}

/* A signature comes last: it is one of the headers too. */
static struct err *add_headers(const struct endpoint_config *c, const struct secret *key,
                               struct arena *a, struct http_request *request)
{
    add_auth(c, a, key, &request->headers);
    for (size_t i = 0; i < c->headers.n; i++)
        http_headers_set(a, &request->headers, c->headers.items[i].name, c->headers.items[i].value);
    if (!key->id)
        return NULL;
    return aws_sign(&(struct aws_signer){.key_id = str_of(key->id),
                                         .secret_key = str_make(key->p, key->n),
                                         .session_token = str_of(key->session),
                                         .region = c->region,
                                         .service = S("bedrock"),
                                         .unix_ms = clock_unix_ms(loop_clock(task_loop()))},
                    a, request);
}

/* --- reading the answer --- */

/* How far an answer has been read, and how long its next bytes may take. */
struct answer_reading {
    struct exchange *x;
    struct http_exchange *http;
    struct decoder *decoder;
    uint64_t idle_ms;
    uint64_t said_ms;  /* when it said something last */
    uint64_t until_ms; /* no byte is waited for after that; 0: as long as the request allows */
    size_t progress;   /* of the decoder, then */
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

/* After every piece: how long the next one may take. */
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

static struct err *receive(struct exchange *x, struct http_exchange *http,
                           const struct http_response *response, struct reply *reply)
{
    AUTO(decoder) struct decoder decoder;
    struct answer_reading reading = {
        .x = x, .http = http, .decoder = &decoder, .idle_ms = idle_limit(x->call)};
    struct err *e;

    x->status = response->status;
    decoder_init(&decoder, x->endpoint->config.protocol, response->status, &response->headers,
                 clock_unix_ms(loop_clock(task_loop())), reply);
    decoder_listen(&decoder, x->endpoint->config.words);
    decoder.on_event = on_event;
    decoder.self = x;
    e = read_answer(&reading);
    if (e)
        reply_finish(reply); /* what has arrived is whole parts, also after a broken stream */
    if (response->status >= 400)
        tell_payload(x, PAYLOAD_RESPONSE, (struct str){0}, strbuf_str(&decoder.whole));
    return e;
}

/* Nothing is sent after it: the key was meant for the address that the person gave. */
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

/* An error when the head alone shows that the body is not worth reading. */
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

static struct err *send_once(struct exchange *x, const struct model_request *r, struct str body,
                             const struct secret *key, struct reply *reply)
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
    TRY(add_headers(c, key, &a, &request));
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

/* A key may have been renewed since it was handed out: one more try with a fresh one, unless there
 * is none, in which case the refusal stands. */
static struct err *try_fresh_key(struct exchange *x, const struct model_request *r, struct str body,
                                 struct err *take_refusal, struct reply *reply)
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

/* A refusal of a file says where it stands in the body. */
static struct err *name_refused(struct err *take_error, struct str body)
{
    char hex[SHA256_HEX_SIZE];

    if (!take_error || !take_error->refused_media)
        return take_error;
    refused_part_find(body, str_of(take_error->text), hex);
    return err_refuse_media(take_error, hex);
}

static struct err *explain(const struct endpoint *e, struct str model, struct err *take_error)
{
    if (err_is(take_error, ERR_CANCELLED))
        return take_error;
    return err_wrap(advice_add(&e->config, model, take_error), "%" STR_FMT,
                    STR_ARG(e->provider.id));
}

static struct err *ask(const struct provider *p, const struct model_request *r,
                       const struct provider_call *call, struct reply *reply)
{
    const struct endpoint *e = (const struct endpoint *)p;
    struct exchange x = {.endpoint = e, .call = call};
    AUTO(secret) struct secret key = {0};
    AUTO(strbuf) struct strbuf body;
    struct err *failure;

    strbuf_init(&body, REPLY_MAX_BYTES * 2);
    TRY(request_check(r));
    TRY(e->config.protocol->encode(r, e->config.dialect, &body));
    TRY(credentials_get(call->credentials, p->id, /* refresh= */ false, &key));
    if (call->before_send)
        TRY(call->before_send(call->send_self));
    tell_request(&x, r, &body);
    failure = send_once(&x, r, strbuf_str(&body), &key, reply);
    secret_hide_in_err(&key, failure);
    if (failure)
        failure = try_fresh_key(&x, r, strbuf_str(&body), failure, reply);
    failure = name_refused(failure, strbuf_str(&body));
    if (r->kept)
        kept_body_take(r->kept, &body);
    return failure ? explain(e, r->model, failure) : NULL;
}

/* --- what it can, what it has --- */

/* What a row leaves open is what keel has always sent. */
static struct media_limits media_limits(const struct endpoint_config *c)
{
    struct media_limits l = c->words ? c->words->media : (struct media_limits){0};

    return (struct media_limits){
        .max_edge = l.max_edge ? l.max_edge : USUAL_MAX_EDGE,
        .max_image_bytes = l.max_image_bytes ? l.max_image_bytes : USUAL_MAX_IMAGE_BYTES,
        .max_pdf_bytes = l.max_pdf_bytes ? l.max_pdf_bytes : USUAL_MAX_PDF_BYTES,
        .max_pdf_pages = l.max_pdf_pages,
        .no_gif = l.no_gif,
    };
}

static struct provider_capabilities capabilities(const struct provider *p,
                                                 const struct model_info *info)
{
    const struct endpoint_config *c = &((const struct endpoint *)p)->config;
    bool search = c->has_web_search && (!info || info->capabilities & CAN_SEARCH_WEB);
    bool fetch = c->has_web_fetch && (!info || info->capabilities & CAN_FETCH_WEB);

    return (struct provider_capabilities){
        .form = &c->protocol->form,
        .can_call_tools = !info || info->capabilities & CAN_TOOLS,
        .web_search = {.is_supported = search, .is_enabled = search},
        .web_fetch = {.is_supported = fetch, .is_enabled = fetch},
        .takes_file_urls = c->dialect->file_urls,
        .media = media_limits(c),
    };
}

/* Fetches JSON that tells about models. `body` is sent where there is one. */
static struct err *fetch_about_models(const struct endpoint *e, const struct provider_call *call,
                                      struct str url, struct str body, struct arena *a,
                                      struct json **ret_root)
{
    struct http_request request = {
        .url = url,
        .method = body.n ? "POST" : NULL,
        .body = body,
        .total_ms = LIST_TIMEOUT_MS,
        .max_body_bytes = LIST_MAX_BYTES,
    };
    struct http_response response;
    AUTO(secret) struct secret key = {0};
    AUTO(strbuf) struct strbuf answer = {0};
    struct json_where where = {0};

    if (body.n)
        http_headers_add(a, &request.headers, S("content-type"), S("application/json"));
    if (e->config.protocol->headers)
        e->config.protocol->headers(&(struct model_request){0}, e->config.dialect, a,
                                    &request.headers);
    TRY(credentials_get(call->credentials, e->provider.id, /* refresh= */ false, &key));
    TRY(add_headers(&e->config, &key, a, &request));
    request.identity = e->config.identity;
    TRY(http_fetch(call->http, &request, a, &response, &answer));
    if (json_parse_at(a, arena_str(a, strbuf_str(&answer)), JSON_REPAIR_UTF8, ret_root, &where) &&
        response.status < 300)
        return NULL;
    if (response.status >= 400)
        return provider_error_new(provider_error_kind(response.status), response.status,
                                  S("the provider refused to list its models"));
    return err_hint(err_new(ERR_CONFIGURATION, "cannot parse the list of models%s%s",
                            where.reason ? ": " : "", where.reason ? where.reason : ""),
                    "check the base URL %" STR_FMT, STR_ARG(e->config.base_url));
}

static struct err *fetch_list(const struct endpoint *e, const struct provider_call *call,
                              struct str url, struct arena *a, struct model_list *ret_models)
{
    struct json *root;

    TRY(fetch_about_models(e, call, url, (struct str){0}, a, &root));
    return model_list_parse(a, root, ret_models);
}

/* The list that tells most. A server may not have it: an older one, or one behind a gateway. */
static struct err *list_about(const struct endpoint *e, const struct provider_call *call,
                              struct arena *a, struct model_list *ret_models)
{
    struct url base;
    struct str url;

    TRY(url_parse(a, e->config.base_url, &base));
    TRY(url_resolve(a, &base, e->config.about_path, &url));
    return fetch_list(e, call, url, a, ret_models);
}

static struct err *list_models(const struct provider *p, const struct provider_call *call,
                               struct arena *a, struct model_list *ret_models)
{
    const struct endpoint *e = (const struct endpoint *)p;
    struct err *failure;
    struct str url;

    if (e->config.models_path.n == 0)
        return err_hint(
            err_new(ERR_CONFIGURATION, "%" STR_FMT " cannot list its models", STR_ARG(p->id)),
            "keel models --all lists the models that keel knows");
    if (e->config.about_path.n) {
        AUTO(err) struct err *without = list_about(e, call, a, ret_models);

        if (!without || err_is(without, ERR_CANCELLED))
            return TAKE(without);
    }
    failure = url_join(a, e->config.base_url, e->config.models_path, &url);
    if (!failure)
        failure = fetch_list(e, call, url, a, ret_models);
    return failure ? explain(e, (struct str){0}, failure) : NULL;
}

/* The server tells about one model when it is asked for that one. */
static struct err *show_model(const struct endpoint *e, const struct provider_call *call,
                              struct str model, struct arena *a, struct model_info *ret_model)
{
    AUTO(strbuf) struct strbuf body = {0};
    struct json *root;
    struct str url;

    strbuf_add_cstr(&body, "{\"model\":");
    json_write_string(&body, model);
    strbuf_add_char(&body, '}');
    TRY(url_join(a, e->config.base_url, str_of(e->config.protocol->show_path), &url));
    TRY(fetch_about_models(e, call, url, strbuf_str(&body), a, &root));
    return model_show_parse(a, model, root, ret_model);
}

struct err *endpoint_ask_model(const struct provider *p, const struct provider_call *call,
                               struct str model, struct arena *a, struct model_info *ret_model)
{
    const struct endpoint *e = (const struct endpoint *)p;
    const struct model_info *found;
    struct model_list models;

    if (e->config.protocol->show_path) {
        struct err *failure = show_model(e, call, model, a, ret_model);

        return failure ? explain(e, (struct str){0}, failure) : NULL;
    }
    TRY(list_models(p, call, a, &models));
    found = model_list_find(&models, model);
    if (!found && models.n == 1 && e->config.has_any_name)
        found = &models.items[0];
    if (!found)
        return explain(e, model,
                       err_new(ERR_MODEL_NOT_AVAILABLE,
                               "the server does not list a model \"%" STR_FMT "\"",
                               STR_ARG(model)));
    *ret_model = *found;
    return NULL;
}

static void free_endpoint(struct provider *p)
{
    struct endpoint *e = (struct endpoint *)p;

    arena_done(&e->arena);
    mem_free(e);
}

static const struct provider_ops ops = {
    .ask = ask,
    .waits_to_send = true,
    .capabilities = capabilities,
    .list_models = list_models,
    .free = free_endpoint,
};

static struct err *check_base_url(const struct endpoint_config *c)
{
    AUTO(arena) struct arena a = {0};
    struct str place = advice_base_url(c, &a);
    struct url url;
    struct err *e = url_parse(&a, c->base_url, &url);

    if (!e && url.userinfo.n)
        e = err_hint(err_new(ERR_CONFIGURATION, "it contains a user name or a password"),
                     "remove it from %" STR_FMT "; put a key into \"apiKey\", a password into "
                     "\"headers\": {\"authorization\": \"Basic ...\"}",
                     STR_ARG(place));
    if (!e && !str_is(url.scheme, "http") && !str_is(url.scheme, "https"))
        e = err_new(ERR_CONFIGURATION, "only http:// and https:// URLs are supported");
    if (!e)
        return NULL;
    if (!e->hint)
        e = err_hint(e, "correct %" STR_FMT, STR_ARG(place));
    e->kind = ERR_CONFIGURATION;
    return err_wrap(e, "%" STR_FMT ": bad base URL \"%" STR_FMT "\"", STR_ARG(c->id),
                    STR_ARG(url_redact(&a, c->base_url)));
}

static struct http_identity copy_identity(struct arena *a, const struct http_identity *i)
{
    return (struct http_identity){
        .certificate = i->certificate ? arena_cstr(a, str_of(i->certificate)) : NULL,
        .key = i->key ? arena_cstr(a, str_of(i->key)) : NULL,
        .passphrase = i->passphrase ? arena_cstr(a, str_of(i->passphrase)) : NULL,
    };
}

struct err *endpoint_provider_new(const struct endpoint_config *config,
                                  struct provider **ret_provider)
{
    struct endpoint *e;

    TRY(check_base_url(config));
    e = mem_alloc(sizeof *e);
    e->config = *config;
    e->config.id = arena_str(&e->arena, config->id);
    e->config.base_url = arena_str(&e->arena, config->base_url);
    e->config.models_path = arena_str(&e->arena, config->models_path);
    e->config.about_path = arena_str(&e->arena, config->about_path);
    e->config.key_hint = arena_str(&e->arena, config->key_hint);
    e->config.region = arena_str(&e->arena, config->region);
    e->config.identity = copy_identity(&e->arena, &config->identity);
    e->config.headers = (struct http_headers){0};
    for (size_t i = 0; i < config->headers.n; i++)
        http_headers_add(&e->arena, &e->config.headers, config->headers.items[i].name,
                         config->headers.items[i].value);
    e->provider = (struct provider){
        .ops = &ops, .id = e->config.id, .protocol = str_of(config->protocol->name)};
    *ret_provider = &e->provider;
    return NULL;
}
