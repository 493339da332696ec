/* redirect.h - what to ask next when a response points elsewhere. Pure but for the clock.
 *
 * 301, 302 and 303 turn into a GET without a body (except GET and HEAD themselves, and 301 and 302
 * after other methods than POST), 307 and 308 repeat the request. Another origin gets only headers
 * that can hold no credential; https never leads to http. */
#ifndef KEEL_NET_REDIRECT_H
#define KEEL_NET_REDIRECT_H

#include "net/http.h"

struct redirects {
    struct http_request request; /* what to send now */
    struct arena arena;          /* holds what differs from the caller's request */
    unsigned n_followed;
    uint64_t end_ms; /* of the whole, on the loop's clock; 0: none */
};

void redirects_init(struct redirects *r, const struct http_request *request);
void redirects_done(struct redirects *r);
DEFINE_AUTO_VAL(redirects, redirects_done)

/* *ret_follow: `request` is now the next one to send. Else the response is the answer. */
MUST_USE struct err *redirects_next(struct redirects *r, const struct http_response *response,
                                    bool *ret_follow);

#endif
