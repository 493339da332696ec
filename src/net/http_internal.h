/* http_internal.h - what the files behind http.h know of each other. */
#ifndef KEEL_NET_HTTP_INTERNAL_H
#define KEEL_NET_HTTP_INTERNAL_H

#include "net/http.h"

/* --- redirect.c: what to ask next when a response points elsewhere. Pure but for the clock ---
 *
 * 301, 302 and 303 turn into a GET without a body (except GET and HEAD themselves, and 301 and 302
 * after other methods than POST). 307 and 308 repeat the request. Another origin gets only headers
 * that can hold no credential; https never leads to http. */

struct redirects {
    struct http_request request; /* to send now */
    struct arena arena;          /* holds what differs from the caller's request */
    unsigned n_followed;
    uint64_t end_ms; /* of all requests together, on the loop's clock; 0: none */
};

void redirects_init(struct redirects *r, const struct http_request *request);
void redirects_done(struct redirects *r);
DEFINE_AUTO_VAL(redirects, redirects_done)

/* *ret_follow: `request` is now the next one to send. Otherwise the response is final. */
MUST_USE struct err *redirects_next(struct redirects *r, const struct http_response *response,
                                    bool *ret_follow);

/* --- trace.c: shows an exchange to a listener, without its credentials; silent without one --- */

void trace_request(const struct http_trace *t, const struct http_request *request);
void trace_response(const struct http_trace *t, const struct http_response *response);
void trace_bytes(const struct http_trace *t, char kind, struct str bytes);
void trace_error(const struct http_trace *t, const struct err *e); /* as a note; NULL: none */

#endif
