/* sse.h - reads text/event-stream as the WHATWG standard says.
 *
 * Bytes go in as they arrive, in pieces of any size; whole events come out. A BOM at the start,
 * CR, LF and CRLF, comments, `id`, `retry` and events without data are handled; an event that is
 * cut off at the end of the stream is dropped. Bytes that are not UTF-8 pass as they came. Neither
 * the data of one event nor one line may grow past the cap; after that error the reader is of no
 * more use.
 *
 *     sse_feed(&r, bytes);
 *     for (;;) {
 *         TRY(sse_next(&r, &event, &has_event));
 *         if (!has_event) break;               needs more bytes
 *     }
 *
 * The event's strings live until the next call on the reader. No allocation per event after
 * warm-up. */
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
    struct strbuf line;        /* the start of a line whose end has not come */
    struct strbuf type, data;  /* of the event being read */
    struct strbuf id, next_id; /* as of the last whole event, and what the next one will make it */
    size_t max_event_bytes;
    int64_t retry_ms; /* the last `retry`, -1 if none */
    bool feed_has_cr; /* else its lines end with \n alone */
    bool started;     /* past the first line, so past a BOM */
    bool after_cr;    /* a LF that comes now belongs to the CR before it */
    bool has_data, has_next_id;
    bool handed_out; /* the caller holds type and data until the next call */
};

void sse_init(struct sse_reader *r, size_t max_event_bytes);
void sse_done(struct sse_reader *r);
DEFINE_AUTO_VAL(sse_reader, sse_done)

/* `bytes` must stay valid until sse_next() has said that it needs more. */
void sse_feed(struct sse_reader *r, struct str bytes);
MUST_USE struct err *sse_next(struct sse_reader *r, struct sse_event *ret_event, bool *ret_has);

/* What to send as Last-Event-ID when the stream is opened again; empty if none. */
struct str sse_last_event_id(const struct sse_reader *r);

#endif
