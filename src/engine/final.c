/* final.c - the forced last turn: the model is asked once more, without the tools it had. */
#include "engine/run_state.h"

/* The model said nothing: the policy's text takes the place of the answer, in the history too. */
static struct err *answer_instead(struct run *r, enum final_reason reason)
{
    AUTO(message) struct message *m = NULL;
    AUTO(err) struct err *why = NULL;
    struct str text = {0};

    TRY(r->policy->on_no_answer(reason, &text));
    why = err_new(final_reason_kind(reason), "%" STR_FMT, STR_ARG(text));
    m = run_new_message(r, ROLE_ASSISTANT);
    m->is_error = true;
    message_add_text(m, text);
    run_append(r, m);
    run_emit_message(r, EVENT_ASSISTANT_COMMITTED, m);
    r->result->text = arena_str(&r->result->arena, text);
    r->result->is_fallback = true;
    hook_failure(r, why);
    return NULL;
}

/* The unknown tools that were called, for the instruction. */
static struct str name_unknown_tools(struct run *r)
{
    AUTO(strbuf) struct strbuf names = {0};

    for (size_t i = 0; i < r->n_unknown_names; i++)
        strbuf_addf(&names, "%s%" STR_FMT, i ? ", " : "", STR_ARG(r->unknown_names[i]));
    return arena_str(&r->arena, strbuf_str(&names));
}

struct err *final_turn(struct run *r, enum final_reason reason)
{
    AUTO(strbuf) struct strbuf instruction = {0}, text = {0};
    AUTO(err) struct err *e = NULL;
    struct final_turn final = {.reason = reason};
    struct event begun = {.body.final = {.reason = reason}};
    const struct message *answer;

    final_instruction(&instruction, reason,
                      reason == FINAL_UNKNOWN_TOOLS ? name_unknown_tools(r) : (struct str){0},
                      r->policy->final_tool);
    final.instruction = begun.body.final.instruction = strbuf_str(&instruction);
    r->result->forced = reason;
    run_emit(r, EVENT_FINAL_TURN, &begun);
    run_emit_context(r);
    e = ask_model(r, &final, &answer);
    run_emit_context(r);
    batch_close(r); /* whatever was called, no tool runs any more */
    if (err_is(e, ERR_CANCELLED) || r->result->n_asks)
        return TAKE(e);
    if (answer)
        message_text(answer, &text);
    if (e || str_trim(strbuf_str(&text)).n == 0)
        return answer_instead(r, reason);
    r->result->text = arena_str(&r->result->arena, strbuf_str(&text));
    TRY(answer_validate(r, r->result->text));
    return hook_last_stop(r, r->result->text);
}
