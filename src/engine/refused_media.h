/* refused_media.h - files that a provider would not take: kept out of later requests. */
#ifndef KEEL_ENGINE_REFUSED_MEDIA_H
#define KEEL_ENGINE_REFUSED_MEDIA_H

#include "engine/request_build.h"

struct run;
struct target;

/* How far one ask has gone. A provider that names a file loses that one; one that speaks of files
 * without naming any, first the newest, then all that came with it, then all there are. Where the
 * refusal does not say what it is about, the new files are omitted on trial. Begins zeroed. */
struct refusals {
    enum { REFUSAL_NEWEST, REFUSAL_GROUP, REFUSAL_ALL } step;
    unsigned n_named;
    bool was_tried;           /* without new files, at this target */
    struct tool_state *draft; /* what is refused if the trial succeeds; NULL: none is under way */
    struct err *reason;       /* why the request with those files was refused */
    struct strbuf names;      /* of those files */
    size_t n_files;
};

/* True: the error complains about a file, and one or more are omitted from now on, so that the
 * request is worth another try. */
bool refused_media_leave_out(struct run *r, const struct built_messages *built, struct str provider,
                             const struct err *e, struct refusals *refusals);

/* True: the error does not say what it is about, and the request held files that no answer of this
 * model has followed yet. They are omitted on trial, until refusals_end() or refusals_drop(). */
bool refused_media_try_without(struct run *r, const struct built_messages *built,
                               const struct target *t, const struct err *e, bool is_last,
                               struct refusals *refusals);
/* Where to look up what is refused: in the session, or in what a trial makes of it. */
const struct tool_state *refusals_state(const struct refusals *refusals,
                                        const struct tool_state *session);
/* Another target is asked: it gets all files. */
void refusals_drop(struct refusals *refusals);
/* The ask ended with `take_error`, or with an answer: then the files that were omitted on trial
 * stay so. Else they are sent again, and the error is that of the request which held them, unless
 * the last one says more. Frees what `refusals` holds. */
MUST_USE struct err *refusals_end(struct run *r, struct refusals *refusals, struct err *take_error);

/* Of all files that were refused so far: another one when there is another file among them. */
uint64_t refused_media_mark(const struct tool_state *s);

/* What the session knows of a file that this provider has refused: {"reason"}; NULL: nothing. */
const struct json *refused_media_find(const struct tool_state *s, struct str provider,
                                      const struct media *m);

#endif
