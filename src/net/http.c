/* http.c - headers, and exchanges through any adapter. */
#include "net/http.h"

#include "net/http_internal.h"
#include "net/url.h"

#define DEFAULT_CONNECT_MS 30000
#define DEFAULT_MAX_BODY_BYTES ((size_t)64 << 20)

void http_headers_add(struct arena *a, struct http_headers *h, struct str name, struct str value)
{
    h->items = arena_grow(a, h->items, h->n, &h->room, sizeof *h->items);
    h->items[h->n++] = (struct http_header){arena_str(a, name), arena_str(a, value)};
}

void http_headers_set(struct arena *a, struct http_headers *h, struct str name, struct str value)
{
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++)
        if (!str_eq_nocase(h->items[i].name, name))
            h->items[n++] = h->items[i];
    h->n = n;
    http_headers_add(a, h, name, value);
}

struct str http_headers_get(const struct http_headers *h, const char *name)
{
    for (size_t i = 0; i < h->n; i++)
        if (str_eq_nocase(h->items[i].name, str_of(name)))
            return h->items[i].value;
    return (struct str){0};
}

/* --- checks of requests --- */

bool http_is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c))
            return false;
    }
    return s.n > 0;
}

/* A line end in a value would let its author add headers. */
bool http_is_value(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}

/* The client sets these: they must agree with what it sends. */
bool http_header_is_framing(struct str name)
{
    return str_eq_nocase(name, S("content-length")) || str_eq_nocase(name, S("transfer-encoding"));
}

static struct err *check_header(const struct http_header *h)
{
    if (!http_is_token(h->name))
        return err_new(ERR_VALIDATION,
                       "the name of a header is empty or contains an invalid character");
    if (!http_is_value(h->value))
        return err_new(ERR_VALIDATION,
                       "the value of the header %" STR_FMT " contains a control character",
                       STR_ARG(h->name));
    if (http_header_is_framing(h->name))
        return err_new(ERR_VALIDATION, "the header %" STR_FMT " is set by the HTTP client itself",
                       STR_ARG(h->name));
    return NULL;
}

static struct err *check_request(const struct http_request *request)
{
    AUTO(arena) struct arena a = {0};
    struct url u;

    if (!http_is_token(str_of(request->method)))
        return err_new(ERR_VALIDATION, "an HTTP method is a word without spaces, such as POST");
    for (size_t i = 0; i < request->headers.n; i++)
        TRY(check_header(&request->headers.items[i]));
    TRY(url_parse(&a, request->url, &u));
    if (!str_is(u.scheme, "http") && !str_is(u.scheme, "https"))
        return err_new(ERR_VALIDATION,
                       "cannot ask %" STR_FMT "://%" STR_FMT
                       ": only http:// and https:// URLs are supported",
                       STR_ARG(u.scheme), STR_ARG(u.host));
    return NULL;
}

/* --- exchanges --- */

/* Shows nothing while a private exchange is under way: an exchange does not know to whom it
 * belongs. */
static const struct http_trace *trace_of(const struct http_client *c)
{
    static const struct http_trace none;

    return c->n_private ? &none : &c->trace;
}

/* Makes one request and shows it and its response to the trace. */
static struct err *open_hop(struct http_client *c, const struct http_request *request,
                            struct http_exchange **ret_exchange, struct http_response *ret_response)
{
    struct err *e;

    TRY(check_request(request));
    trace_request(trace_of(c), request);
    e = c->ops->open(c, request, ret_exchange, ret_response);
    if (!e)
        trace_response(trace_of(c), ret_response);
    trace_error(trace_of(c), e);
    return e;
}

static struct http_request with_defaults(const struct http_request *request)
{
    struct http_request filled = *request;

    if (!filled.method)
        filled.method = "GET";
    if (!filled.connect_ms)
        filled.connect_ms = DEFAULT_CONNECT_MS;
    if (!filled.max_body_bytes)
        filled.max_body_bytes = DEFAULT_MAX_BODY_BYTES;
    return filled;
}

struct err *http_open(struct http_client *c, const struct http_request *request,
                      struct http_exchange **ret_exchange, struct http_response *ret_response)
{
    AUTO(redirects) struct redirects r;
    struct http_request first = with_defaults(request);

    redirects_init(&r, &first);
    for (;;) {
        struct http_response response;
        struct http_exchange *x;
        bool follow = false;
        struct err *e;

        TRY(open_hop(c, &r.request, &x, &response));
        e = redirects_next(&r, &response, &follow);
        if (!e && !follow) {
            *ret_exchange = x;
            *ret_response = response;
            return NULL;
        }
        http_close(c, x);
        if (e)
            return e;
    }
}

struct err *http_read(struct http_client *c, struct http_exchange *x, struct str *ret_bytes)
{
    struct err *e = c->ops->read(x, ret_bytes);

    if (!e)
        trace_bytes(trace_of(c), '{', *ret_bytes);
    trace_error(trace_of(c), e);
    return e;
}

void http_close(struct http_client *c, struct http_exchange *x)
{
    if (x)
        c->ops->close(x);
}

void http_client_free(struct http_client *c)
{
    if (c)
        c->ops->free(c);
}

static struct err *read_all(struct http_client *c, struct http_exchange *x, struct strbuf *body)
{
    for (;;) {
        struct str bytes;

        TRY(http_read(c, x, &bytes));
        if (bytes.n == 0)
            return NULL;
        strbuf_add(body, bytes);
        TRY(strbuf_check(body, "the response"));
    }
}

struct err *http_fetch(struct http_client *c, const struct http_request *request, struct arena *a,
                       struct http_response *ret_response, struct strbuf *body)
{
    struct http_response response;
    struct http_exchange *x;
    struct err *e;

    c->n_private += request->is_private;
    e = http_open(c, request, &x, &response);
    if (!e) {
        e = read_all(c, x, body);
        if (!e) {
            *ret_response = (struct http_response){
                .status = response.status,
                .final_url = arena_str(a, response.final_url),
            };
            for (size_t i = 0; i < response.headers.n; i++)
                http_headers_add(a, &ret_response->headers, response.headers.items[i].name,
                                 response.headers.items[i].value);
        }
        http_close(c, x);
    }
    c->n_private -= request->is_private;
    return e;
}
