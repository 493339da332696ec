/* recorder.h - the journal as the engine sees it: told of every event, waited for where it counts.
 *
 * Before a tool starts, its request has been appended and is durable; so after a crash nothing can
 * have happened that the journal does not know of. */
#ifndef KEEL_PORT_RECORDER_H
#define KEEL_PORT_RECORDER_H

#include "port/event.h"

/* What an event survives. */
enum recorder_safety {
    RECORDER_FLUSHED, /* the death of this process */
    RECORDER_DURABLE, /* a loss of power, too */
};

struct recorder {
    /* Required. Copies what it keeps; never waits. The next wait reports what fails. */
    void (*append)(struct recorder *r, const struct event *e);
    /* Required. Waits until all that was appended is as safe as that, or safer. */
    struct err *(*wait)(struct recorder *r, enum recorder_safety safety);
    /* Begins to make it so and returns: a wait() that follows takes less time. May be NULL. */
    void (*hurry)(struct recorder *r, enum recorder_safety safety);
    /* Set by the stream, for the recorder to call when events before a number have become durable.
     */
    void (*on_durable)(void *self, uint64_t next_seq);
    void *durable_self;
};

/* NULL is a recorder that keeps nothing. */
void recorder_append(struct recorder *r, const struct event *e);
MUST_USE struct err *recorder_wait(struct recorder *r, enum recorder_safety safety);

#endif
