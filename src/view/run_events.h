/* run_events.h - a run as its remote subscribers see it: NDJSON lines, numbered without a gap.
 *
 *     {"type":"agent:token","runId":...,"timestamp":...,"sequenceNumber":7,...}
 *
 * The view leaves events out and makes several of one, so it numbers for itself, from 0. One that
 * follows a whole session is keyed by sessionId and speaks of turns (session:turn_started), one
 * that follows a run by runId (run:started); there child runs are nodes (node:started). Readers
 * ignore types that they do not know. */
#ifndef KEEL_VIEW_RUN_EVENTS_H
#define KEEL_VIEW_RUN_EVENTS_H

#include "port/event.h"

/* Zeroed is ready. */
struct run_events {
    bool of_session;      /* keyed by the session, not by the run */
    uint64_t next_number; /* of the next line; set it to go on where an earlier view stopped */
    struct strbuf
        id; /* the outermost run's or session's: learned from the first event if not set */
    struct strbuf model; /* of the last attempt that began */
    bool is_node;        /* the outermost run is itself a node of a workflow */
};
void run_events_done(struct run_events *v);
DEFINE_AUTO_VAL(run_events, run_events_done)

/* Appends zero or more whole lines. */
void run_events_event(struct run_events *v, const struct event *e, struct strbuf *out);

#endif
