/* map.h - how each view shows each event: one table.
 *
 * A cell lists the names that a view may give to an event, separated by blanks; the contents of the
 * event decide which one. An empty cell means that the view omits the event. A test asserts that no
 * cell is missing, and that the views use these names. */
#ifndef KEEL_VIEW_MAP_H
#define KEEL_VIEW_MAP_H

#include "port/event.h"

enum view {
    VIEW_SESSION_LOG,  /* session_log.h */
    VIEW_INTERACTIVE,  /* interactive.h */
    VIEW_EMITTER,      /* view/event_emitter.h */
    VIEW_LIBRARY,      /* library.h */
    VIEW_RUN_EVENTS,   /* run_events.h */
    VIEW_OPERATOR_LOG, /* operator_log.h */
    VIEW_STREAM_JSON,  /* stream_json.h; "system/init" is a type and its subtype */
    VIEW_N
};

/* NULL only if the table is incomplete. */
const char *view_names(enum view v, enum event_type t);
bool view_has_name(enum view v, enum event_type t, struct str name);

#endif
