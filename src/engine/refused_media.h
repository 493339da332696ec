/* refused_media.h - files that a provider would not take: kept out of later requests. */
#ifndef KEEL_ENGINE_REFUSED_MEDIA_H
#define KEEL_ENGINE_REFUSED_MEDIA_H

#include "engine/request_build.h"

struct run;

/* How far one ask has gone. A provider that names a file loses that one; one that does not, first
 * the newest, then all that came with it, then all there are. Zeroed at its start. */
struct refusals {
    enum { REFUSAL_NEWEST, REFUSAL_GROUP, REFUSAL_ALL } step;
    unsigned n_named;
};

/* True: the error complains about a file, and one or more are left out from now on, so that the
 * request is worth another try. */
bool refused_media_leave_out(struct run *r, const struct built_messages *built, struct str provider,
                             const struct err *e, struct refusals *refusals);

/* Of all files that were refused so far: another one when there is another file among them. */
uint64_t refused_media_mark(const struct tool_session *s);

/* What the session knows of a file that this provider has refused: {"reason"}; NULL: nothing. */
const struct json *refused_media_find(const struct tool_session *s, struct str provider,
                                      const struct media *m);

#endif
