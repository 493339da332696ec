/* event_emitter.h - a subscriber that passes events on to listeners, by name.
 *
 * Names are owner.what: "execution.start", "tool.execute_success", "agent.completion",
 * "task.started" (a child run), "user.input". A listener subscribes to one of them, to all of an
 * owner ("tool.*") or to all ("*"). Listeners are called in the order in which they subscribed and
 * may subscribe and unsubscribe while they are called: one that is removed is not called again, one
 * that is added is called from the next event on. A listener that fails is counted and reported to
 * on_failure; the run continues, and the other listeners get the event all the same. */
#ifndef KEEL_VIEW_EVENT_EMITTER_H
#define KEEL_VIEW_EVENT_EMITTER_H

#include "port/event_stream.h"

#define EVENT_EMITTER_MAX_LISTENERS 1000
#define EVENT_EMITTER_MAX_NAMES 4 /* that one event can have */

/* Borrowed until the listener returns. */
struct emitted {
    const char *name;
    const struct owner *owner; /* from the inside out; a tool's event: the call itself */
    const struct event *event;
};

struct emitter_listener {
    struct err *(*on_event)(void *self, const struct emitted *e);
    void *self;
};

struct emitter_failures {
    void (*on_failure)(void *self, const char *name, const struct err *e); /* may be NULL */
    void *self;
};

struct event_emitter;

struct event_emitter *event_emitter_new(struct emitter_failures failures) MUST_USE;
void event_emitter_free(struct event_emitter *m); /* not from inside a listener */
DEFINE_AUTO_PTR(event_emitter, event_emitter_free)

/* For event_stream_subscribe(); lives as long as the emitter, whose end unsubscribes it. */
struct event_subscriber *event_emitter_subscriber(struct event_emitter *m);

/* ERR_VALIDATION: no such pattern; ERR_PLUGIN: too many listeners. */
MUST_USE struct err *event_emitter_on(struct event_emitter *m, const char *pattern,
                                      struct emitter_listener listener, uint64_t *ret_id);
bool event_emitter_off(struct event_emitter *m, uint64_t id); /* false: it was not there */

/* The names of an event, in the order in which they are emitted; returns how many. */
size_t event_emitter_names(const struct event *e, const char *ret_names[EVENT_EMITTER_MAX_NAMES]);

struct emitter_metrics {
    uint64_t n_emitted; /* names, whether or not somebody listened */
    uint64_t n_handled; /* calls of listeners */
    uint64_t n_failed;  /* of these */
    size_t n_listeners; /* now */
};
struct emitter_metrics event_emitter_metrics(const struct event_emitter *m);
uint64_t event_emitter_count(const struct event_emitter *m, const char *name); /* emitted so far */

#endif
