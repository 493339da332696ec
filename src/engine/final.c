/* final.c - the forced last turn: the model is asked once more, without the tools it had. */
#include "engine/run_state.h"

static void set_text(struct run *r, struct str text)
{
    r->result->text = arena_str(&r->result->arena, text);
}

/* The model said nothing: the policy has the last word, in the history too. */
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
    set_text(r, text);
    r->result->is_fallback = true;
    hook_failure(r, why);
    return NULL;
}

/* The tools that were called and are not there, as the instruction names them. */
static struct str join_unknown(struct run *r)
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
    struct event told = {.body.final = {.reason = reason}};
    const struct message *answer;

    final_instruction(&instruction, reason,
                      reason == FINAL_UNKNOWN_TOOLS ? join_unknown(r) : (struct str){0},
                      r->policy->final_tool);
    final.instruction = told.body.final.instruction = strbuf_str(&instruction);
    r->result->forced = reason;
    run_emit(r, EVENT_FINAL_TURN, &told);
    run_emit_context(r);
    e = ask_model(r, &final, &answer);
    run_emit_context(r);
    batch_close(r); /* no tool is run any more, whatever was called */
    if (err_is(e, ERR_CANCELLED) || r->result->n_asks)
        return TAKE(e);
    if (answer)
        message_text(answer, &text);
    if (e || str_trim(strbuf_str(&text)).n == 0)
        return answer_instead(r, reason);
    set_text(r, strbuf_str(&text));
    TRY(answer_validate(r, r->result->text));
    return hook_last_stop(r, r->result->text);
}
