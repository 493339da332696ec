/* parts.h - a run that is played again: what the files of replay.h share, and only they.
 *
 *     replay.c    all runs of a session, one after the other
 *     compare.c   events against the recording; ids and times
 *     provider.c  answers: recorded bytes through the real protocol
 *     calls.c     tools and the gate, as recorded
 *     summaries.c compaction, as recorded
 *     ports.c     hooks, plugins, budget, news, as recorded */
#ifndef KEEL_SDK_REPLAY_PARTS_H
#define KEEL_SDK_REPLAY_PARTS_H

#include "archive/recording.h"
#include "engine/run.h"
#include "sdk/replay/replay.h"
#include "session/compact.h"

#define REPLAY_ID_SIZE 37

struct replay_ids {
    char (*items)[REPLAY_ID_SIZE]; /* the recorded one for each that was made; "": not seen yet */
    size_t n, room;
};

struct replay_waiting {
    struct waker waker;
    struct replay_waiting *next;
};

/* What was made of a summary, known before it is asked for. */
struct replay_summary {
    bool was_automatic;
    struct message *reattached; /* the message with what was put back; NULL: there was none */
    struct str no_gain;         /* the notice that it gained nothing; empty: there was none */
};

struct replay {
    const struct replay_options *options;
    struct recording *recording;
    struct arena arena;
    /* how far it is */
    struct recorded_attempt *attempt; /* under way */
    size_t n_batches;
    bool is_over;    /* a difference, or the end of the recording */
    bool fails_sync; /* waiting for the journal is interrupted, or the journal fails */
    struct replayed_run result;
    struct str whole_line; /* where that is a difference: with its long texts */
    struct replay_pieces pieces;
    struct replay_ids ids;
    uint64_t clock_start_ms; /* what the clock said at the first event */
    struct replay_waiting *waiting;
    uint64_t place_given_seq; /* the beginning of a call that a place was left for; 0: none */
    /* what the run is given */
    struct group *tasks; /* in which it runs */
    struct run *run;
    struct conversation conversation;
    struct run_plan plan;
    struct tool_registry *tools;
    struct recorder recorder;
    struct random random;
    struct seeded_random others;
    struct gate gate;
    struct hooks hooks;
    struct plugin plugin;
    struct compactor compactor;
    struct news news;
    struct target *targets; /* the plan's */
    struct compaction compaction;
    struct replay_summary summary; /* the last one */
    struct blob_store blobs;
};

/* The replay that a port (its gate, its hooks, ...) belongs to. */
#define REPLAY_OF(port, member)                                                                    \
    ((struct replay *)((char *)(port) - offsetof(struct replay, member)))

/* compare.c */
void replay_compare_init(struct replay *r);
void replay_compare_done(struct replay *r);
/* After the run: is there anything left that should have come? */
void replay_compare_end(struct replay *r);
/* After that: the lines of the difference as they are, where long texts were compared by hash. May
 * wait. */
void replay_load_difference(struct replay *r);
/* What must come next, without pieces of an answer; NULL: nothing, or nothing is compared any more.
 */
const struct recorded_event *replay_peek(const struct replay *r);
/* Loads what comes until the next model is asked. May wait. */
void replay_load(struct replay *r);
/* What the provider sent next; NULL: nothing, or the replay is over. May wait. */
const struct recorded_payload *replay_next_payload(struct replay *r);
/* A record that is needed now cannot be read: it is the same up to here. */
void replay_note_damage(struct replay *r, const struct err *e);
/* The tool of this call is at work from here on. */
void replay_enter(struct replay *r, struct recorded_call *c);
/* Instead of its work: its beginning did not become durable, as it was interrupted or the store
 * failed. */
MUST_USE struct err *replay_fail_begin(struct replay *r, const struct recorded_call *c,
                                       struct tool_context *context);
/* Waits until that is the end of this call, or it is over. */
void replay_wait_for_end(struct replay *r, const struct recorded_call *c);
/* Waits until the next call of the batch begins, as it did then, or none does any more. */
void replay_wait_for_place(struct replay *r, size_t batch);
/* Waits until all calls of the batch have begun that ever do, or that cannot be. */
void replay_wait_for_begins(struct replay *r, size_t batch);
void replay_cancel(struct replay *r); /* as the person did */

/* provider.c: all that were asked, in the order of the chain; they live in the arena. */
MUST_USE struct err *replay_add_targets(struct replay *r);
/* A notice about the first model while it was asked. */
void replay_take_note(struct replay *r, struct str text);

/* calls.c */
MUST_USE struct err *replay_add_tools(struct replay *r, const struct tool_set *set);
MUST_USE struct err *replay_judge(struct gate *g, const struct gate_call *call, struct arena *a,
                                  struct verdict *ret_verdict);
/* Why a call was not run, as it was before it had to fit. */
struct str replay_refusal(struct arena *a, const struct recorded_call *c);

/* summaries.c */
#define REPLAY_STAYS_PREFIX "The history stays as it is: " /* notices about compaction */
MUST_USE struct err *replay_compact(struct compactor *c, struct run *run, bool is_full);
enum room replay_find_room(struct compactor *c, struct run *run, const struct waiting_results *w);

/* ports.c */
const struct ask *replay_find_ask(const struct recording *x, struct str call_id); /* or NULL */
/* "a Stop hook ended the run: REASON" gives the reason. */
bool replay_ended_by_hook(struct replay *r, enum hook_event event, struct str *ret_reason);
bool replay_is_next(const struct replay *r, enum event_type type);
struct str replay_first_text(const struct message *m);
void replay_ports_init(struct replay *r);
struct budget_keeper replay_budget(struct replay *r);
int64_t replay_known_delay(void *replay);
bool replay_drops_text(void *replay); /* text that was shown is taken back, as then */

#endif
