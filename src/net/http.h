/* http.h - the contract of an HTTP client, and the requests and responses of it.
 *
 * An exchange runs in the calling task: http_open() waits for the response's head, http_read() for
 * the next bytes of its body, http_close() ends it at any point, at once. Time-outs, caps and
 * redirects are set per request. Nothing is retried. All exchanges of one client on one loop share
 * its connections. Only http_fetch() holds a whole body: a slow reader slows its peer down.
 *
 * A response of any status is a response. Errors are ERR_NETWORK (could not connect, broke off),
 * ERR_TIMEOUT (idle or overall), ERR_CANCELLED, ERR_VALIDATION (bad URL or header of the caller),
 * ERR_BAD_RESPONSE (the peer does not speak HTTP, or passes a cap). A body that ends before its
 * announced length is ERR_NETWORK. */
#ifndef KEEL_NET_HTTP_H
#define KEEL_NET_HTTP_H

#include "base/arena.h"
#include "base/err.h"
#include "base/strbuf.h"

struct http_header {
    struct str name, value;
};

struct http_headers {
    struct http_header *items;
    size_t n, room;
};

void http_headers_add(struct arena *a, struct http_headers *h, struct str name, struct str value);
/* Replaces all headers of this name, in any case. */
void http_headers_set(struct arena *a, struct http_headers *h, struct str name, struct str value);
struct str http_headers_get(const struct http_headers *h, const char *name); /* any case; empty */

/* The delay that a response asks for: `retry-after-ms`, `Retry-After` in seconds or as a date
 * (which needs the present time), or a rate-limit reset header. -1: none. Pure. */
int64_t http_retry_after_ms(const struct http_headers *h, int64_t unix_now_ms);

/* The client's identity, for servers that ask for a certificate. Files in PEM; all may be NULL. */
struct http_identity {
    const char *certificate, *key, *passphrase;
};

struct http_request {
    const char *method; /* "GET" when NULL */
    struct str url;
    struct http_headers headers;
    struct str body;       /* borrowed until the exchange ends */
    uint64_t connect_ms;   /* 0: 30 s */
    uint64_t idle_ms;      /* longest wait for the head or for more bytes; 0: none */
    uint64_t total_ms;     /* the whole exchange; 0: none */
    size_t max_body_bytes; /* 0: 64 MiB */
    /* 0: a redirect is an ordinary response. Redirects from https to http are never followed, and
     * another origin gets plain headers only (Accept, Content-Type, ...). With `resolve` or
     * `unix_socket` a redirect to another origin is an ordinary response too: they apply to the
     * first origin only. */
    unsigned max_redirects;
    bool stays_on_host; /* a redirect to where url_leads_on() does not is an ordinary response */
    bool no_proxy;      /* ignore the proxies of the environment */
    const char *proxy;  /* its URL, instead of the environment's; NULL: the environment's */
    /* Addresses to use instead of asking the resolver: "host:port:address"; NULL for none. A caller
     * that checks an address before connecting passes the checked one here. A proxy asks its own
     * resolver: go direct where that matters. */
    const char *resolve;
    const char *unix_socket; /* path, or NULL */
    struct http_identity identity;
    bool is_private; /* of http_fetch(): no trace sees it, since its bodies hold credentials */
};

/* Gets every exchange, with the credentials in headers and URLs replaced. kind: '>' request line
 * and headers, '}' request body, '<' status and headers, '{' response bytes, '*' reason of a
 * failure. Lines come without their end, bodies unchanged. */
struct http_trace {
    void (*line)(void *self, char kind, struct str text);
    void *self;
};

struct http_response {
    int status;
    struct http_headers headers; /* live as long as the response */
    struct str final_url;        /* after redirects */
};

struct http_client;
struct http_exchange;

/* An adapter. All members are required. open() gets a checked request, sends it once, and copies
 * what it needs of it except the body. The response's strings live until close(). http_open() does
 * redirects and tracing. */
struct http_ops {
    const char *name;
    struct err *(*open)(struct http_client *c, const struct http_request *request,
                        struct http_exchange **ret_exchange, struct http_response *ret_response);
    struct err *(*read)(struct http_exchange *x, struct str *ret_bytes);
    void (*close)(struct http_exchange *x);
    void (*free)(struct http_client *c);
};

/* Adapters embed this first. A client belongs to one loop. */
struct http_client {
    const struct http_ops *ops;
    struct http_trace trace; /* line NULL: no trace */
    unsigned n_private;      /* exchanges under way that no trace may see */
};

MUST_USE struct err *http_open(struct http_client *c, const struct http_request *request,
                               struct http_exchange **ret_exchange,
                               struct http_response *ret_response);
/* Reads the next bytes, borrowed until the next call; empty at the end of the body. */
MUST_USE struct err *http_read(struct http_client *c, struct http_exchange *x,
                               struct str *ret_bytes);
void http_close(struct http_client *c, struct http_exchange *x); /* accepts NULL */
void http_client_free(struct http_client *c);
DEFINE_AUTO_PTR(http_client, http_client_free)

/* Makes one request and appends its whole body to `body`. The head's strings live in `a`. */
MUST_USE struct err *http_fetch(struct http_client *c, const struct http_request *request,
                                struct arena *a, struct http_response *ret_response,
                                struct strbuf *body);

/* Must the value of this header never be shown? */
bool http_header_is_secret(struct str name);
/* Does this header say where a message ends? */
bool http_header_is_framing(struct str name);
/* What RFC 9110 accepts as a method or a header's name, and as a header's value. */
bool http_is_token(struct str s);
bool http_is_value(struct str s);

#endif
