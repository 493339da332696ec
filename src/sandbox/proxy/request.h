/* request.h - the head of a request to a proxy, read as strictly as can be. Pure.
 *
 * Commands are hostile, and the server behind may read a head more kindly than this does. So there
 * is one way to write everything: CRLF and nothing else ends a line, none is folded, a host and a
 * length are said once and agree, and what is passed on is written anew from what was understood.
 * Headers that are between two neighbours only are left out. */
#ifndef KEEL_SANDBOX_PROXY_REQUEST_H
#define KEEL_SANDBOX_PROXY_REQUEST_H

#include "net/http.h"
#include "net/url.h"
#include "sandbox/proxy/body.h"

#define PROXY_HEAD_MAX_BYTES ((size_t)16 << 10)
#define PROXY_MAX_HEADERS 100

/* Borrows from the head that was parsed, and from the arena. */
struct proxy_request {
    bool is_connect;   /* a tunnel to `target`; else a request of plain HTTP */
    struct url target; /* host and port */
    struct str method;
    struct str path; /* with its query; starts with '/' */
    bool is_http_1_0;
    struct http_headers headers; /* those that are passed on, without Host and the body's */
    bool has_length;             /* it says so, even if it is 0 */
    struct proxy_body body;
};

/* The length of the head at the start of `bytes`, with the empty line that ends it; 0: there is
 * more to come. The first `n_seen` bytes were looked at before. */
size_t proxy_head_length(struct str bytes, size_t n_seen);

/* ERR_VALIDATION says what is wrong with it. */
MUST_USE struct err *proxy_request_parse(struct arena *a, struct str head,
                                         struct proxy_request *ret_request);

/* The head for the server; `to_proxy`, for a further proxy on the way there, with the value of
 * Proxy-Authorization if it is not empty. The connection ends with the answer. */
void proxy_request_write(struct strbuf *out, const struct proxy_request *r, bool to_proxy,
                         struct str authorization);
/* "example.com:443", "[2001:db8::1]:80" */
void proxy_add_authority(struct strbuf *out, const struct url *target);

#endif
