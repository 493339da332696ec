/* event_frames.h - reads application/vnd.amazon.eventstream: frames with a length and two CRCs.
 *
 * Used like sse.h: feed, then take frames until it needs more. A frame lives until the next call
 * on the reader. A frame over the cap, one whose CRC is not right or whose lengths do not fit is
 * an error, and after it the reader is of no more use. */
#ifndef KEEL_NET_EVENT_FRAMES_H
#define KEEL_NET_EVENT_FRAMES_H

#include "base/strbuf.h"

struct event_frame {
    struct str headers; /* as they came; event_frame_get() reads them */
    struct str payload;
};

struct event_frame_reader {
    struct str feed;       /* the caller's bytes, borrowed until they are used up */
    struct strbuf pending; /* a frame whose end has not come */
    bool handed_out;       /* the caller holds `pending` until the next call */
};

void event_frames_init(struct event_frame_reader *r, size_t max_frame_bytes);
void event_frames_done(struct event_frame_reader *r);
DEFINE_AUTO_VAL(event_frame_reader, event_frames_done)

/* `bytes` must stay valid until event_frames_next() has said that it needs more. */
void event_frames_feed(struct event_frame_reader *r, struct str bytes);
MUST_USE struct err *event_frames_next(struct event_frame_reader *r, struct event_frame *ret_frame,
                                       bool *ret_has);

/* A header that is a string: ":event-type". Empty when it is not there. */
struct str event_frame_get(const struct event_frame *f, const char *name);

#endif
