/* budget.h - what a session may spend, reserved before the bytes leave and settled after.
 *
 * One budget for all runs of a session, side by side or one after the other. What was spent comes
 * back with the session, so that a restart is no way around it. Before a request its prompt and a
 * usual answer are reserved at the target's price; when it has ended, what it really took counts.
 * The longest answer that a model may give is hardly ever given: to reserve that would refuse most
 * requests of a small budget. So a limit is passed by one answer at most, by what that is longer.
 *
 * A limit that is reached refuses the next request or tool call, or suspends the run until somebody
 * says yes, or is told once. A yes grants as much again; the session's state keeps it ("budget").
 */
#ifndef KEEL_SESSION_BUDGET_H
#define KEEL_SESSION_BUDGET_H

#include "engine/run.h"

#define BUDGET_USUAL_OUTPUT 1024 /* tokens */

enum budget_action { BUDGET_FAILS, BUDGET_ASKS, BUDGET_WARNS };
/* "fail", "ask", "warn" */
bool budget_action_find(struct str name, enum budget_action *ret_action);

/* 0: no limit. */
struct budget_limits {
    uint64_t rounds, tool_calls, tokens, active_ms;
    int64_t microcents;
    enum budget_action on_exceed;
};

/* Of all runs, by this and earlier processes. */
struct spent {
    struct usage usage;
    int64_t microcents;
    bool cost_is_known;
    uint64_t n_rounds;     /* questions to a model, asides too */
    uint64_t n_tool_calls; /* that have begun */
    uint64_t active_ms;
};

struct reservation {
    const struct attempt *attempt;
    int64_t tokens, microcents;
};

struct budget {
    struct budget_limits limits;
    struct spent spent;
    struct tool_session *state;                     /* keeps what was granted; may be NULL */
    void (*on_notice)(void *self, struct str text); /* for the person; may be NULL */
    void *self;
    /* the rest is private */
    struct plugin plugin;
    struct arena arena;           /* of the question */
    struct reservation *reserved; /* for attempts that are under way */
    size_t n_reserved, reserved_room;
    bool has_warned, has_refused_call;
    uint64_t began_ms; /* of the run under way; 0: none */
};

void budget_init(struct budget *b, const struct budget_limits *limits);
void budget_done(struct budget *b);

/* What a run is given. The plugin counts tool calls, and refuses those over the limit. */
struct attempt_budget budget_hooks(struct budget *b);
struct plugin *budget_plugin(struct budget *b);

/* Around a run: the clock. */
void budget_begin_run(struct budget *b);
void budget_end_run(struct budget *b);

/* Somebody was asked whether it may go on. */
void budget_grant(struct budget *b, enum answer_kind answer);

#endif
