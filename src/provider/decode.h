/* decode.h - reads a response whatever its framing: SSE, NDJSON, one JSON value, an array, or the
 * binary frames of AWS.
 *
 * The framing is told from the first bytes, that of AWS from the content type. A response of an
 * error status is collected and classified. Bytes may come in pieces of any size; the result is the
 * same. A stream that stops before the provider said its last word is ERR_NETWORK, never a normal
 * end; one that breaks after it is an answer. What cannot be read, passes a limit or ends without
 * one event of the protocol is ERR_BAD_RESPONSE.
 *
 * Reading costs time and memory in proportion to the bytes, whatever they are. */
#ifndef KEEL_PROVIDER_DECODE_H
#define KEEL_PROVIDER_DECODE_H

#include "base/json_series.h"
#include "net/event_frames.h"
#include "net/lines.h"
#include "provider/protocol.h"

#define DECODE_MAX_EVENT ((size_t)32 << 20)
#define DECODE_MAX_ERROR_BODY ((size_t)1 << 20)
/* A model writes an event a token, and none writes a million of them. */
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
    struct strbuf whole; /* JSON and error bodies */
    size_t n_sniffed;    /* bytes of it that need not be looked at again to tell the framing */
    size_t line_start, line_end; /* of its first line; 0: the end has not come */
    bool is_object;              /* that line begins with '{' */
    size_t n_events, max_events;
    bool has_spoken;    /* one of them was the protocol's */
    char beginning[60]; /* of a stream */
    size_t n_beginning;
    const char *overflow_words, *delay_words, *media_words; /* the vendor's; may be NULL */
    bool is_spoilt;                                         /* by what came after the end */
    bool is_web_page;                                       /* the stream began like one */
    /* Called with every event's bytes as they came, and its type; or with an answer in one piece,
     * which has none. May be NULL. */
    void (*on_event)(void *self, struct str type, struct str bytes);
    void *self;
};

void decoder_init(struct decoder *d, const struct protocol *protocol, int status,
                  const struct http_headers *headers, int64_t unix_now_ms, struct reply *reply);
/* Right after decoder_init(): who answers: its words are looked for in refusals, and its
 * dialect tells how its texts are to be read. NULL: not known. */
struct vendor;
void decoder_listen(struct decoder *d, const struct vendor *v);
/* Right after decoder_init(), for tests: smaller limits. */
void decoder_limit(struct decoder *d, size_t max_event_bytes, size_t max_events);
void decoder_done(struct decoder *d);
DEFINE_AUTO_VAL(decoder, decoder_done)

MUST_USE struct err *decoder_feed(struct decoder *d, struct str bytes);
/* Instead of decoder_feed(), what on_event() was called with. */
MUST_USE struct err *decoder_feed_told(struct decoder *d, struct str type, struct str bytes);
/* Events that name no type have this one. */
#define DECODE_PLAIN_TYPE S("message")
/* After the last byte. Finishes the reply in any case. */
MUST_USE struct err *decoder_end(struct decoder *d);
/* No more bytes will come, for this reason. Fine when what came is a whole answer; an error status
 * still says what the provider meant. Else the reason is the error. Finishes the reply. */
MUST_USE struct err *decoder_break(struct decoder *d, struct err *take_why);

/* No byte that follows can change the result, but for a cost that some tell behind the end. */
bool decoder_is_over(const struct decoder *d);
/* Grows with everything that an answer says; comments, pings and blank lines leave it. */
size_t decoder_progress(const struct decoder *d);

/* How a body is compressed; empty: it is not. We ask for none, so it cannot be read. */
struct str decoder_compression(const struct http_headers *headers);

#endif
