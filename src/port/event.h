/* event.h - what happens in a conversation, as one stream of events; everything else is a view of
 * it.
 *
 * An event says when and where (its stream, its place in the run, its owner) and has a body by its
 * type. Everything is borrowed until the subscriber returns: one that keeps it copies it. Numbers
 * within a stream have no gap and are never used again. Values of known credentials do not stand in
 * events: the engine removes them from what comes in. port/event_stream.h has the streams. */
#ifndef KEEL_PORT_EVENT_H
#define KEEL_PORT_EVENT_H

#include "model/history.h"
#include "port/provider.h"
#include "port/run_result.h"
#include "port/snapshot.h"
#include "port/tool_set.h"

/* What a type of event is besides its body. */
enum event_trait {
    TRAIT_NONE = 0,
    TRAIT_CORE = 1 << 0, /* opening a session reads it */
    /* A replay plays it as far as it has an effect, and does not compare it: it is a matter of
     * time, or what others than the engine do. */
    TRAIT_PLAYED = 1 << 1,
};

/* name, name in the journal's terms, body, traits */
#define EVENT_TABLE(X)                                                                             \
    X(SESSION_BEGIN, "session_init", session, TRAIT_CORE)                                          \
    X(RUN_BEGIN, "run_begin", run, TRAIT_CORE)                                                     \
    X(USER_INPUT, "user_input", message, TRAIT_CORE)                                               \
    X(PRE_RUN, "pre_run", run, TRAIT_NONE)                                                         \
    X(TOOLS_CHANGED, "tools_changed", tools, TRAIT_NONE)                                           \
    X(CONTEXT, "context", context, TRAIT_NONE)                                                     \
    X(COMPACTED, "context_compact", compact, TRAIT_NONE)                                           \
    X(FINAL_TURN, "final_turn", final, TRAIT_NONE)                                                 \
    X(ATTEMPT_BEGIN, "attempt_begin", attempt, TRAIT_CORE)                                         \
    X(PROVIDER_REQUEST, "provider_request", request, TRAIT_NONE)                                   \
    X(NATIVE_PAYLOAD, "provider_native_raw_payload", payload, TRAIT_NONE)                          \
    X(DELTA, "provider_stream_raw_delta", delta, TRAIT_NONE)                                       \
    X(RESPONSE_RAW, "provider_response_raw", reply, TRAIT_CORE)                                    \
    X(ATTEMPT_END, "attempt_end", attempt, TRAIT_CORE)                                             \
    X(RETRY, "retry", attempt, TRAIT_NONE)                                                         \
    X(FALLBACK, "fallback", attempt, TRAIT_NONE)                                                   \
    X(TEXT_DROPPED, "text_dropped", none, TRAIT_NONE)                                              \
    X(RESPONSE_NORMALIZED, "provider_response_normalized", message, TRAIT_CORE)                    \
    X(ASSISTANT_COMMITTED, "assistant_message_committed", message, TRAIT_NONE)                     \
    X(HISTORY, "history_mutation", message, TRAIT_CORE)                                            \
    X(BATCH_BEGIN, "tool_batch_started", batch, TRAIT_NONE)                                        \
    X(TOOL_REQUEST, "tool_execution_request", tool, TRAIT_CORE)                                    \
    X(TOOL_EARLY, "tool_early", tool, TRAIT_CORE | TRAIT_PLAYED)                                   \
    X(TOOL_DROPPED, "tool_dropped", tool, TRAIT_CORE | TRAIT_PLAYED)                               \
    X(TOOL_BEGIN, "tool_begin", tool, TRAIT_CORE)                                                  \
    X(SNAPSHOT, "snapshot", snapshot, TRAIT_PLAYED)                                                \
    X(PRE_IMAGE, "pre_image", image, TRAIT_PLAYED)                                                 \
    X(TOOL_PROGRESS, "tool_progress", tool, TRAIT_PLAYED)                                          \
    X(TOOL_END, "tool_end", tool, TRAIT_CORE)                                                      \
    X(TOOL_RESULT, "tool_execution_result", tool, TRAIT_CORE)                                      \
    X(TOOL_COMMITTED, "tool_message_committed", tool, TRAIT_NONE)                                  \
    X(CHILD_BEGIN, "child_begin", child, TRAIT_CORE | TRAIT_PLAYED)                                \
    X(CHILD_END, "child_end", child, TRAIT_CORE | TRAIT_PLAYED)                                    \
    X(STATE, "tool_state", state, TRAIT_CORE)                                                      \
    X(ASKED, "asked", ask, TRAIT_PLAYED)                                                           \
    X(ANSWERED, "answered", ask, TRAIT_PLAYED)                                                     \
    X(NOTICE, "notice", notice, TRAIT_NONE)                                                        \
    X(ERROR, "error", error, TRAIT_NONE)                                                           \
    X(RUN_END, "run_end", result, TRAIT_CORE)                                                      \
    X(REWOUND, "rewound", rewind, TRAIT_CORE)                                                      \
    X(CHECKPOINT, "checkpoint", checkpoint, TRAIT_CORE)                                            \
    X(SESSION_CHANGED, "session_changed", change, TRAIT_NONE)                                      \
    X(SESSION_END, "session_shutdown", session, TRAIT_NONE)

enum event_type {
#define X(name, ...) EVENT_##name,
    EVENT_TABLE(X)
#undef X
        EVENT_N_TYPES
};
const char *event_type_name(enum event_type t);
bool event_has_trait(enum event_type t, enum event_trait trait);

/* Who did it, from the inside out: a tool within an execution within an agent, which may be the
 * node of a workflow, and so on upwards through parent runs. */
struct owner {
    const char *type;           /* "node", "agent", "execution", "tool" */
    struct str id;              /* the node's or the agent's name, the run's id, the call's id */
    const struct owner *parent; /* NULL: outermost */
};

/* A session is opened, or closed. */
struct event_session {
    struct str cwd, provider, model, system; /* BEGIN */
    const struct tool_set *tools;            /* BEGIN; may be NULL */
    const char *reason;                      /* END: "other", "prompt_input_exit", ... */
};

/* The session has another name, or another model is asked from now on; what stays is empty. */
struct event_change {
    struct str name;
    struct str provider, model;
};

struct event_run {
    const char *policy; /* "conversation", "node", "report" */
    /* RUN_BEGIN: the prompt as it was submitted; PRE_RUN: as the model reads it, with what hooks,
     * plugins and keel have added. Empty when a run continues. */
    struct str input;
    struct str provider, model;                /* of the first target */
    struct provider_capabilities capabilities; /* of that provider; enabled: for this run */
    int64_t window;                            /* of that model, in tokens; 0: unknown */
    size_t tool_response_bytes;                /* the run's limit; 0: the default */
    uint64_t retry_max_ms;                     /* the same for waits between attempts */
    bool only_compacts;                        /* it was begun for a summary */
    int64_t head_tokens;   /* what system text and tools take of the window; 0: unknown */
    int64_t context_floor; /* tokens that the caller knows to be in use */
};

/* A message that was made: read, accepted or committed. */
struct event_message {
    const struct message *message;
    size_t index; /* HISTORY: its place among the messages */
    /* HISTORY: "append"; or what the history begins anew with, from index 0 on: "clear" (no
     * message), "compact", "rewind", "fork-base" */
    const char *mutation;
    /* "compact": the number of its messages. One that a crash has cut off counts for
     * nothing: the history stays what it was. 0: unknown. */
    size_t n_of;
    bool is_kept;        /* "compact": it was in the history before, perhaps longer */
    size_t n_tool_calls; /* RESPONSE_NORMALIZED */
    bool is_aside;       /* RESPONSE_NORMALIZED: it does not belong to the conversation */
};

struct event_tools {
    const struct tool_set *tools;
};

struct event_context {
    int64_t used, window;
    int64_t serialized, counted; /* where the estimate came from */
    bool is_exact;
};

/* The history was replaced by a summary of it, or results of tools were taken out of it. */
struct event_compact {
    const char *trigger; /* "auto", "manual" */
    struct event_context before, after;
    size_t n_results; /* that were taken out, and nothing else was done; 0: it is a summary */
};

struct event_final {
    enum final_reason reason;
    struct str instruction; /* for the model */
};

/* What is set aside for an attempt before its bytes leave. */
struct reservation {
    int64_t input, output; /* tokens: the prompt as it is estimated, an answer of usual length */
    int64_t microcents;    /* -1: the price is not known */
    int64_t max_output;    /* the longest answer that the budget allows; 0: it does not matter */
};

/* The event's `attempt` is its number within the round. */
struct event_attempt {
    struct str provider, model;
    unsigned max_attempts; /* of this target; 0: unknown */
    unsigned at_target;    /* which of them it is; not kept */
    bool is_retry;
    bool is_final_turn;
    bool is_aside;                  /* its answer does not belong to the conversation */
    struct str call_id;             /* of the tool call that asks; empty: the run does */
    enum final_reason forced;       /* FINAL_NONE: not forced */
    const struct err *error;        /* END: NULL when it answered; RETRY, FALLBACK: why */
    const char *const *retry_slugs; /* BEGIN of a retry: codes of the failures before it */
    size_t n_retry_slugs;
    const struct price *price;   /* BEGIN; NULL: unknown */
    int64_t window;              /* BEGIN: of the target, in tokens; 0: unknown */
    struct reservation reserved; /* BEGIN */
    const struct usage *usage;   /* END: the provider's count */
    const struct usage *assumed; /* END: what counts instead; NULL: `usage` does */
    int64_t assumed_microcents;  /* with `assumed`; -1: unknown */
    bool is_lost;                /* END: its process died; the next one says so */
    int64_t cost_microcents;     /* END; -1: unknown */
    int64_t total_microcents;    /* END: of the run so far, its children's too */
    uint64_t duration_ms;        /* END */
    uint64_t delay_ms; /* RETRY: until the next try; END: until there would be one; 0: none */
    struct str next_provider, next_model; /* FALLBACK */
    int http_status;                      /* END: of the answer; 0: there was none; not kept */
    struct str request_id;                /* END: the provider's, may be empty; not kept */
};

struct event_request {
    const struct model_request *request; /* as it is sent, overlays included */
    const struct str *overlays;          /* instructions of this request only */
    size_t n_overlays;
    uint64_t tools_version;
    const struct history_cut *cut; /* what of the history is not in it; NULL: all is */
};

enum output_source { SOURCE_STREAM, SOURCE_REPLAY, SOURCE_FINALIZE };
const char *output_source_name(enum output_source s);

struct event_delta {
    const struct delta *delta;
    const struct reply *reply; /* what has come so far, with this delta; NULL: unknown */
    uint64_t sequence;         /* from 0 within the attempt */
    enum output_source source;
    bool is_separator; /* not the model's: it sets rounds apart */
    /* DELTA_END: all of it, as the message will have it; NULL: that is not known yet, or is
     * in a record. */
    const struct part *part;
};

struct event_reply {
    const struct reply *reply;
    const char *kind; /* "provider-normalized-message" */
};

struct event_batch {
    struct str id;
    const char *mode;              /* "parallel" */
    unsigned max_concurrency;      /* 0: no bound */
    const struct message *message; /* whose calls they are */
    size_t n_requests;
};

/* One call of a batch. EARLY: it begins while its answer still comes; DROPPED: nothing of that is
 * used, because of `error_code`. Neither has a batch. */
#define TOOL_BUDGET_CODE "budgetCode" /* in the metadata of a result that did not fit */
struct event_tool {
    struct str batch_id;
    size_t index;
    struct str name, call_id;
    struct str server;         /* whose tool it is; empty: keel's own, or there is none */
    const struct json *args;   /* as they will be used; as they came, when they are wrong */
    const struct owner *owner; /* of the call: the event's own owner is the execution */
    enum risk risk;
    struct str progress; /* PROGRESS */
    /* END: as the tool gave it, at once; RESULT: in the order of the calls */
    bool is_ok, was_executed, was_denied;
    const struct part *result;   /* RESULT: as the model gets it, perhaps cut to size */
    const char *error_code;      /* NULL when it is ok */
    const struct json *metadata; /* errorCode, requestedTool, availableTools, the tool's own */
    uint64_t duration_ms;
    size_t n_chars_in, n_chars_out;
    /* RESULT, for a replay: what it cannot tell from the rest */
    struct str hook_text;     /* what hooks added to what the tool gave */
    struct str refusal;       /* why the call was not run, where that did not fit; empty: it did */
    const char *refusal_code; /* its error code then; NULL with that */
    bool stops_run;           /* a hook ended it at this call */
    bool delegates;           /* BEGIN: it does nothing but child runs */
    const struct message *message; /* COMMITTED */
};

/* Before a call that may change files: what was saved of them. Durable before the call starts, so
 * that its changes can be taken back even if keel dies in the middle of it. */
struct event_snapshot {
    struct str call_id;
    const struct snapshot_record *record;
};

/* After it, one for each path: what it was, and what the call left. Those after some point in the
 * stream, in their order, are all that taking back to that point needs. */
struct event_image {
    struct str call_id; /* empty: a command in the background did it */
    const struct pre_image *image;
};

/* A call begins a run of its own, or continues one that an earlier process had begun. That run's
 * events are in a stream of their own. END: what it took, in all processes, with its own children.
 */
#define CHILD_ABANDONED "abandoned" /* the outcome of one that is not continued */
struct event_child {
    struct str id; /* of its stream */
    struct str call_id;
    size_t index; /* of the call in its batch: ids may repeat */
    struct str agent;
    const char *outcome; /* END: run_outcome_name() of its run, or CHILD_ABANDONED */
    struct usage usage;
    int64_t cost_microcents;
    bool is_estimated; /* some of it is keel's own count */
    bool is_unpriced;  /* some of it has no known price */
    uint64_t n_rounds, n_tool_calls;
};

struct event_state {
    struct str key;
    const struct json *value; /* NULL: removed */
};

struct event_ask {
    const struct ask *ask;
    const struct answer *answer; /* ANSWERED */
};

/* The session goes back to its state before that turn. This is a turn itself: going back to before
 * it undoes it, too. Pre-images of the files follow, then the history that is left. */
struct event_rewind {
    unsigned turn;
    uint64_t seq;        /* the first event of that turn */
    bool takes_messages; /* the conversation goes back */
    size_t n_files;      /* files that go back, too */
};

/* The state of a session, so that opening it need not read further back. */
struct event_checkpoint {
    uint64_t base_seq;        /* the mutation that the history begins with; 0: it is empty */
    const struct json *state; /* the tools', by key */
    struct usage usage;       /* of all runs so far, their children's too */
    int64_t cost_microcents;
    bool cost_is_known; /* all of it, as providers counted */
    bool is_estimated;  /* some of it is keel's own count */
    bool is_unpriced;   /* some of it has no known price */
    uint64_t n_rounds, n_tool_calls, active_ms;
};

enum severity {
    SEVERITY_VERBOSE, /* shown on demand */
    SEVERITY_WARNING, /* for the person */
    SEVERITY_ERROR,   /* the same, and something is lost */
    SEVERITY_FINAL,   /* what a run came to */
    SEVERITY_INFO,    /* for the person, and nothing is wrong */
};
const char *severity_name(enum severity s); /* "VRB", "WRN", "ERR", "FIN", "INF" */
bool severity_is_for_person(enum severity s);

struct event_notice {
    enum severity severity;
    /* "agent:...", "llm", "tool" and "compaction" are the engine's own: a replay gives them again.
     * Others: "plugin:limits", "budget", "secrets", "hook", "snapshot", "background", "sandbox",
     * "permissions", "session", "store", "model" */
    const char *source;
    struct str text;
    const struct json *details; /* may be NULL */
};

struct event {
    uint64_t seq; /* 0: it has none, and is not recorded (event_stream.h) */
    int64_t unix_ms;
    struct str stream;        /* the session's id */
    struct str parent_stream; /* of a child run; empty: none */
    struct str run_id;
    const struct owner *owner;
    unsigned turn;    /* runs of this stream, from 1 */
    unsigned round;   /* from 1; 0 before the first */
    unsigned attempt; /* from 1; 0 outside of attempts */
    /* RUN_BEGIN, PRE_RUN, RUN_END: the conversation at that moment; NULL: not told. */
    const struct history *history;
    enum event_type type;
    union {
        struct event_session session;
        struct event_run run;
        struct event_message message;
        struct event_tools tools;
        struct event_context context;
        struct event_compact compact;
        struct event_final final;
        struct event_attempt attempt;
        struct event_request request;
        const struct native_payload *payload;
        struct event_delta delta;
        struct event_reply reply;
        struct event_batch batch;
        struct event_tool tool;
        struct event_snapshot snapshot;
        struct event_image image;
        struct event_child child;
        struct event_state state;
        struct event_ask ask;
        struct event_notice notice;
        struct event_rewind rewind;
        struct event_checkpoint checkpoint;
        struct event_change change;
        const struct err *error;
        const struct run_result *result;
    } body;
};

#endif
