/* digest.h - what the list of sessions shows of one, out of its events.
 *
 * The journal keeps it up while they come; a rebuild makes it again from all of them. */
#ifndef KEEL_SESSION_DIGEST_H
#define KEEL_SESSION_DIGEST_H

#include "port/event.h"
#include "port/store.h"

/* Adds what the event says, with its texts in `a`; false: nothing. *is_copy: the stream began with
 * messages of another one, whose first prompt stays the preview. Begin with false. */
bool digest_event(struct store_summary *u, struct arena *a, const struct event *e, bool *is_copy);
/* As the list has it: n_messages of a summary that may be an update. */
uint64_t digest_n_messages(const struct store_summary *u);

#endif
