/* http1_head.h - writes the heads of requests and reads the heads of responses.
 *
 * Pure. http_open() has checked what is written: no name and no value holds a line end. Nothing
 * that is read is trusted: a head has a limit of bytes and of lines, and an ambiguous one is a
 * fault, because two readers of one connection must not see different messages. */
#ifndef KEEL_NET_HTTP1_HEAD_H
#define KEEL_NET_HTTP1_HEAD_H

#include "net/http.h"
#include "net/url.h"

#define HTTP1_MAX_HEAD_BYTES ((size_t)256 << 10)
#define HTTP1_MAX_HEADERS 2000

/* name, text for a person after "did not answer in HTTP/1: " */
#define HTTP1_FAULTS(X)                                                                            \
    X(NONE, "")                                                                                    \
    X(NOT_HTTP, "its answer does not start with a status line")                                    \
    X(TOO_LONG, "its headers are too long")                                                        \
    X(BAD_HEADER, "a line of its headers is malformed")                                            \
    X(BAD_LENGTH, "it gives conflicting lengths for its answer")                                   \
    X(BAD_CODING, "its answer uses a transfer coding other than chunked")                          \
    X(BAD_CHUNK, "a chunk of its answer is malformed")

enum http1_fault {
#define X(name, text) HTTP1_##name,
    HTTP1_FAULTS(X)
#undef X
};
const char *http1_fault_text(enum http1_fault fault);

/* --- requests --- */

struct http1_form {
    bool is_absolute;               /* a request to a proxy: the first line has the whole URL */
    struct str proxy_authorization; /* a header's value, or empty */
    const char *user_agent;
};
void http1_write_head(struct strbuf *out, const struct http_request *request, const struct url *u,
                      const struct http1_form *form);
/* Writes host, host:port or [address]:port, without a port that the scheme implies. */
void http1_add_authority(struct strbuf *out, const struct url *u);
/* "Basic ..." for a URL's user information, percent-decoded; empty if it has none. */
struct str http1_basic(struct arena *a, const struct url *u) MUST_USE;

/* --- responses --- */

struct http1_head {
    int status;
    bool is_1_0, closes; /* an older version; the connection ends with this response */
    struct http_headers headers;
};

/* Collects bytes until a head is whole. Zeroed is valid. Clear it for the next head, whose bytes
 * count towards the same limit: a server may send many provisional responses. */
struct http1_head_reader {
    struct strbuf text;
    size_t n_bytes; /* of all heads so far */
};
void http1_head_reader_done(struct http1_head_reader *r);
/* Takes bytes up to the end of the head. */
MUST_USE enum http1_fault http1_head_take(struct http1_head_reader *r, struct str bytes,
                                          size_t *ret_n_used, bool *ret_is_whole);
/* Parses a whole head. Its strings live in the arena. */
MUST_USE enum http1_fault http1_head_parse(struct arena *a, struct str text,
                                           struct http1_head *ret_head);

#endif
