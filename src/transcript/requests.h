/* requests.h - the requests of a session with all their content. Private to transcript/. */
#ifndef KEEL_TRANSCRIPT_REQUESTS_H
#define KEEL_TRANSCRIPT_REQUESTS_H

#include "model/message_list.h"
#include "session/session_record.h"
#include "transcript/writer.h"

/* A provider_request without values under names of credentials. It borrows from the event. */
struct request_redacted {
    struct event event;
    struct arena arena;
    struct message_list messages;
};
void request_redact(const struct event *e, struct request_redacted *ret);
void request_redacted_done(struct request_redacted *r);
DEFINE_AUTO_VAL(request_redacted, request_redacted_done)

/* Writes the member "requests" of a stream's record: a list of the content of its provider_request
 * lines, one request at a time. May wait. */
MUST_USE struct err *requests_write(const struct transcript *t, struct redaction *redaction,
                                    struct record_writer *w, struct str stream);

#endif
