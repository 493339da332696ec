/* http1_body.h - separates the body of a response from its framing, and finds its end.
 *
 * Pure. Bytes are given as they arrive, in pieces of any size. The content among them is moved to
 * the front of the same memory. Chunk extensions and trailers are skipped. */
#ifndef KEEL_NET_HTTP1_BODY_H
#define KEEL_NET_HTTP1_BODY_H

#include "net/http1_head.h"

#define HTTP1_MAX_TRAILER_BYTES ((size_t)64 << 10)

enum http1_framing { HTTP1_BY_LENGTH, HTTP1_BY_CHUNKS, HTTP1_BY_CLOSE };

struct http1_body {
    enum http1_framing framing;
    bool is_over;
    int state;       /* private: where in the chunks */
    uint64_t n_left; /* of the body or of the chunk; while its size is read, that size */
    size_t n_trailer_bytes;
};

/* A response to HEAD has no body, whatever length it states. */
MUST_USE enum http1_fault http1_body_init(struct http1_body *b, const struct http1_head *head,
                                          bool is_to_head);
/* *ret_n_used is less than n when the body ends before them. Both are written with a fault too: the
 * bytes before it are content. */
MUST_USE enum http1_fault http1_body_decode(struct http1_body *b, char *bytes, size_t n,
                                            size_t *ret_n_content, size_t *ret_n_used);

#endif
