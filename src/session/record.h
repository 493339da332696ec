/* record.h - a session as the one JSON object that other programs read.
 *
 * Made from what the session holds and never read by keel: its log is the truth. */
#ifndef KEEL_SESSION_RECORD_H
#define KEEL_SESSION_RECORD_H

#include "port/event.h"
#include "port/store.h"

/* What the session was begun with last. */
struct record_start {
    struct str system_prompt;
    struct str tool_schemas; /* a JSON array; empty: not known */
};
struct record_start record_start_of(struct arena *a, const struct event_session *how) MUST_USE;

void session_record_write(const struct store_summary *summary, const struct history *history,
                          const struct record_start *start, struct strbuf *out);
/* Where the store has a place for records. May wait. */
MUST_USE struct err *session_record_save(struct store *s, struct str id,
                                         const struct history *history,
                                         const struct record_start *start);

#endif
