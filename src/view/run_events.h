/* run_events.h - a run for remote subscribers: NDJSON lines, numbered without a gap.
 *
 *     {"type":"agent:token","runId":...,"timestamp":...,"sequenceNumber":7,...}
 *
 * The view omits events and splits others, so it has its own numbers, from 0. For a whole session
 * the lines have sessionId and report turns (session:turn_started). For a run they have runId
 * (run:started), and child runs are nodes (node:started). Readers ignore unknown types. */
#ifndef KEEL_VIEW_RUN_EVENTS_H
#define KEEL_VIEW_RUN_EVENTS_H

#include "port/event.h"

/* Ready when zeroed. */
struct run_events {
    bool of_session;      /* the lines have sessionId, not runId */
    uint64_t next_number; /* of the next line; set it to continue an earlier view */
    struct strbuf id;     /* the outermost run's or session's: from the first event if not set */
    struct strbuf model;  /* of the last attempt that began */
    bool is_node;         /* the outermost run is itself a node of a workflow */
};
void run_events_done(struct run_events *v);
DEFINE_AUTO_VAL(run_events, run_events_done)

/* Appends zero or more complete lines. */
void run_events_event(struct run_events *v, const struct event *e, struct strbuf *out);

#endif
