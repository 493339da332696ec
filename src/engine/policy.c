/* policy.c - the three kinds of run. */
#include "engine/policy.h"

/* --- a conversation continues --- */

static struct err *conversation_denied(const struct verdict *v)
{
    return NULL;
}

static struct err *conversation_spent(struct str tool)
{
    return NULL;
}

static struct err *conversation_turn_limit(unsigned max_rounds)
{
    return NULL;
}

static struct err *conversation_no_answer(enum final_reason reason, struct str *ret_text)
{
#define HISTORY_HAS_IT " Partial results available in conversation history."
    static const char *const texts[] = {
        [FINAL_TURN_LIMIT] = FALLBACK_TEXT,
        [FINAL_UNKNOWN_TOOLS] = "The model kept calling tools that do not exist." HISTORY_HAS_IT,
        [FINAL_CORRECTIONS] = "The model kept calling tools with wrong arguments." HISTORY_HAS_IT,
        [FINAL_TOKEN_LIMIT] = "The context window is nearly full." HISTORY_HAS_IT,
        [FINAL_REPORT] = "The model gave no report." HISTORY_HAS_IT,
        [FINAL_ROUTER] = "The model handed nothing over." HISTORY_HAS_IT,
        [FINAL_STOPPED] = "The model was asked for its answer and gave none." HISTORY_HAS_IT,
    };

    *ret_text = str_of(texts[reason]);
    return NULL;
}

/* --- a node ends --- */

static struct err *node_denied(const struct verdict *v)
{
    return err_new(ERR_TOOL_DENIED, "%" STR_FMT, STR_ARG(v->reason));
}

static struct err *node_spent(struct str tool)
{
    return err_new(ERR_TOOL_FAILED, "the model keeps calling %" STR_FMT " with invalid arguments",
                   STR_ARG(tool));
}

static struct err *node_turn_limit(unsigned max_rounds)
{
    return err_hint(err_new(ERR_TURN_LIMIT, "the model was not done after %u round%s", max_rounds,
                            max_rounds == 1 ? "" : "s"),
                    "allow more rounds with --max-turns or the setting maxTurns, or ask for less");
}

static struct err *node_no_answer(enum final_reason reason, struct str *ret_text)
{
    return err_new(ERR_TURN_LIMIT, "the model gave no answer (%s)", final_reason_name(reason));
}

/* --- a report run fails without its report --- */

static struct err *report_no_answer(enum final_reason reason, struct str *ret_text)
{
    return err_new(reason == FINAL_TOKEN_LIMIT ? ERR_CONTEXT_OVERFLOW : ERR_TURN_LIMIT,
                   "the run ended without a report (%s)", final_reason_name(reason));
}

const struct run_policy policy_conversation = {
    .name = "conversation",
    .default_attempts = 10,
    .max_corrections = 3,
    .max_misfits = 3,
    .on_denied = conversation_denied,
    .on_corrections_spent = conversation_spent,
    .on_turn_limit = conversation_turn_limit,
    .on_no_answer = conversation_no_answer,
    .tells_failure = true,
    .compacts = true,
};

const struct run_policy policy_node = {
    .name = "node",
    .default_attempts = 1,
    .max_corrections = 3,
    .on_denied = node_denied,
    .on_corrections_spent = node_spent,
    .on_turn_limit = node_turn_limit,
    .on_no_answer = node_no_answer,
    .unknown_is_correction = true,
    .blames_request = true,
};

const struct run_policy policy_report = {
    .name = "report",
    .default_attempts = 5,
    .max_corrections = 3,
    .max_misfits = 3,
    .on_denied = conversation_denied,
    .on_corrections_spent = conversation_spent,
    .on_turn_limit = conversation_turn_limit,
    .on_no_answer = report_no_answer,
    .reserve_per_mille = 100,
    .final_tool = "agent__final_report",
};

void final_instruction(struct strbuf *out, enum final_reason reason, struct str detail,
                       const char *final_tool)
{
    static const char *const why[] = {
        [FINAL_NONE] = "",
        [FINAL_TURN_LIMIT] = "The limit of rounds for this run is reached.",
        [FINAL_UNKNOWN_TOOLS] = ("Tools were called that are not registered, more than once; those "
                                 "calls were not executed."),
        [FINAL_CORRECTIONS] = "Tool calls kept having wrong arguments; they were not executed.",
        [FINAL_TOKEN_LIMIT] = "The context window is nearly full.",
        [FINAL_REPORT] = "The final report is due.",
        [FINAL_ROUTER] = "The request must be handed over now.",
        [FINAL_STOPPED] = "The user asked for the answer now.",
    };

    strbuf_add_cstr(out, why[reason]);
    if (detail.n)
        strbuf_addf(out, " Unavailable tools: %" STR_FMT ".", STR_ARG(detail));
    if (final_tool)
        strbuf_addf(out,
                    " Call %s now with what you have so far; no other tool can be called any more.",
                    final_tool);
    else
        strbuf_add_cstr(out, " No tool can be called any more. Answer now with what you have so "
                             "far. Say what is left incomplete, and that the user can follow up.");
}
