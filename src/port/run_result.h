/* run_result.h - how a run ended: every run has one, also after errors.
 *
 * Owns what it points at. Money is in micro-cents, -1 where a price is not known. */
#ifndef KEEL_PORT_RUN_RESULT_H
#define KEEL_PORT_RUN_RESULT_H

#include "model/message.h"
#include "port/asker.h"

enum run_outcome {
    RUN_DONE,        /* there is an answer, perhaps from a forced last turn: see `forced` */
    RUN_FAILED,      /* `error` says why */
    RUN_SUSPENDED,   /* waits for answers to `asks` */
    RUN_INTERRUPTED, /* cancelled; what had come is kept. `error` is ERR_CANCELLED */
};
const char *run_outcome_name(enum run_outcome o); /* "done", ... */

/* Why the model was asked for its last words, without the tools it had. */
enum final_reason {
    FINAL_NONE,
    FINAL_TURN_LIMIT,    /* the round cap */
    FINAL_UNKNOWN_TOOLS, /* it kept calling tools that do not exist */
    FINAL_CORRECTIONS,   /* it kept sending wrong arguments */
    FINAL_TOKEN_LIMIT,   /* the context window is nearly full */
    FINAL_REPORT,        /* its report is due */
    FINAL_ROUTER,        /* it must hand over */
    FINAL_STOPPED,       /* a person asked for the answer now */
};
const char *final_reason_name(enum final_reason r); /* "", "turn_limit", "unknown_tools", ... */
/* The error that it is when the model then says nothing. */
enum err_kind final_reason_kind(enum final_reason r);

#define CONTEXT_BUDGET_EXCEEDED "context_budget_exceeded"
#define ACCOUNT_OWN_SERVER "agent"

/* One attempt or one tool call: what it took. */
struct accounting_entry {
    enum { ACCOUNT_LLM, ACCOUNT_TOOL } type;
    int64_t unix_ms; /* when it ended */
    bool is_ok;
    uint64_t duration_ms;
    /* What went wrong; CONTEXT_BUDGET_EXCEEDED: its result did not fit, whatever came of the call;
     * else empty. */
    struct str error;
    /* llm */
    struct str provider, model;
    struct usage usage; /* names who really answered, where a router says so */
    int64_t cost_microcents;
    /* tool */
    struct str server; /* whose tool it is: ACCOUNT_OWN_SERVER, or an MCP server's name */
    struct str command;
    size_t n_chars_in, n_chars_out;
    const struct json *details; /* may be NULL */
};

/* A call that was not allowed. */
struct denial {
    struct str tool, call_id;
    const struct json *args;
    struct str reason;
    struct str rule; /* what decided, as in its verdict */
};

struct run_result {
    struct arena arena;
    struct str run_id;
    enum run_outcome outcome;
    struct str text;          /* the last answer's */
    const struct json *value; /* the answer as the schema demands it; NULL: none was asked for */
    struct err *error;
    enum final_reason forced;
    bool is_fallback; /* the text is keel's own: the model said nothing */
    bool is_given;    /* a call gave the text (TOOL_ANSWER): it did not stream as an answer does */
    struct str stop_reason;
    unsigned n_rounds, n_attempts, n_tools_executed;
    struct usage usage; /* of all attempts together */
    int64_t cost_microcents;
    bool cost_is_known; /* of every attempt */
    /* Of its child runs and of theirs, which are not in the three above. */
    struct usage child_usage;
    int64_t child_microcents;
    bool child_cost_is_unknown;
    uint64_t duration_ms, api_duration_ms;
    struct ask *asks;
    size_t n_asks;
    struct accounting_entry *accounting; /* its texts are in the arena */
    size_t n_accounting, accounting_room;
    struct denial *denials;
    size_t n_denials, denials_room;
};
void run_result_done(struct run_result *r);
DEFINE_AUTO_VAL(run_result, run_result_done)

/* With what child runs took: all that is known of it. */
int64_t run_result_microcents(const struct run_result *r);
bool run_result_cost_is_known(const struct run_result *r); /* all of it */

int run_result_exit_code(const struct run_result *r);

#endif
