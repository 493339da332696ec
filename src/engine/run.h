/* run.h - one submitted prompt until its result.
 *
 * run_start() is the engine's only door: a person's prompt, a workflow's node, a subagent and the
 * continuation of a suspended run all come through it. It runs in a task, cancelling that task
 * interrupts it, and it always gives a result: what went wrong is in there.
 * All that a run uses is passed in. What happens in it are events of the conversation's stream,
 * which has a recorder and subscribers. What may change meanwhile (targets, mode, tools) is read
 * before each round. */
#ifndef KEEL_ENGINE_RUN_H
#define KEEL_ENGINE_RUN_H

#include "base/secrets.h"
#include "engine/chain.h"
#include "engine/conversation.h"
#include "engine/ledger.h"
#include "engine/policy.h"
#include "engine/reserve.h"
#include "port/hook.h"
#include "port/plugin.h"

#include <limits.h>

#define RUN_DEFAULT_MAX_ROUNDS 10
#define RUN_UNLIMITED UINT_MAX
#define RUN_DEFAULT_MAX_STOP_BLOCKS 8
#define RUN_DEFAULT_TOOL_TIMEOUT_MS 300000
#define RUN_DEFAULT_TOOL_RESPONSE_BYTES 12288
#define FIT_PREVIEW_CHARS 1000 /* of a result that does not fit into the window */

/* The result of a call that the user interrupted or kept from beginning. */
#define CALL_INTERRUPTED_TEXT "Execution interrupted by user"
/* In the metadata of one that waited for an answer then. */
#define CALL_WAITED "waitedForAnswer"

/* Whom to ask, and with what: read before each round. It is a value: a change makes another plan.
 * The run holds the plan that it has read until it has read the next, which may share parts with
 * it: what has the same address is the same. */
struct run_plan {
    const struct target *targets; /* another array, or another number: a new chain */
    size_t n_targets;
    /* The mode of now, no part of the value: read when a call is judged. NULL: MODE_PLAN. */
    const enum permission_mode *mode;
    struct tool_registry *tools; /* NULL: none */
    struct tool_filter filter;   /* exposure, and what the parent grants */
    struct str system;           /* authored text only; sent as it is */
    /* The tools as the session's first request described them (tool_set_as_told); NULL: as they
     * are. The list is the same object as long as nothing changes. */
    const struct json *told_tools;
    struct sampling sampling;
    enum effort effort;
    int64_t reasoning_budget;
    bool stream;
    bool web_search, web_fetch; /* the provider's own: ours are then not exposed */
    enum prompt_cache cache;
    /* What became known of a target while it was asked, reported once; the targets have it from
     * then on. Another text has another address. */
    struct str note;
    /* Ends it with the last reference. NULL: it is not counted, and the caller keeps it, and what
     * it points at, as long as the run. */
    void (*free)(struct run_plan *p);
    unsigned n_refs;
};
const struct run_plan *run_plan_ref(const struct run_plan *p) MUST_USE;
void run_plan_unref(const struct run_plan *p); /* accepts NULL */
enum permission_mode run_plan_mode(const struct run_plan *p);
#define PLAN_NOTE_SOURCE "agent:model" /* of the notice */
/* For a model whose server has reported them: its name, window and longest answer. */
#define PLAN_NOTE_FORMAT "%" STR_FMT " has a window of %lld tokens and answers of up to %lld"

/* What a budget has to report. */
struct budget_word {
    struct ask ask;     /* without text: nothing is asked */
    struct str warning; /* a limit is passed; empty: none, or it was said before */
};

/* Around every attempt and every call. All may be NULL. */
struct budget_keeper {
    /* May it be made? Fills in `r->max_output`. An error refuses it; with `ret_word->ask` filled in
     * as well, the run is suspended until it is answered. The texts live until the next call. */
    struct err *(*reserve)(void *self, const struct attempt *a, struct reservation *r,
                           struct budget_word *ret_word);
    void (*settle)(void *self, const struct attempt *a, const struct settlement *s);
    /* May this call run? An error refuses it. Counts it. */
    struct err *(*take_call)(void *self, const struct event_tool *call);
    void (*answer)(void *self, const struct answer *answer); /* to what was asked before */
    void *self;
    bool is_limited; /* there is a limit: what was reserved must outlast a loss of power */
};

/* What earlier processes have done of the turn that this run finishes. */
struct turn_progress {
    unsigned n_rounds;
    enum final_reason forced; /* its last turn was begun for that reason */
    unsigned n_corrections;   /* wrong arguments in a row */
    bool called_unknown;      /* the last round called tools that are not there */
    bool stop_hook_active;    /* a hook has made the model continue */
};

/* The answer to one of a suspended run's asks; the call id says to which. */
struct given_answer {
    struct str call_id; /* empty: the budget's */
    struct answer answer;
};

/* How a call ended that an earlier process had begun. */
enum call_outcome {
    CALL_NEVER_STARTED, /* it is judged and run as if it were new */
    CALL_COMPLETED,     /* `result` is what it gave */
    CALL_UNKNOWN,       /* it was under way when that process died: never run again */
};
struct given_outcome {
    struct str call_id;
    size_t index; /* of the call among those of its answer: ids may repeat */
    enum call_outcome outcome;
    const struct part *result; /* CALL_COMPLETED: a tool result */
    const char *error_code;    /* of it; NULL: it was a success */
    /* CALL_NEVER_STARTED: streams of child runs that a tool which only delegates had begun all the
     * same, in their order. They continue. */
    const struct str *children;
    size_t n_children;
};

struct run;
struct run_input;
struct run_kit;

/* Results of a batch that are about to join the history, in tokens. */
struct waiting_results {
    int64_t likely; /* as the ledger will count them */
    int64_t most;   /* if their text is dense */
};

enum room {
    ROOM_LITTLE, /* there is no compaction: what would fill the window is shortened */
    ROOM_ENOUGH, /* they fit */
    ROOM_COMING, /* the compaction that comes next makes room, and keeps them as they are */
    ROOM_REST,   /* none would help now: they may take what is left of the window */
};
#define ROOM_SOURCE "agent:room" /* of the notice that says which, if they do not simply fit */
#define ROOM_COMING_TEXT "the results wait for a compaction, which makes room for them"
#define ROOM_REST_TEXT "no compaction would help now: the results take what is left"

/* Makes a history shorter when it is due. Called with the run's plan read: after the prompt is
 * durable and before it is in the history, and between rounds. With `is_full` it is due whatever
 * the count says: the provider has refused a request as too long. The compactor
 * reports what fails, and leaves the history as it is; an error ends the run. */
struct compactor {
    struct err *(*compact)(struct compactor *c, struct run *r, bool is_full);
    /* Is there room for these? Does not wait. */
    enum room (*find_room)(struct compactor *c, struct run *r, const struct waiting_results *w);
};

/* What happens beside a run that its model should hear of: commands in the background that end. */
struct news {
    /* Required. Appends a text for the model, nothing if there is nothing new; it counts as
     * reported. Must not wait, except in a replay. */
    void (*take)(struct news *n, struct strbuf *out);
    /* The model has answered: waits for what may still happen, and emits a notice about it.
     * NULL: no one waits, and a later run reports what happens then. */
    struct err *(*wait)(struct news *n, struct run *r);
};

/* Who keeps child runs: each in a stream of its own, below that of the run. */
struct child_keeper {
    /* Runs a child in the stream `child->id`, from its beginning, or from where an earlier process
     * has left it. Fills in what it took, and an outcome. An error: it could not be begun. */
    struct err *(*run)(struct child_keeper *k, struct event_child *child,
                       const struct run_input *input, const struct run_kit *kit,
                       struct run_result *ret_result);
};

/* What is asked: by the caller, for one run. */
struct run_input {
    const struct run_policy *policy; /* NULL: conversation */
    /* The user's, which gets an id if it has none; NULL: continue where the last run stopped. */
    struct message *prompt;
    bool only_compacts; /* nothing is asked: only the compactor works */
    const struct given_answer *answers;
    size_t n_answers;
    const struct json *output_schema; /* the answer must be JSON that fits; NULL: any text */
    unsigned max_rounds;              /* 0: the kit's; RUN_UNLIMITED: no limit */
    /* A failed attempt's text was shown: may it be dropped? NULL: no. */
    bool (*drop_text)(void *self);
    void *drop_self;
    void (*on_begin)(void *self, struct run *r); /* the run, until it ends; may be NULL */
    void *begin_self;
    /* under whom */
    const char *agent;  /* name for the owner path; NULL: "main" */
    const char *node;   /* the same of the workflow's node that it is; NULL: none */
    struct run *parent; /* whose subscribers and costs get this run's, too; NULL: none */
    struct str call_id; /* of the parent's call that started it; may be empty */
};

/* What it uses: by the agent, for all its runs alike. A child run has its parent's, without what is
 * about the parent's own conversation (child.c). */
struct run_kit {
    const struct run_plan *(*plan)(void *self); /* the plan of now; required */
    void *plan_self;
    struct gate *gate; /* NULL: no tool may run */
    struct provider_call call;
    const struct tool_config *tool_config;
    struct launcher *launcher;
    struct launcher *looker; /* of commands that must change nothing; NULL: the gate allows none */
    const struct http_source *http;
    struct blob_store *blobs;
    struct snapshotter *snapshotter; /* saves files before calls change them; NULL: none */
    struct asker *asker;
    const struct plan_mode *plan_mode; /* how plan mode is left; NULL: it is not */
    const struct path_filter *hidden;
    /* Kept out of messages, events, errors and hooks; NULL: none are known. */
    const struct secrets *secrets;
    const struct random *random; /* NULL: the system's */

    /* who has a say */
    struct hooks *hooks; /* a person's; NULL: none */
    struct plugin *const *plugins;
    size_t n_plugins;
    struct news *news; /* NULL: there is none */
    /* Appends what the model is to be reminded of now: it comes with a result. May be NULL. */
    void (*remind)(void *self, const struct history *h, struct strbuf *out);
    void *remind_self;

    /* limits */
    unsigned max_rounds;              /* 0: RUN_DEFAULT_MAX_ROUNDS; RUN_UNLIMITED: no limit */
    unsigned max_stop_blocks;         /* of Stop hooks; 0: RUN_DEFAULT_MAX_STOP_BLOCKS */
    uint64_t retry_max_ms;            /* waits of a round; 0: CHAIN_DEFAULT_MAX_WAIT_MS */
    uint64_t tool_timeout_ms;         /* 0: RUN_DEFAULT_TOOL_TIMEOUT_MS */
    const struct json *tool_timeouts; /* {"Bash": ms}: the operator's, by name; may be NULL */
    size_t tool_response_bytes;       /* 0: RUN_DEFAULT_TOOL_RESPONSE_BYTES */
    unsigned max_concurrency;         /* of a batch; 0: no bound */

    /* what a replay knows */
    int64_t context_floor; /* tokens that are known to be in use */
    int64_t known_head;    /* what system text and tools take at first; 0: they are counted */
    /* The next wait between attempts, instead of one by chance; -1: it is not known. */
    int64_t (*known_delay)(void *self); /* may be NULL */
    void *delay_self;
};

/* What keeps it: by the session, for one run. All zero: nothing outlives the run. */
struct run_keeper {
    struct budget_keeper budget;
    struct compactor *compactor;          /* NULL: never */
    struct child_keeper *children;        /* NULL: they are not kept */
    const struct given_outcome *outcomes; /* of calls that a crash has cut off */
    size_t n_outcomes;
    struct turn_progress before; /* of this turn; counts towards its limits */
};

/* In a task. `keeper` may be NULL. The result is the caller's to end, whatever happened. */
void run_start(struct conversation *c, const struct run_input *input, const struct run_kit *kit,
               const struct run_keeper *keeper, struct run_result *ret_result);

/* The JSON of an answer that must fit a schema, in `a`; ERR_VALIDATION: it does not. */
MUST_USE struct err *answer_parse(const struct json *output_schema, struct str text,
                                  struct arena *a, const struct json **ret_value);

/* The tools that a run with this kit, below `parent` (NULL: none), shows its model now: a new
 * reference. */
struct tool_set *run_tools(const struct run_kit *kit, const struct run_plan *plan,
                           const struct run *parent) MUST_USE;

/* How full the window of the first target is between runs: for a run with this kit, before its
 * prompt. */
struct token_estimate conversation_context(struct conversation *c, const struct run_kit *kit,
                                           int64_t *ret_window);

/* An event of this run, for what runs inside of it (hooks, child runs). */
void run_notice(struct run *r, enum severity severity, const char *source, struct str text);

/* --- for a compactor, and for tools that ask the model --- */

struct token_estimate run_context(struct run *r, int64_t *ret_window);
/* The share of its window at which the model that is asked wants a compaction; 0: no own one. */
int run_compact_per_mille(const struct run *r);
/* What system text and tools take of it. */
int64_t run_head_tokens(const struct run *r);
/* A question to the run's model that does not belong to the conversation: no tool is called,
 * nothing committed, but recorded and accounted for like any other. One at a time: its
 * events must not be between those of another. */
struct aside {
    /* Instead of the session's, and then without its tools; empty: the request begins as all of the
     * session do, so that what its provider keeps of them is used. */
    struct str system;
    const struct history_cut *cut; /* of the history; NULL: all of it is sent */
    struct str instruction;        /* the question, at the end */
    struct str call_id;            /* of the tool call that asks; empty: the run does */
    bool searches_web;             /* with the provider's own search */
    const struct json *search_allowed, *search_blocked; /* domains, as in a request */
};
MUST_USE struct err *run_ask_aside(struct run *r, const struct aside *aside,
                                   struct message **ret_answer);
/* Asks the person's hooks, and shows what they have to say to the person. An error: one of them
 * ends the run. */
MUST_USE struct err *run_ask_hooks(struct run *r, enum hook_event event, struct str matched,
                                   const struct json *fields, struct arena *a,
                                   struct hook_outcome *ret_outcome);
const struct history *run_history(const struct run *r);
const struct secrets *run_secrets(const struct run *r);    /* NULL: none are known */
const struct path_filter *run_hidden(const struct run *r); /* NULL: nothing is */
struct new_message {
    struct message *message;
    bool is_kept; /* it was in the history before, perhaps longer */
};
/* These messages instead of the history, as one compaction, which emits an event. */
void run_replace_history(struct run *r, const struct new_message *messages, size_t n,
                         const struct event_compact *compact);
struct message *run_new_message(struct run *r, enum role role) MUST_USE;
/* As another message of the same history: with its origin, and without what a provider counted for
 * what stood before it. */
struct message *run_repeat_message(struct run *r, const struct message *m) MUST_USE;
enum shortened_as {
    SHORTENED_TO_NAME,    /* the model has seen it */
    SHORTENED_TO_ENDING,  /* it has not: how the call ended */
    SHORTENED_TO_PREVIEW, /* its head and tail, FIT_PREVIEW_CHARS of it */
};
/* The same with each result of a tool stored, and the handle to read it. NULL: nothing can be
 * stored, and only the name was to stay. May wait. */
struct message *run_shorten_results(struct run *r, const struct message *m,
                                    enum shortened_as as) MUST_USE;

/* Ends the run with the answer it can give now, after what is under way: a forced last turn. */
void run_stop(struct run *r);

#endif
