/* event_frames.h - reads application/vnd.amazon.eventstream: frames with a length and two CRCs.
 *
 * Used like sse.h: feed, then take frames until it needs more. A frame lives until the next call on
 * the reader. A frame over the cap, with a wrong CRC or with lengths that do not fit is an error;
 * the reader cannot be used after it. */
#ifndef KEEL_NET_EVENT_FRAMES_H
#define KEEL_NET_EVENT_FRAMES_H

#include "base/strbuf.h"

struct event_frame {
    struct str headers; /* undecoded; event_frame_get() reads them */
    struct str payload;
};

struct event_frame_reader {
    struct str feed;       /* the caller's bytes, borrowed until they are used up */
    struct strbuf pending; /* a frame without its end */
    bool handed_out;       /* the caller holds `pending` until the next call */
};

void event_frames_init(struct event_frame_reader *r, size_t max_frame_bytes);
void event_frames_done(struct event_frame_reader *r);
DEFINE_AUTO_VAL(event_frame_reader, event_frames_done)

/* `bytes` must stay valid until event_frames_next() needs more. */
void event_frames_feed(struct event_frame_reader *r, struct str bytes);
MUST_USE struct err *event_frames_next(struct event_frame_reader *r, struct event_frame *ret_frame,
                                       bool *ret_has);

/* A string header such as ":event-type"; empty if it is missing. */
struct str event_frame_get(const struct event_frame *f, const char *name);

#endif
