/* transcript.h - a session as text: for people and for other programs.
 *
 * The stream is read event by event and written as it is read, so memory does not grow with the
 * session. A log has a history once, so its size does not grow with the square of the session
 * either, unless whole requests are wanted: then one of them at a time is in memory. Children
 * follow, each after all of its parent, the oldest first. No form shows values of known
 * credentials, or values under the name of a credential in the arguments of a call. */
#ifndef KEEL_TRANSCRIPT_TRANSCRIPT_H
#define KEEL_TRANSCRIPT_TRANSCRIPT_H

#include "base/secrets.h"
#include "model/message_form.h"
#include "port/store.h"

enum transcript_form {
    TRANSCRIPT_JSONL,    /* every event as its line of the log (view/session_log.h) */
    TRANSCRIPT_JSON,     /* one record, as other programs read it */
    TRANSCRIPT_MARKDOWN, /* a document */
    TRANSCRIPT_HTML,     /* one page that needs nothing else */
};
bool transcript_form_find(struct str name, enum transcript_form *ret_form); /* "md" and "htm" too */

struct transcript {
    struct store *store;
    const struct store_summary *session;
    enum transcript_form form;
    bool without_children;
    /* JSON and JSONL: every request with all its messages, system text and tools. */
    bool with_requests;
    const struct message_form *(*find_form)(struct str protocol); /* for these; may be NULL */
    const struct secrets *secrets;                                /* may be NULL */
    /* Gets the text, piece by piece; may wait. */
    struct err *(*write)(void *self, struct str text);
    /* A record is unreadable; the rest is written. May be NULL. */
    void (*on_broken)(void *self, const struct err *e);
    /* The progress after each piece: events read, of all. May be NULL. */
    void (*on_progress)(void *self, uint64_t n_events, uint64_t n_all);
    void *self;
};

MUST_USE struct err *transcript_write(const struct transcript *t);

#endif
