/* recording.h - a stored session, run by run, as what a second run needs to go the same way.
 *
 * What came from outside is taken out of the events: the bytes of answers and how attempts failed,
 * the outcome of tool calls and what the gate said of them, what hooks made of the prompt. The
 * events themselves stay as lines to compare with (replay_line.h). One run is in memory at a time.
 * May wait. */
#ifndef KEEL_SESSION_RECORDING_H
#define KEEL_SESSION_RECORDING_H

#include "port/gate.h"
#include "port/store.h"
#include "session/replay_line.h"

struct recorded_payload {
    enum payload_kind kind;
    int http_status;
    struct str bytes;
};

/* One request to a model. */
struct recorded_attempt {
    struct str provider, protocol, model;
    unsigned max_attempts;
    int64_t max_output;
    int64_t limited_to; /* by the budget: that is then its max_output; 0: it was not */
    struct price price;
    struct recorded_payload *payloads; /* of the answer */
    size_t n_payloads, payloads_room;
    bool was_sent;  /* its bytes were made; else it failed before that */
    bool has_ended; /* false: the recording was cut off meanwhile */
    struct err *error;
    int64_t delay_ms;     /* that was waited after it; -1: none */
    struct message *said; /* what was read; NULL: nothing */
};

/* One tool call of a batch. */
struct recorded_call {
    size_t batch; /* from 1 */
    size_t index;
    struct str call_id, name;
    enum risk risk;
    const struct json *args;
    bool is_requested, has_begun, has_ended, has_result;
    size_t begin_at, end_at; /* events */
    bool is_alone;           /* no other call of the batch ran beside it */
    bool has_waited;         /* it asked a person, and was over until somebody would answer */
    /* as the tool gave it */
    const struct part *end;
    const struct json *metadata;
    bool end_is_ok;
    /* as the model got it */
    const struct part *result;
    struct str code; /* empty: it was a success */
    bool was_denied, was_executed;
    /* for the replay */
    bool is_judged, is_begun, is_entered, is_over;
};

struct recorded_event {
    enum event_type type;
    uint64_t seq;
    int64_t unix_ms;
    struct str line;
    uint64_t duration_ms, api_duration_ms; /* are taken from here */
    uint64_t tools_version;
    struct str source, text;          /* of a notice; text: also of an error, or a trigger */
    const struct message *message;    /* of a mutation or an input */
    enum final_reason reason;         /* of a forced last turn */
    const struct tool_set *tools;     /* that there are from here on */
    struct recorded_attempt *attempt; /* that begins here */
    struct recorded_call *call;
    bool is_aside;
};

struct recording {
    struct arena arena;
    struct str run_id;
    uint64_t seq; /* of its first event */
    unsigned turn;
    struct recorded_event *events;
    size_t n_events, events_room;
    struct recorded_attempt *attempts; /* in their order */
    size_t n_attempts, attempts_room;
    struct recorded_call **calls;
    size_t n_calls, calls_room;
    /* how it began */
    const char *policy;
    struct str input;   /* the prompt's text */
    bool only_compacts; /* it was for a summary, and asked nothing else */
    struct provider_capabilities capabilities;
    struct str provider, model; /* of the first target */
    /* how its requests were made */
    bool has_request;
    struct model_request request; /* without messages */
    struct str session_system;    /* the prompt that the session was begun with */
    struct tool_set *tools;
    int64_t window; /* 0: not told */
    unsigned max_concurrency;
    bool has_turn_limit; /* that has ended it */
    unsigned max_rounds; /* with that: its own rounds until then */
    struct str wishes;   /* what summaries were to care for: the question they were asked with */
    /* how it ended */
    bool is_cut;       /* without its end: the process died */
    struct str damage; /* a record of it cannot be read; it counts up to there; empty: all can */
    enum run_outcome outcome;
    struct ask *asks;
    size_t n_asks;
    struct err *error;
    size_t cancel_after; /* events: a person ended it then; 0: not, or an attempt or call says so */
    /* private */
    struct message **messages;
    size_t n_messages, messages_room;
    size_t n_batches;
    struct replay_pieces pieces;
};
void recording_done(struct recording *r);
DEFINE_AUTO_VAL(recording, recording_done)

/* The call of this batch that is judged next, by its id; NULL: there is none. */
struct recorded_call *recording_find_call(const struct recording *r, size_t batch,
                                          struct str call_id, bool is_unjudged);

/* It had begun, and was ended because the person ended the run. */
bool recorded_call_is_interrupted(const struct recorded_call *c);

struct recording_reader;
struct recording_reader *recording_reader_new(struct store *s, struct str stream) MUST_USE;
void recording_reader_free(struct recording_reader *r);
DEFINE_AUTO_PTR(recording_reader, recording_reader_free)
/* The next run; *ret_found false: there is none. */
MUST_USE struct err *recording_read(struct recording_reader *r, struct recording *ret_recording,
                                    bool *ret_found);

#endif
