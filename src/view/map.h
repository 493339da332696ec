/* map.h - what every view makes of every event: one table.
 *
 * A cell lists the names that a view may give to an event, blanks between them; which one depends
 * on what the event holds. An empty cell says that the view leaves the event out. No cell is
 * missing: a test asserts it, and that views say what stands here. */
#ifndef KEEL_VIEW_MAP_H
#define KEEL_VIEW_MAP_H

#include "port/event.h"

enum view {
    VIEW_JOURNAL,     /* journal.h */
    VIEW_INTERACTIVE, /* interactive.h */
    VIEW_EMITTER,     /* plugin/event_emitter.h */
    VIEW_LIBRARY,     /* library.h */
    VIEW_RUN_EVENTS,  /* run_events.h */
    VIEW_LOG,         /* operator_log.h */
    VIEW_STREAM_JSON, /* stream_json.h; "system/init" is a type and its subtype */
    VIEW_N
};

/* NULL only if the table is incomplete. */
const char *view_names(enum view v, enum event_type t);
bool view_has_name(enum view v, enum event_type t, struct str name);

#endif
