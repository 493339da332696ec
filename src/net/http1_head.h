/* http1_head.h - the heads of HTTP/1.1 messages: a request's is written, a response's is read.
 *
 * Pure. What is written was checked by http_open(): no name and no value holds a line end. What is
 * read is trusted in nothing: a head has a limit of bytes and of lines, and what is ambiguous is a
 * fault, because two readers of one connection must not see different messages. */
#ifndef KEEL_NET_HTTP1_HEAD_H
#define KEEL_NET_HTTP1_HEAD_H

#include "net/http.h"
#include "net/url.h"

#define HTTP1_MAX_HEAD_BYTES ((size_t)256 << 10)
#define HTTP1_MAX_HEADERS 2000

/* name, what a person reads behind "did not answer in HTTP/1: " */
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
    bool is_absolute;               /* a proxy is asked: the whole URL stands in the first line */
    struct str proxy_authorization; /* a header's value, or empty */
    const char *user_agent;
};
void http1_write_head(struct strbuf *out, const struct http_request *request, const struct url *u,
                      const struct http1_form *form);
/* host, host:port, [address]:port; without a port that the scheme implies. */
void http1_add_authority(struct strbuf *out, const struct url *u);
/* "Basic ..." of a URL's user information, which is percent-decoded; empty: it has none. */
struct str http1_basic(struct arena *a, const struct url *u) MUST_USE;

/* --- responses --- */

struct http1_head {
    int status;
    bool is_1_0, closes; /* an older version; the connection ends with this response */
    struct http_headers headers;
};

/* Collects bytes until a head is whole. Zeroed is valid; clear it for the next head, whose bytes
 * count towards the same limit: provisional responses may be many. */
struct http1_head_reader {
    struct strbuf text;
    size_t n_bytes; /* of all heads so far */
};
void http1_head_reader_done(struct http1_head_reader *r);
/* Takes bytes up to the end of the head. */
MUST_USE enum http1_fault http1_head_take(struct http1_head_reader *r, struct str bytes,
                                          size_t *ret_n_used, bool *ret_is_whole);
/* The head that is whole. Its strings live in the arena. */
MUST_USE enum http1_fault http1_head_parse(struct arena *a, struct str text,
                                           struct http1_head *ret_head);

#endif
