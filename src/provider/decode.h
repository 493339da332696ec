/* decode.h - reads a response whatever its framing: SSE, NDJSON, one JSON value, an array, or the
 * binary frames of AWS.
 *
 * The framing is detected from the first bytes, that of AWS from the content type. A response with
 * an error status is collected and classified. Pieces of any size give the same result. A stream
 * that stops before the provider has marked its end is ERR_NETWORK, never a normal end; if it
 * breaks later, it is an answer. A response that cannot be parsed, exceeds a limit or has no event
 * of the protocol is ERR_BAD_RESPONSE.
 *
 * Reading takes time and memory in proportion to the bytes, whatever they are. */
#ifndef KEEL_PROVIDER_DECODE_H
#define KEEL_PROVIDER_DECODE_H

#include "base/json_series.h"
#include "net/event_frames.h"
#include "net/lines.h"
#include "provider/protocol.h"

#define DECODE_MAX_EVENT ((size_t)32 << 20)
#define DECODE_MAX_ERROR_BODY ((size_t)1 << 20)
/* A model writes one event per token, and never a million tokens. */
#define DECODE_MAX_EVENTS ((size_t)2 << 20)

struct decoder {
    const struct protocol *protocol;
    struct decode decode;
    int status;
    const struct http_headers *headers; /* may be NULL */
    int64_t unix_now_ms;                /* for Retry-After dates */
    enum {
        FRAMING_UNKNOWN,
        FRAMING_SSE,
        FRAMING_NDJSON,
        FRAMING_JSON,
        FRAMING_AWS,
        FRAMING_ERROR
    } framing;
    struct sse_reader sse;
    struct line_reader lines;
    struct event_frame_reader frames;
    struct json_series events;
    struct strbuf whole;         /* JSON and error bodies */
    size_t n_sniffed;            /* bytes of it that are known not to decide the framing */
    size_t line_start, line_end; /* of its first line; 0: no end yet */
    bool is_object;              /* that line begins with '{' */
    size_t n_events, max_events;
    bool has_spoken;    /* one of them was of the protocol */
    char beginning[60]; /* of a stream */
    size_t n_beginning;
    const char *overflow_words, *delay_words, *media_words; /* the vendor's; may be NULL */
    bool is_spoilt;                                         /* by bytes after the end */
    bool is_web_page;                                       /* the stream began like a web page */
    /* Called with the bytes of every event as they came, and its type; or with a whole answer,
     * which has no type. May be NULL. */
    void (*on_event)(void *self, struct str type, struct str bytes);
    void *self;
};

void decoder_init(struct decoder *d, const struct protocol *protocol, int status,
                  const struct http_headers *headers, int64_t unix_now_ms, struct reply *reply);
/* Call it right after decoder_init(). The vendor's words are looked for in refusals, and its
 * dialect says how to read its texts. NULL: unknown vendor. */
struct vendor;
void decoder_set_vendor(struct decoder *d, const struct vendor *v);
/* For tests, right after decoder_init(): smaller limits. */
void decoder_limit(struct decoder *d, size_t max_event_bytes, size_t max_events);
void decoder_done(struct decoder *d);
DEFINE_AUTO_VAL(decoder, decoder_done)

MUST_USE struct err *decoder_feed(struct decoder *d, struct str bytes);
/* Instead of decoder_feed(): feeds what on_event() got. */
MUST_USE struct err *decoder_feed_event(struct decoder *d, struct str type, struct str bytes);
/* The type of events without one. */
#define DECODE_PLAIN_TYPE S("message")
/* Call it after the last byte. Finishes the reply in any case. */
MUST_USE struct err *decoder_end(struct decoder *d);
/* No more bytes will come, for this reason. Returns NULL if the answer is complete, the meaning of
 * an error status, or else the reason. Finishes the reply. */
MUST_USE struct err *decoder_break(struct decoder *d, struct err *take_why);

/* No further byte can change the result, except for a cost that some report after the end. */
bool decoder_is_over(const struct decoder *d);
/* Grows with the content of the answer, but not with comments, pings and blank lines. */
size_t decoder_progress(const struct decoder *d);

/* How a body is compressed; empty: not. keel asks for no compression, so it cannot read one. */
struct str decoder_compression(const struct http_headers *headers);

#endif
