/* http.h - the contract of an HTTP client, and what goes through it.
 *
 * An exchange runs in the calling task: http_open() waits for the response's head, http_read()
 * for the next bytes of its body, http_close() ends it at any point, at once. Time-outs, caps and
 * redirects are set per request; nothing is retried. Connections are kept and shared by all
 * exchanges of one client on one loop. Bodies are never held whole unless asked (http_fetch): a
 * reader that is slow slows its peer down.
 *
 * A response of any status is a response. Errors are ERR_NETWORK (could not connect, broke off),
 * ERR_TIMEOUT (idle or overall), ERR_CANCELLED, ERR_VALIDATION (bad URL or header of ours),
 * ERR_BAD_RESPONSE (the peer speaks no HTTP, or passes a cap). A body that ends before its
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
/* In place of all that have this name, in any case. */
void http_headers_set(struct arena *a, struct http_headers *h, struct str name, struct str value);
struct str http_headers_get(const struct http_headers *h, const char *name); /* any case; empty */

/* Delay that a response asks for: `retry-after-ms`, `Retry-After` in seconds or as a date (needs
 * the time now), or a rate-limit reset header; -1 when it does not say. Pure. */
int64_t http_retry_after_ms(const struct http_headers *h, int64_t unix_now_ms);

/* Who the client is, for servers that ask for a certificate. Files in PEM; all may be NULL. */
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
    /* 0: a redirect is an ordinary response. None is followed from https to http, and another
     * origin gets plain headers only (Accept, Content-Type, ...). With `resolve` or `unix_socket`
     * one that leaves the origin is an ordinary response too: they speak of the first only. */
    unsigned max_redirects;
    bool stays_on_host; /* a redirect to where url_leads_on() does not is an ordinary response */
    bool no_proxy;      /* go direct, whatever the environment says */
    const char *proxy;  /* the URL of the one to use, whatever it says; NULL: its choice */
    /* Addresses to use instead of asking the resolver: "host:port:address"; NULL for none. What
     * checks an address before connecting passes the checked one here. A proxy asks its own
     * resolver: go direct where that matters. */
    const char *resolve;
    const char *unix_socket; /* path, or NULL */
    struct http_identity identity;
    bool is_private; /* of http_fetch(): no trace sees it, since its bodies hold credentials */
};

/* Shown every exchange, with the credentials in headers and URLs already replaced. kind: '>'
 * request line and headers, '}' request body, '<' status and headers, '{' response bytes, '*'
 * why it failed. Lines come without their end, bodies as they are. */
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

/* An adapter. All members are required. open() gets a request that has been checked, sends it
 * once, and copies what it needs of it except the body; the response's strings live until close().
 * It leaves redirects and tracing to http_open(). */
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
    struct http_trace trace; /* line is NULL: no trace */
    unsigned n_private;      /* exchanges under way that no trace may see */
};

MUST_USE struct err *http_open(struct http_client *c, const struct http_request *request,
                               struct http_exchange **ret_exchange,
                               struct http_response *ret_response);
/* The next bytes, borrowed until the next call; empty at the end of the body. */
MUST_USE struct err *http_read(struct http_client *c, struct http_exchange *x,
                               struct str *ret_bytes);
void http_close(struct http_client *c, struct http_exchange *x); /* accepts NULL */
void http_client_free(struct http_client *c);
DEFINE_AUTO_PTR(http_client, http_client_free)

/* One request, its whole body appended to `body`; the head's strings live in `a`. */
MUST_USE struct err *http_fetch(struct http_client *c, const struct http_request *request,
                                struct arena *a, struct http_response *ret_response,
                                struct strbuf *body);

/* Is this header one whose value must never be shown? */
bool http_header_is_secret(struct str name);
/* Does it say where a message ends? */
bool http_header_is_framing(struct str name);
/* What RFC 9110 takes as a method or as a header's name, and as a header's value. */
bool http_is_token(struct str s);
bool http_is_value(struct str s);

#endif
