/* budget.h - what a session may spend, reserved before the bytes leave and settled after.
 *
 * One budget for all runs of a session, side by side or one after the other, and for their child
 * runs: each child counts what it takes, and so do all above it; the limits are the root's, and
 * what is reserved is reserved there. What was spent comes back with the session, and so does what
 * was reserved for a request whose process died: a restart is no way around a limit. Before a
 * request its prompt and a usual answer are reserved at the target's price (engine/reserve.h), and
 * the answer may be as long as what is left pays for: in powers of two, so that the settings of a
 * conversation's requests seldom change. When the request has ended, what it took counts.
 *
 * Time is reserved as well, where it has a limit: a little ahead of what has passed, so that it
 * counts whenever the process dies, whatever it was waiting for.
 *
 * A limit that is reached refuses the next request or tool call, or suspends the run until a person
 * says yes, or is reported once. A yes grants as much again, as often as the next request needs it;
 * the session's state keeps it ("budget").
 */
#ifndef KEEL_SESSION_BUDGET_H
#define KEEL_SESSION_BUDGET_H

#include "engine/run.h"

enum budget_action { BUDGET_FAILS, BUDGET_ASKS, BUDGET_WARNS };
/* "fail", "ask", "warn" */
bool budget_action_find(struct str name, enum budget_action *ret_action);

/* 0: no limit. */
struct budget_limits {
    uint64_t rounds, tool_calls, tokens, active_ms;
    int64_t microcents;
    enum budget_action on_exceed;
    /* Who has set these two, for messages: a flag or a setting. NULL: not known. */
    const char *money_set_by, *tokens_set_by;
};

/* Of all runs, by this and earlier processes. */
struct spent {
    struct usage usage;
    int64_t microcents;
    bool is_estimated;     /* some of it is keel's own count */
    bool is_unpriced;      /* some of it has no known price */
    uint64_t n_rounds;     /* questions to a model, asides too */
    uint64_t n_tool_calls; /* that have begun */
    uint64_t active_ms;
};

/* Of an attempt that is under way. */
struct held {
    const struct attempt *attempt;
    int64_t tokens, microcents;
};

/* What an attempt took is added to what was spent. */
void spent_add(struct spent *x, const struct settlement *s);
/* The same of a child run: all but its time, which its parent has spent waiting. */
void spent_add_child(struct spent *x, const struct event_child *c);

struct budget {
    struct budget_limits limits;
    struct spent spent;
    struct tool_state *state; /* keeps what was granted; may be NULL */
    struct budget *parent;    /* of a child run's; NULL: it is the root's */
    /* the rest is private */
    struct arena arena; /* of the question */
    struct held *held;  /* for attempts that are under way */
    size_t n_held, held_room;
    struct strbuf warning; /* of a call or a request; reported with the next request */
    bool has_warned, has_reported;
    bool is_at_work;      /* a run is under way */
    uint64_t began_ms;    /* that run */
    uint64_t reserved_ms; /* time at work that counts when this process dies; 0: none yet */
};

void budget_init(struct budget *b, const struct budget_limits *limits);
void budget_done(struct budget *b);

/* What a run is given. */
struct budget_keeper budget_keeper_of(struct budget *b);

/* Time at work that a run had reserved, as the session's state says it; 0: none. */
uint64_t budget_reserved_ms(struct str key, const struct json *value);

/* Around a run: the clock. */
void budget_begin_run(struct budget *b);
/* While it is under way, in a task of its own: reserves time as it passes, until it is cancelled.
 * At once over where time has no limit. */
MUST_USE struct err *budget_keep_time(void *budget);
void budget_end_run(struct budget *b);

#endif
