/* load_parts.h - a session that is being loaded: what the files of load.h share, and only they.
 *
 *     load.c         finds where to begin, reads records, and looks at what a crash has left
 *     load_events.c  what each event says about how things stand */
#ifndef KEEL_SESSION_LOAD_PARTS_H
#define KEEL_SESSION_LOAD_PARTS_H

#include "session/codec/load_pack.h"
#include "session/load.h"

struct loaded_call {
    struct str id;
    size_t index;
    bool has_begun, has_result;
    uint64_t end_seq; /* of the event that has its result; 0: there is none */
    const char *error_code;
};

struct loading {
    struct store *store;
    struct conversation *conversation; /* NULL: only the state of the session is read */
    struct loaded *out;
    struct arena calls_arena;  /* emptied with each answer */
    struct loaded_call *calls; /* of the last one */
    size_t n_calls, calls_room;
    uint64_t attempt_seq; /* of the attempt that nothing came of yet; 0: there is none */
    bool is_aside;        /* the last attempt does not belong to the conversation */
    /* of the attempt whose end was not read yet */
    uint64_t open_seq; /* 0: there is none */
    struct reservation reserved;
    struct price price;
    struct usage reported;  /* what the provider reported, once its answer was complete */
    unsigned rounds_before; /* of this turn, by earlier runs */
    const char *code;       /* of the result that is not in the history yet; NULL: a success */
    bool was_executed;      /* the same */
    bool was_unknown;       /* the answer before the last one called tools that are not there */
    bool is_answered;       /* the history ends with an answer */
    uint64_t checkpoint_seq;
    uint64_t end; /* the number after the last event that counts */
    int64_t began_ms, last_ms;
    uint64_t reserved_ms; /* time at work, of all runs so far; 0: this one has reserved none */
    size_t n_early; /* calls of the last attempt that are counted, and have not begun in a batch */
    unsigned n_broken;
    size_t next_index; /* of the next message */
    bool has_gap;      /* something since the last message cannot be read */
    /* What precedes the checkpoint is passed over, as long as nothing of it is open. */
    bool passes;
    /* What precedes the last pack is not read: its messages are in packs. */
    bool takes_packs, is_packed;
    struct pack_head pack;         /* the last one */
    struct history packed_history; /* until the reader takes it */
    bool has_run_since;            /* a run has begun behind what is passed over */
    bool must_not_pass;            /* something is open or damaged: all of it must be read */
};

/* load_events.c */
void loading_take(struct loading *l, const struct event *e);
/* The process died: what it had reserved counts, or what its records say if that is more. */
void loading_count_time(struct loading *l);
/* If the end of an attempt is missing, what the provider reported counts, or what was reserved, or
 * more if more had arrived. */
void loading_settle_open(struct loading *l, uint64_t n_bytes);
bool loading_ends_with(const struct message *m); /* is it an answer that leaves nothing to do? */

#endif
