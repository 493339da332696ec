/* event_stream.h - the events of a conversation, and who hears them.
 *
 * A stream lives as long as its conversation: what happens in a run and what happens between two
 * runs goes the same way. It numbers each event, gives it to its recorder and then to its
 * subscribers, in the order in which they subscribed. Those of its parents hear it too, after them.
 *
 * A subscriber lives in the memory of its owner, who unsubscribes it before that memory goes. It
 * never waits, cannot fail a run, and emits nothing. While it is called it may subscribe and
 * unsubscribe others and itself: a subscriber that was removed is not called again, a new one hears
 * the next event.
 *
 * Before its session is open and after it is closed a stream has no numbers to give: its events
 * have the number 0 and nothing records them. Subscribers hear them all the same. In a task. */
#ifndef KEEL_PORT_EVENT_STREAM_H
#define KEEL_PORT_EVENT_STREAM_H

#include "base/secrets.h"
#include "port/recorder.h"

struct event_stream;

struct event_subscriber {
    /* Required. The event is borrowed until this returns. */
    void (*on_event)(void *self, const struct event *e);
    /* All events of this stream, not of its children, before this number are durable. Called now
     * and then. What is not durable when a run ends will never be, and a notice has said so. May be
     * NULL. */
    void (*on_durable)(void *self, uint64_t next_seq);
    /* While stored events are told (session_subscribe()): after each, in the task that subscribes.
     * It may wait, so that a slow reader makes the reading slow instead of the memory large. An
     * error ends the subscription. May be NULL. */
    struct err *(*pace)(void *self);
    void *self;
    /* private */
    struct event_stream *stream; /* NULL: it is not subscribed */
    struct event_subscriber *next;
    uint64_t since;      /* hears what is told after that many */
    bool is_catching_up; /* it is not in the list yet */
};

/* Where a run is: all its events say so. */
struct event_place {
    struct str run_id;
    const struct owner *owner;
    unsigned round, attempt;
};

struct event_stream {
    struct str id;                   /* borrowed */
    struct event_stream *parent;     /* whose subscribers hear these events too; NULL: a root */
    uint64_t next_seq;               /* 0: there are no numbers to give */
    unsigned turn;                   /* runs so far */
    struct recorder *recorder;       /* NULL: nothing is recorded */
    const struct event_place *place; /* of the run under way; NULL: there is none */
    const struct secrets *secrets;   /* kept out of notices; NULL: none are known */
    uint64_t n_notices;              /* of the numbered events */
    /* private */
    struct event_subscriber *subscribers;
    struct event_subscriber *upcoming; /* the next to be called */
    uint64_t n_told;
    bool is_telling;
    uint64_t held_seq; /* recorded, and not told yet; 0: nothing is */
    struct late_event *late, **late_end;
};

/* Zeroed but for its id and parent is ready; it begins to number when it is opened. */
void event_stream_open(struct event_stream *s, uint64_t next_seq, struct recorder *recorder);
void event_stream_close(struct event_stream *s);
void event_stream_done(struct event_stream *s); /* removes all subscribers */

void event_stream_subscribe(struct event_stream *s, struct event_subscriber *subscriber);
void event_stream_unsubscribe(struct event_subscriber *subscriber); /* fine when it is not */

/* For one that hears stored events first: it is taken, and hears nothing of the stream yet. */
void event_stream_reserve(struct event_stream *s, struct event_subscriber *subscriber);

/* Fills in all but the body; an owner or a place that is set stays. */
void event_stream_emit(struct event_stream *s, enum event_type type, struct event *e);

/* The same in two steps, for an event that must be durable before anybody hears of it. Notices,
 * tool state and changes of the session that are emitted in between are recorded at once and heard
 * after it; nothing else may be. */
void event_stream_record(struct event_stream *s, enum event_type type, struct event *e);
void event_stream_tell(struct event_stream *s, const struct event *e);

/* The number of the first event that subscribers have not heard. */
uint64_t event_stream_told_seq(const struct event_stream *s);

/* Something that a person or an operator should know; `source` says which part of keel it is from.
 * A NULL stream ignores it. */
void event_stream_notice(struct event_stream *s, enum severity severity, const char *source,
                         struct str text);

#endif
