/* session_parts.h - what the files of a session share. Only they include this. */
#ifndef KEEL_SESSION_SESSION_PARTS_H
#define KEEL_SESSION_SESSION_PARTS_H

#include "base/uuid.h"
#include "session/session.h"

int64_t session_now_ms(void);
struct str session_new_id(struct session *s, char id[UUID_TEXT_SIZE]);

/* --- session_events.c: between runs --- */

/* Fills in everything but the body. */
void session_emit(struct session *s, enum event_type type, struct event *e);
struct event_stream *session_notices(struct session *s); /* where its notices go */
/* `mutation` as event.h says; m NULL: the history is empty from here on. Returns when it was: the
 * history says the same. */
int64_t session_emit_history(struct session *s, const struct message *m, size_t index,
                             const char *mutation);
/* Adds it to the history. */
void session_commit(struct session *s, struct message *m);

/* --- session_abandon.c --- */

/* A run that was cut off is not resumed: known results are used, the other calls end with `why`. */
void session_abandon_calls(struct session *s, struct str why);

/* --- session_child.c --- */

void session_init_children(struct session *s);
/* Its parent knows it as long as it is there. */
void session_link(struct session *s);
void session_unlink(struct session *s);
/* What open children have spent by now counts. */
MUST_USE struct err *session_count_children(struct session *s);
/* They are not continued: the calls that began them have ended in another way. May wait. */
void session_abandon_children(struct session *s);
/* The run is suspended: the calls that wait continue theirs. */
void session_keep_children(struct session *s);

/* --- checkpoints --- */

void session_checkpoint(struct session *s);
bool session_needs_checkpoint(const struct session *s);

#endif
