/* policy.h - how the three kinds of run differ, as one value. The turn core asks it.
 *
 * A conversation continues with something that a person can read, a node of a workflow ends with an
 * error code, and a report run ends with its report. Each function says what one event means: NULL
 * lets the run continue, an error ends it. */
#ifndef KEEL_ENGINE_POLICY_H
#define KEEL_ENGINE_POLICY_H

#include "port/gate.h"
#include "port/run_result.h"

struct run_policy {
    const char *name;
    unsigned default_attempts; /* per target */
    unsigned max_corrections;  /* wrong arguments in a row */
    unsigned max_misfits;      /* answers in a row that do not fit their schema and are sent back */
    /* A call was not allowed. */
    struct err *(*on_denied)(const struct verdict *v);
    /* More corrections in a row than max_corrections. */
    struct err *(*on_corrections_spent)(struct str tool);
    /* The limit of rounds is reached, and the model is not done. NULL: one last turn is forced. */
    struct err *(*on_turn_limit)(unsigned max_rounds);
    /* The last turn gave no text: `text` takes its place, or the error. */
    struct err *(*on_no_answer)(enum final_reason reason, struct str *ret_text);
    bool unknown_is_correction; /* an unknown tool counts as a wrong argument */
    bool tells_failure;         /* a provider's failure becomes a message in the history */
    bool blames_request;        /* what a provider refuses as malformed is ERR_VALIDATION */
    bool compacts;              /* a history that is too long may become a summary */
    /* Share of the window that is kept free for the last turn at most (ledger_reserve); 0: none,
     * only the guard holds. */
    unsigned reserve_per_mille;
    /* The tool that a forced last turn may still call; NULL: none. */
    const char *final_tool;
};

extern const struct run_policy policy_conversation, policy_node, policy_report;

/* What a conversation answers when the model says nothing at the limit of rounds. */
#define FALLBACK_TEXT "Maximum rounds reached. Partial results available in conversation history."

/* The instruction of a forced last turn. `detail` names the unknown tools, if those are the reason.
 */
void final_instruction(struct strbuf *out, enum final_reason reason, struct str detail,
                       const char *final_tool);

#endif
