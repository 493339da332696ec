/* aws_event.h - what a frame of InvokeModelWithResponseStream says. Pure. */
#ifndef KEEL_PROVIDER_AWS_EVENT_H
#define KEEL_PROVIDER_AWS_EVENT_H

#include "base/arena.h"
#include "net/event_frames.h"

/* Appends the model's own event, which stands in a frame in base64; nothing for a frame that holds
 * none. An exception that the service reports becomes an "error" event of the Messages API, the one
 * protocol that comes in such frames: so a recording of events holds it too. */
MUST_USE struct err *aws_event_read(const struct event_frame *frame, struct arena *scratch,
                                    struct strbuf *event);

#endif
