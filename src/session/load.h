/* load.h - reads a session from its stream: what the next run needs, and how the last one ended.
 *
 * Only core records from the last base of the history on are read, and of tool state what the last
 * checkpoint holds and what came after it: the cost does not depend on how long the session was
 * before that base. If nothing is open at that checkpoint, resuming skips what only says
 * how runs before it went. After a crash every call that was under way has one of three outcomes, a
 * partial answer is an interrupted message, and a prompt that was durable but not yet committed is
 * known. */
#ifndef KEEL_SESSION_LOAD_H
#define KEEL_SESSION_LOAD_H

#include "engine/conversation.h"
#include "engine/run.h"
#include "port/store.h"
#include "session/budget.h"
#include "session/child_list.h"
#include "session/codec/codec.h"

enum last_run {
    LAST_RUN_NONE,      /* the session has had none */
    LAST_RUN_ENDED,     /* with a result */
    LAST_RUN_SUSPENDED, /* `asks` wait for answers */
    LAST_RUN_CUT_OFF,   /* its process died */
};

/* A request that was on its way when its process died. */
struct lost_attempt {
    bool is_there; /* else there is none, or another process has settled it */
    struct str provider, model;
    unsigned round, number;
    bool is_aside;
    struct str call_id; /* of the tool call that asked; empty: the run did */
    struct settlement settled;
};

struct loaded {
    struct arena arena;
    struct store_summary summary;
    uint64_t base_seq;        /* of the mutation that the history begins with */
    struct history_hash hash; /* of its messages */
    struct codec_pack *packs; /* that hold its first messages; the last alone where all was read */
    size_t n_packs;
    enum last_run last_run;
    struct str run_id;
    struct message *prompt;  /* CUT_OFF before it was committed: the person's; else NULL */
    struct message *partial; /* CUT_OFF before it was committed: an answer, maybe a part of it */
    struct given_outcome *outcomes; /* of the open calls of the last answer */
    size_t n_outcomes;
    struct child_list children; /* of the last calls, and all others that have not ended */
    struct ask *asks;
    size_t n_asks;
    /* What the last requests were made with. */
    struct str provider, model;
    struct turn_progress turn; /* what the last turn has come to: for a run that finishes it */
    bool lacks_turn;           /* that was not read, because the turn is finished */
    struct lost_attempt lost;
    /* By all runs and by children that have ended, what was lost included. */
    struct spent spent;
    struct str notice; /* what was cut off or could not be read; empty: nothing */
    bool is_damaged;   /* a message of the history, or what may have been one, cannot be read */
};
void loaded_done(struct loaded *l);
DEFINE_AUTO_VAL(loaded, loaded_done)

/* Fills history, tool state and numbers of a fresh conversation; `to` leaves out that event and all
 * after it, 0: none. The lease is the caller's. May wait. */
MUST_USE struct err *session_load(struct store *s, struct str id, uint64_t to,
                                  struct conversation *c, struct loaded *ret_loaded);
/* The same for a caller that continues the session, in less time: if the last run gave its answer,
 * what runs before the last checkpoint did on their way is not read, and `turn` is empty. If
 * something is open or damaged, it is the same as session_load(). */
MUST_USE struct err *session_load_to_resume(struct store *s, struct str id, struct conversation *c,
                                            struct loaded *ret_loaded);
/* Only its state: without history, tool state and outcomes, and without the memory that these
 * take. May wait. */
MUST_USE struct err *session_look(struct store *s, struct str id, struct loaded *ret_loaded);

#endif
