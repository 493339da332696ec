/* record.h - a session as the one JSON object that other programs read.
 *
 * Made from what the session holds and never read by keel: its log is the truth. */
#ifndef KEEL_SESSION_RECORD_H
#define KEEL_SESSION_RECORD_H

#include "model/history.h"
#include "port/store.h"

struct session_record {
    const struct store_summary *summary;
    const struct history *history;
    struct str system_prompt;
    struct str tool_schemas; /* a JSON array; empty: not known */
};

void session_record_write(const struct session_record *r, struct strbuf *out);

#endif
