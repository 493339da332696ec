/* run.h - one submitted prompt until its result.
 *
 * run_start() is the engine's only door: a person's prompt, a workflow's node, a subagent and the
 * continuation of a suspended run all come through it. It runs in a task, cancelling that task
 * interrupts it, and it always gives a result: what went wrong is in there.
 *
 * All that a run uses is passed in. What may change while it runs (targets, mode, tools) is read
 * anew before each round. */
#ifndef KEEL_ENGINE_RUN_H
#define KEEL_ENGINE_RUN_H

#include "engine/chain.h"
#include "engine/conversation.h"
#include "engine/policy.h"
#include "port/hook.h"
#include "port/plugin.h"
#include "port/recorder.h"

#define RUN_DEFAULT_MAX_ROUNDS 10
#define RUN_DEFAULT_TOOL_TIMEOUT_MS 300000
#define RUN_DEFAULT_TOOL_RESPONSE_BYTES 12288

/* Whom to ask, and with what: read before each round. */
struct run_plan {
    const struct target *targets; /* another array, or another number: a new chain */
    size_t n_targets;
    enum permission_mode mode;
    struct tool_registry *tools; /* NULL: none */
    struct tool_filter filter;   /* exposure, and what the parent grants */
    struct str system;           /* authored text only; sent as it is */
    struct sampling sampling;
    enum effort effort;
    int64_t reasoning_budget;
    bool stream;
    bool web_search, web_fetch; /* the provider's own: ours are then not exposed */
    enum prompt_cache cache;
};

/* Around every attempt. `reserve` may refuse with an error, or fill `ret_ask` to suspend the run
 * until somebody answers (and return ERR_BUDGET_EXCEEDED). Both may be NULL. */
struct attempt_budget {
    struct err *(*reserve)(void *self, const struct attempt *a, int64_t prompt_tokens,
                           struct ask *ret_ask);
    void (*settle)(void *self, const struct attempt *a);
    void *self;
};

/* The answer to one of a suspended run's asks; the call id says to which. */
struct given_answer {
    struct str call_id; /* empty: the budget's */
    struct answer answer;
};

struct run;

struct run_options {
    /* what is asked */
    const struct run_policy *policy; /* NULL: conversation */
    struct message *input;           /* the user's; NULL: go on where the last run stopped */
    const struct given_answer *answers;
    size_t n_answers;
    const struct json *output_schema; /* the answer must be JSON that fits; NULL: any text */
    unsigned max_rounds;              /* 0: no cap */

    /* with what */
    const struct run_plan *(*plan)(void *self); /* required */
    void *plan_self;
    struct gate *gate; /* NULL: no tool may run */
    struct provider_call call;
    const struct tool_config *tool_config;
    struct launcher *launcher;
    const struct http_source *http;
    struct blob_store *blobs;
    struct asker *asker;
    const struct path_filter *hidden;
    uint64_t tool_timeout_ms;         /* 0: RUN_DEFAULT_TOOL_TIMEOUT_MS */
    const struct json *tool_timeouts; /* {"Bash": ms}: the operator's, by name; may be NULL */
    size_t tool_response_bytes;       /* 0: RUN_DEFAULT_TOOL_RESPONSE_BYTES */
    unsigned max_concurrency;         /* of a batch; 0: no bound */
    int64_t context_floor;            /* tokens that are known to be in use */

    /* who is told */
    struct recorder *recorder;
    struct hooks *hooks; /* a person's; NULL: none */
    const struct event_sink *sinks;
    size_t n_sinks;
    struct plugin *const *plugins;
    size_t n_plugins;
    struct attempt_budget budget;
    /* A failed attempt's text was shown: may it be taken back? NULL: no. */
    bool (*drop_text)(void *self);
    void *drop_self;

    /* under whom */
    struct run *parent; /* gets this run's events and costs; NULL: nobody */
    struct str call_id; /* of the parent's call that started it; may be empty */
    void (*on_begin)(void *self, struct run *r); /* the run, until it ends; may be NULL */
    void *begin_self;
    const char *agent;           /* name for the owner path; NULL: "main" */
    const struct random *random; /* NULL: the system's */
};

/* In a task. The result is the caller's to end, whatever happened. */
void run_start(struct conversation *c, const struct run_options *options,
               struct run_result *ret_result);

/* The tools that a run with these options shows its model now: a new reference. */
struct tool_set *run_tools(const struct run_options *o, const struct run_plan *plan) MUST_USE;

/* Tells this run's listeners something; for what runs inside of it (hooks, child runs). */
void run_notice(struct run *r, enum severity severity, const char *source, struct str text);

/* Ends the run with the answer it can give now, after what is under way: a forced last turn. */
void run_stop(struct run *r);

#endif
