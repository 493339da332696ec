/* body.h - where the body of a request ends, without holding it. Pure.
 *
 * What follows a body would be a second request on the same connection, which nobody has checked.
 * So its end is found here, by stricter rules than servers have: chunks without extensions, no
 * trailers. */
#ifndef KEEL_SANDBOX_PROXY_BODY_H
#define KEEL_SANDBOX_PROXY_BODY_H

#include "base/err.h"

enum proxy_body_kind { PROXY_BODY_LENGTH, PROXY_BODY_CHUNKED };

/* Zeroed is a body of no bytes. */
struct proxy_body {
    enum proxy_body_kind kind;
    uint64_t n_left; /* of the body or of a chunk's data */
    /* private, for chunks */
    enum {
        CHUNK_SIZE,
        CHUNK_SIZE_END,
        CHUNK_DATA,
        CHUNK_DATA_END,
        CHUNK_LAST_END,
        CHUNK_OVER,
    } state;
    unsigned n_digits;
    bool has_return;
};

bool proxy_body_is_over(const struct proxy_body *b);
/* How many of the bytes are its next ones; fewer than all only when it is over. ERR_VALIDATION:
 * they are no chunks. */
MUST_USE struct err *proxy_body_take(struct proxy_body *b, struct str bytes, size_t *ret_n);

#endif
