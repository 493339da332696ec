/* sse.h - reads text/event-stream as the WHATWG standard defines it.
 *
 * Bytes go in as they arrive, in pieces of any size; whole events come out. The reader handles a
 * BOM at the start, CR, LF and CRLF, comments, `id`, `retry` and events without data. It drops an
 * event that is cut off at the end of the stream. Bytes that are not UTF-8 pass unchanged. Neither
 * the data of one event nor one line may exceed the cap; the reader cannot be used after that
 * error.
 *
 *     sse_feed(&r, bytes);
 *     for (;;) {
 *         TRY(sse_next(&r, &event, &has_event));
 *         if (!has_event) break;               needs more bytes
 *     }
 *
 * The event's strings live until the next call on the reader. After warm-up an event needs no
 * allocation. */
#ifndef KEEL_NET_SSE_H
#define KEEL_NET_SSE_H

#include "base/strbuf.h"

struct sse_event {
    struct str type; /* "message" when the stream named none */
    struct str data;
    struct str last_event_id;
};

struct sse_reader {
    struct str feed;           /* the caller's bytes, borrowed until they are used up */
    struct strbuf line;        /* the start of a line without its end */
    struct strbuf type, data;  /* of the event being read */
    struct strbuf id, next_id; /* of the last whole event, and the value that the next one sets */
    size_t max_event_bytes;
    int64_t retry_ms; /* the last `retry`, -1 if none */
    bool feed_has_cr; /* if not, its lines end with \n alone */
    bool started;     /* after the first line, so after a BOM */
    bool after_cr;    /* a LF now belongs to the CR before it */
    bool has_data, has_next_id;
    bool handed_out; /* the caller holds type and data until the next call */
};

void sse_init(struct sse_reader *r, size_t max_event_bytes);
void sse_done(struct sse_reader *r);
DEFINE_AUTO_VAL(sse_reader, sse_done)

/* `bytes` must stay valid until sse_next() needs more. */
void sse_feed(struct sse_reader *r, struct str bytes);
MUST_USE struct err *sse_next(struct sse_reader *r, struct sse_event *ret_event, bool *ret_has);

/* The Last-Event-ID for reopening the stream; empty if there is none. */
struct str sse_last_event_id(const struct sse_reader *r);

#endif
