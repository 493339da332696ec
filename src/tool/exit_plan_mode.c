/* exit_plan_mode.c - ExitPlanMode: shows the person a plan, and ends plan mode if they approve.
 *
 * The asker may answer later: the call is suspended and runs again with the answer. If no one can
 * answer, the plan becomes the answer of the run. */
#include "port/gate.h"
#include "tool/builtin.h"

/* The person may have changed the plan and the mode meanwhile. */
static void take_approval(const struct tool_context *c, const struct answer *answer,
                          struct str plan, struct tool_result *r)
{
    bool accepts_edits =
        answer->kind == ANSWER_SESSION || answer->kind == ANSWER_PROJECT ||
        str_is(json_get_text(answer->value, "mode"), permission_mode_name(MODE_ACCEPT_EDITS));
    struct str changed = json_get_text(answer->args, "plan");
    AUTO(strbuf) struct strbuf surroundings = {0};
    const char *mode = c->plan_mode->leave(c->plan_mode->self, accepts_edits);

    json_set_bool(&r->arena, tool_result_details(r), "approved", true);
    json_set_str(&r->arena, r->details, "mode", str_of(mode));
    json_set_str(&r->arena, r->details, "plan", changed.n ? changed : plan);
    tool_result_addf(r,
                     "The person approved the plan. The permission mode is now %s: start work, "
                     "and begin with a todo list if the plan has several steps.",
                     mode);
    /* The last prompt described plan mode, and the model reads that prompt until the run ends. */
    if (c->plan_mode->describe)
        c->plan_mode->describe(c->plan_mode->self, &surroundings);
    if (surroundings.n)
        tool_result_addf(r, "\n%s", strbuf_cstr(&surroundings));
    if (changed.n && !str_eq(changed, plan))
        tool_result_addf(r, "\nThey changed the plan. Work from this version:\n\n%" STR_FMT,
                         STR_ARG(changed));
}

static void take_answer(const struct tool_context *c, const struct ask *ask,
                        const struct answer *answer, struct tool_result *r)
{
    struct str plan = json_get_text(ask->args, "plan"), words = str_trim(answer->reason);

    switch (answer->kind) {
    case ANSWER_NOBODY:
        json_set_str(&r->arena, tool_result_details(r), TOOL_ANSWER, plan);
        tool_result_addf(r,
                         TOOL_PLAN_IS_ANSWER " The run ends with the plan as its answer; nothing "
                                             "was changed, and plan mode continues.");
        break;
    case ANSWER_LATER:
        tool_result_wait(r, ask);
        break;
    case ANSWER_NO:
        json_set_bool(&r->arena, tool_result_details(r), "approved", false);
        tool_result_fail(r,
                         "The person did not approve the plan%s%" STR_FMT
                         "\nPlan mode continues: nothing may be changed. Revise the plan and call "
                         "%s again, or answer what they said.",
                         words.n ? ". They said: " : ".", STR_ARG(words), TOOL_EXIT_PLAN_MODE);
        break;
    case ANSWER_ONCE:
    case ANSWER_SESSION:
    case ANSWER_PROJECT:
    case ANSWER_VALUE:
        take_approval(c, answer, plan, r);
        break;
    }
}

static struct err *exit_plan_mode_run(const struct tool *t, struct tool_context *c,
                                      const struct json *args, struct tool_result *result)
{
    struct str plan = json_get_text(args, "plan");
    struct ask ask = {.kind = ASK_PLAN,
                      .call_id = c->call_id,
                      .tool = str_of(t->name),
                      .args = args,
                      .text = arena_format(&result->arena, "%" STR_FMT "\n\nApprove this plan?",
                                           STR_ARG(str_trim(plan)))};
    struct answer answer;

    if (!c->plan_mode) {
        tool_result_fail(result, "The session is not in plan mode, so no plan needs approval. "
                                 "Continue with the task.");
        return NULL;
    }
    if (!str_trim(plan).n) {
        tool_result_fail(result, "The plan is empty. Call " TOOL_EXIT_PLAN_MODE
                                 " with the whole plan as its text.");
        return NULL;
    }
    if (c->answer)
        answer = *c->answer;
    else
        TRY(asker_ask(c->asker, &ask, &result->arena, &answer));
    take_answer(c, &ask, &answer, result);
    return NULL;
}

/* People take their time: there is no deadline. */
static uint64_t exit_plan_mode_timeout(const struct tool *t, const struct json *args)
{
    return TOOL_NO_DEADLINE;
}

struct tool tool_exit_plan_mode = {
    .name = TOOL_EXIT_PLAN_MODE,
    .description =
        "Presents your plan to the person and asks them to approve it. Use it only in plan mode, "
        "and only for a task that changes something: when you have looked at the code and know "
        "what to do. To answer a question, just answer. Clear up what you do not know before "
        "you call it, and do not ask in your text whether the plan is all right: this call asks. "
        "If the person approves, plan mode ends and you do the work; if not, the result says "
        "what they want. Where no one can approve, the run ends with the plan as its answer.",
    .schema = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"plan\"],"
              "\"properties\":{\"plan\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":100000,"
              "\"description\":\"The plan in Markdown, complete by itself: the goal, the steps in "
              "order with the files they change, how to verify the result, and open "
              "questions.\"}}}",
    .risk = RISK_INSPECT,
    .needs = NEEDS_PLANNING,
    .is_barrier = true, /* calls after it in the batch were judged in plan mode */
    .gives_answer = true,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = exit_plan_mode_run,
    .timeout_ms = exit_plan_mode_timeout,
};
