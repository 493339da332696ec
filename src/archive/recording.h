/* recording.h - a stored session, run by run, as what a second run needs to go the same way.
 *
 * What came from outside is taken out of the events: the bytes of answers and how attempts failed,
 * the outcome of tool calls and what the gate said of them, what hooks made of the prompt. The
 * events themselves stay as lines to compare with (replay_line.h).
 *
 * A run is read twice. First as a whole, for what concerns all of it (this struct). Then while it
 * is played, a round at a time: an attempt with its answer and the calls it asked for are in memory
 * from when they are loaded until the next attempt begins. What a call itself asked a model is a
 * part of that. The answer itself is loaded while it is played: the provider's events, and the
 * pieces of text that were made of them, are there for a moment. Outputs of tools that are blobs
 * stay there until the call that had them ends. So memory is that of one round, however long the
 * run, and whatever the pieces in which an answer came. What loads may wait; the rest does not. */
#ifndef KEEL_ARCHIVE_RECORDING_H
#define KEEL_ARCHIVE_RECORDING_H

#include "archive/replay_line.h"
#include "engine/chain.h"
#include "port/gate.h"
#include "port/store.h"

struct recorded_payload {
    enum payload_kind kind;
    int http_status;
    struct str bytes;
    struct str event_type; /* empty: its bytes say it */
};

/* One request to a model. */
struct recorded_attempt {
    bool was_sent;  /* its bytes were made; else it failed before that */
    bool has_ended; /* false: the recording was cut off meanwhile */
    struct err *error;
    int64_t delay_ms;     /* that was waited after it; -1: none */
    int64_t limited_to;   /* by the budget: its answer had no more tokens; 0: it was not */
    struct message *said; /* what was read; NULL: nothing */
    struct str call_id;   /* of the tool call that asked; empty: the run did */
    struct recorded_attempt *earlier; /* of the same round; NULL: none */
};

/* One tool call of a batch. */
struct recorded_call {
    size_t batch; /* from 1 */
    size_t index;
    struct str call_id, name, server;
    enum risk risk;
    const struct json *args;
    bool is_requested, has_begun, has_ended, has_result;
    uint64_t request_seq, begin_seq, end_seq; /* of its events */
    bool is_awaited; /* calls were run before the one after it was judged: it had to run alone */
    bool is_alone;   /* that, or it is the last one of its batch, and none ran beside it */
    bool has_asked;  /* a model, with a request of its own */
    bool has_waited; /* it asked a person, and was over until there was an answer */
    /* as the tool gave it */
    const struct part *end; /* its long texts are empty: recording_load_end() gives it whole */
    struct recorded_event *end_event;
    const struct json *metadata;
    bool end_is_ok;
    /* as the model got it */
    const struct part *result;
    struct str code; /* empty: it was a success */
    bool was_denied, was_executed;
    struct str hook_text; /* what hooks added; empty: nothing, or an older keel did not say */
    struct str refusal;   /* why it was not run, where the model got less of it; the code is its */
    bool stops_run;       /* a hook said so */
    /* for the replay */
    bool is_judged, is_begun, is_entered, is_over, is_hooked;
};

struct recorded_event {
    enum event_type type;
    uint64_t seq;
    int64_t unix_ms;
    struct str line;                       /* with replay_write_long_text() */
    bool has_left;                         /* long texts of it were not loaded */
    uint64_t duration_ms, api_duration_ms; /* are taken from here */
    uint64_t tools_version;
    /* of a notice; text: also of an error, a trigger, or the question that a summary answers */
    struct str source, text;
    const struct message *message;    /* of a mutation or an input */
    bool is_kept;                     /* of a mutation: the message was in the history before */
    enum final_reason reason;         /* of a forced last turn */
    const struct tool_set *tools;     /* that there are from here on */
    struct recorded_attempt *attempt; /* that begins here */
    const struct recorded_payload *payload;
    struct recorded_call *call;
    bool is_aside;
    bool is_of_call; /* of a request that a tool call made */
};

/* A model that was asked. */
struct recorded_target {
    struct str provider, protocol, model;
    unsigned max_attempts;
    int64_t max_output, window; /* 0: not recorded */
    struct price price;
};

struct codec_reader;
struct recording_window;

struct recording {
    struct arena arena;
    struct str run_id;
    uint64_t seq; /* of its first event */
    unsigned turn;
    int64_t began_ms;
    size_t n_events;                                   /* that are compared */
    struct recorded_target targets[CHAIN_MAX_TARGETS]; /* in the order in which they were asked */
    size_t n_targets;
    /* how it began */
    const char *policy;
    struct str input;      /* the prompt's text */
    struct message *asked; /* the prompt as a message; NULL: there was none */
    bool only_compacts;    /* it was for a summary, and asked nothing else */
    uint64_t retry_max_ms; /* waits of a round; 0: the default */
    int64_t head_tokens;   /* of system text and tools; 0: not told */
    int64_t context_floor;
    struct provider_capabilities capabilities;
    struct str provider, model; /* of the first target */
    /* how its requests were made */
    bool has_request;             /* of the conversation itself */
    bool has_beginning;           /* of any: system text and tools are known */
    struct model_request request; /* without messages */
    struct str session_system;    /* the prompt that the session was begun with */
    struct tool_set *tools;
    int64_t window;             /* 0: not recorded */
    bool has_limits;            /* the next line is known */
    size_t tool_response_bytes; /* 0: the default */
    unsigned max_concurrency;
    bool has_turn_limit; /* that has ended it */
    unsigned max_rounds; /* with that: its own rounds until then */
    /* how it ended */
    bool is_cut;       /* without its end: the process died */
    struct str damage; /* a record of it cannot be read; it counts up to there; empty: all can */
    enum run_outcome outcome;
    struct ask *asks;
    size_t n_asks;
    struct err *error;
    bool tells_stop;           /* if a hook ended it, a call says which */
    uint64_t last_attempt_seq; /* 0: there was none */
    size_t last_batch;         /* that had calls; 0: there was none */
    uint64_t cancel_seq; /* a person ended it before this event; 0: not, or an attempt or call says
                          * so */
    struct recording_window *events; /* what was loaded and has not been passed */
};
void recording_done(struct recording *r);
DEFINE_AUTO_VAL(recording, recording_done)

struct recording_reader;
struct recording_reader *recording_reader_new(struct store *s, struct str stream) MUST_USE;
void recording_reader_free(struct recording_reader *r);
DEFINE_AUTO_PTR(recording_reader, recording_reader_free)
/* The next run, before its first event; *ret_found false: there is none. It ends before the next
 * one is read. */
MUST_USE struct err *recording_read(struct recording_reader *r, struct recording *ret_recording,
                                    bool *ret_found);

/* --- its events, one after the other --- */

/* Loads what comes until the next model is asked, and a little more; but of an answer that is still
 * to be passed only its beginning. Nothing where that is loaded already. */
MUST_USE struct err *recording_load(struct recording *r);
/* What the provider sent next, if that is the next event; NULL: no more came. It is there until two
 * more events have been passed. What is loaded is a little more than that. */
MUST_USE struct err *recording_load_payload(struct recording *r,
                                            const struct recorded_payload **ret_payload);
/* Pieces of an answer: those that the next event of the type EVENT_DELTA is about, as far as they
 * are loaded. NULL: none are. */
struct replay_pieces *recording_pieces(const struct recording *r);
/* Events of the run from the next one on, without loading them: until `look` says false, or the
 * end. What streams in is omitted, and what cannot be read without what precedes it. */
MUST_USE struct err *recording_look_ahead(const struct recording *r,
                                          bool (*look)(void *self, const struct event *e),
                                          void *self);
/* The event that comes `ahead` events after the next one; NULL: there is none, or it is not loaded.
 */
const struct recorded_event *recording_at(const struct recording *r, size_t ahead);
bool recording_is_over(const struct recording *r); /* all of it has been passed */
/* The next one has come. Where an attempt begins, what is of earlier ones is forgotten. */
void recording_pass(struct recording *r);

/* The call of this batch that is judged next, by its id; NULL: there is none. */
struct recorded_call *recording_find_call(const struct recording *r, size_t batch,
                                          struct str call_id, bool is_unjudged);
/* All calls of the batch, in the order in which they came up. */
struct recorded_call *const *recording_calls(const struct recording *r, size_t batch,
                                             size_t *ret_n);
/* It had begun, and was ended because the person ended the run. */
bool recorded_call_is_interrupted(const struct recorded_call *c);
/* What the tool gave, whole. It lives as long as the reader, which is the caller's; NULL: as long
 * as the call. */
MUST_USE struct err *recording_load_end(const struct recording *r, const struct recorded_call *c,
                                        struct codec_reader **ret_reader,
                                        const struct part **ret_end);

/* The line of an event that was loaded with this one, now with all of its long texts; appends. An
 * error: without what precedes it, it cannot be read. May wait. */
MUST_USE struct err *recording_load_line(const struct recording *r, uint64_t seq, struct str line,
                                         struct strbuf *out);

/* --- for recording*.c --- */

/* The part of a reader that gives events while a run is played. */
struct recording_source {
    struct store *store;
    struct str stream;
    struct codec_reader *events;
    const struct event *held; /* was read, and belongs to the next run; NULL: nothing was */
};
/* Its first event is the one that the source holds. */
struct recording_window *recording_window_new(struct recording_source *source,
                                              struct str run_id) MUST_USE;
void recording_window_free(struct recording_window *w);
/* Copies live in `a`. */
struct tool_set *recorded_tools(struct arena *a, const struct tool_def *const *defs, size_t n);
struct tool_set *recorded_tool_set(struct arena *a, const struct tool_set *set);

#endif
