/* aws_event.h - what a frame of InvokeModelWithResponseStream says. Pure. */
#ifndef KEEL_PROVIDER_AWS_EVENT_H
#define KEEL_PROVIDER_AWS_EVENT_H

#include "net/event_frames.h"
#include "provider/protocol.h"

/* Appends the model's own event, which stands in a frame in base64; nothing for a frame that holds
 * none. An exception that the service reports in the stream is returned, classified. */
MUST_USE struct err *aws_event_read(const struct event_frame *frame,
                                    const struct protocol *protocol, struct arena *scratch,
                                    struct strbuf *event);

#endif
