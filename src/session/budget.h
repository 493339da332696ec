/* budget.h - what a session may spend, reserved before the bytes leave and settled after.
 *
 * One budget for a whole tree of runs. What was spent comes back with the session, so that a
 * restart is no way around it. */
#ifndef KEEL_SESSION_BUDGET_H
#define KEEL_SESSION_BUDGET_H

#include "engine/run.h"

enum budget_action { BUDGET_FAILS, BUDGET_ASKS, BUDGET_WARNS };

/* 0: no limit. */
struct budget_limits {
    uint64_t rounds, tool_calls, tokens, active_ms;
    int64_t microcents;
    enum budget_action on_exceed;
};

struct budget {
    struct budget_limits limits;
    /* spent so far, by this and earlier processes */
    uint64_t n_rounds, n_tool_calls, n_tokens, active_ms;
    int64_t microcents;
    bool cost_is_known;
    /* reserved for attempts that are under way */
    uint64_t reserved_tokens;
    int64_t reserved_microcents;
    bool has_warned;
    uint64_t began_ms; /* of the run under way; 0: none */
};

void budget_init(struct budget *b, const struct budget_limits *limits);
/* What a run is given. */
struct attempt_budget budget_hooks(struct budget *b);
/* May one more tool call run? ERR_BUDGET_EXCEEDED names the limit, what was spent and how to raise
 * it. */
MUST_USE struct err *budget_take_call(struct budget *b);

#endif
