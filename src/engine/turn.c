/* turn.c - the rounds of a run: ask the model, run the tools it calls, repeat until it answers.
 *
 * This is the heart. The steps of a round are below in the order in which they happen; run_state.h
 * names the file of each. Where the kinds of run differ, the policy decides. */
#include "engine/open_calls.h"
#include "engine/run_state.h"

#include "model/message_json.h"

struct compactor *run_compactor(const struct run *r)
{
    return r->policy->compacts ? r->keeper->compactor : NULL;
}

struct err *run_compact(struct run *r)
{
    struct compactor *c = run_compactor(r);

    if (!c)
        return NULL;
    run_refresh_plan(r);
    return c->compact(c, r, /* is_full= */ false);
}

/* --- is this the last round? --- */

/* The last request was made, and its process died: one more would be one over the limit. */
static struct err *end_again(unsigned max_rounds)
{
    return err_hint(
        err_new(ERR_TURN_LIMIT,
                "this turn has reached its limit of %u round%s, including the last request without "
                "tools",
                max_rounds, max_rounds == 1 ? "" : "s"),
        "allow more rounds with --max-turns or the setting maxTurns, or give a new prompt");
}

unsigned run_max_rounds(const struct run *r)
{
    unsigned max = r->input->max_rounds ? r->input->max_rounds : r->kit->max_rounds;

    return max ? max : RUN_DEFAULT_MAX_ROUNDS;
}

/* Why this round is the last one, in which no tool may be called; FINAL_NONE: it is not. */
static struct err *find_end(struct run *r, enum final_reason *ret_reason)
{
    const struct turn_progress *before = &r->keeper->before;
    unsigned max = run_max_rounds(r);

    *ret_reason = r->must_finish;
    if (r->is_stopping)
        *ret_reason = FINAL_STOPPED;
    else if (before->n_rounds + r->place.round >= max) {
        if (before->forced == FINAL_TURN_LIMIT)
            return end_again(max);
        *ret_reason = FINAL_TURN_LIMIT;
        return r->policy->on_turn_limit(max);
    } else if (!r->must_finish && window_needs_reserve(r)) {
        *ret_reason = FINAL_TOKEN_LIMIT;
    }
    return NULL;
}

/* --- asking --- */

/* Makes the history shorter for a provider that has found the request too long, once. */
static struct err *make_room(struct run *r, bool *ret_is_shorter)
{
    struct compactor *c = run_compactor(r);
    int64_t before = run_estimate(r).serialized;

    *ret_is_shorter = false;
    if (!c || r->has_made_room)
        return NULL;
    r->has_made_room = true;
    TRY(c->compact(c, r, /* is_full= */ true));
    *ret_is_shorter = run_estimate(r).serialized < before;
    return NULL;
}

/* *ret_answer is NULL if the request was too long: the history is shorter now, and the next round
 * asks again. Calls of an answer that is not whole are not run: the end of the run closes them. */
static struct err *ask_or_make_room(struct run *r, const struct message **ret_answer)
{
    AUTO(err) struct err *e = NULL;
    bool is_shorter;

    r->place.round++;
    r->result->n_rounds++;
    run_emit_context(r);
    e = ask_model(r, NULL, ret_answer);
    run_emit_context(r);
    if (err_is(e, ERR_CONTEXT_OVERFLOW)) {
        *ret_answer = NULL;
        TRY(make_room(r, &is_shorter));
        return is_shorter ? NULL : TAKE(e);
    }
    if (!e)
        r->has_made_room = false;
    return TAKE(e);
}

/* --- acting on the answer --- */

/* The result has its text. A Stop hook may find that the work is not done: the model reads its
 * reason, and the turn continues. */
static struct err *end_turn(struct run *r, bool *ret_is_over)
{
    AUTO(message) struct message *m = NULL;
    struct str reason;

    TRY(hook_stop(r, r->result->text, &reason));
    *ret_is_over = reason.n == 0;
    if (*ret_is_over)
        return NULL;
    m = run_new_message(r, ROLE_USER);
    message_add_text(m, reason);
    TRY(message_check(m, "the reason of a Stop hook"));
    run_append(r, m);
    return NULL;
}

static struct err *take_answer(struct run *r, const struct message *answer, bool *ret_is_over)
{
    AUTO(strbuf) struct strbuf text = {0};
    bool continues;

    strbuf_add(&text, strbuf_str(&r->continued));
    message_text(answer, &text);
    r->result->is_given = false;
    r->result->text = arena_str(&r->result->arena, strbuf_str(&text));
    TRY(answer_check(r, answer, &continues));
    if (!continues) {
        answer_reset(r);
        TRY(news_await(r, /* may_ask= */ true, &continues));
    }
    *ret_is_over = !continues;
    return continues ? NULL : end_turn(r, ret_is_over);
}

/* A call has given the answer. */
static struct err *take_call_answer(struct run *r, bool *ret_is_over)
{
    bool continues = false;

    r->result->text = arena_str(&r->result->arena, r->call_answer);
    r->result->is_given = true;
    r->call_answer = (struct str){0};
    TRY(answer_fit(r, &continues));
    *ret_is_over = !continues;
    return continues ? NULL : end_turn(r, ret_is_over);
}

static struct err *act(struct run *r, const struct message *answer, bool *ret_is_over)
{
    if (message_n_calls(answer) == 0 && r->stop != STOP_PAUSED)
        return take_answer(r, answer, ret_is_over);
    answer_reset(r);
    TRY(batch_run(r, answer));
    *ret_is_over = r->result->n_asks > 0; /* the run waits for a person */
    if (!*ret_is_over && r->call_answer.n)
        return take_call_answer(r, ret_is_over);
    return *ret_is_over ? NULL : run_compact(r);
}

/* --- the rounds --- */

static struct err *ask_and_act(struct run *r, bool *ret_is_over)
{
    const struct message *answer;
    enum final_reason reason;
    bool has_news;

    TRY(task_check());
    run_refresh_plan(r);
    TRY(find_end(r, &reason));
    news_add(r);
    TRY(window_check(r));
    *ret_is_over = reason != FINAL_NONE;
    if (*ret_is_over) {
        TRY(final_turn(r, reason));
        return news_await(r, /* may_ask= */ false, &has_news);
    }
    TRY(ask_or_make_room(r, &answer));
    return answer ? act(r, answer, ret_is_over) : NULL;
}

/* One round; *ret_is_over: nothing is left to ask. */
static struct err *run_round(struct run *r, bool *ret_is_over)
{
    struct err *e = ask_and_act(r, ret_is_over);

    early_end(r, e ? e->kind : ERR_CANCELLED);
    launcher_rest(r->kit->launcher);
    return e;
}

/* --- a run without a prompt --- */

/* What an earlier run left open comes first: calls that were suspended, or that a crash cut off. */
static struct err *close_open_calls(struct run *r)
{
    const struct message *open = open_calls_find(&r->conversation->history);

    if (!open)
        return NULL;
    run_refresh_plan(r);
    return batch_run(r, open);
}

/* The answer at the end of the history: it arrived whole, and only the end of its run is missing.
 */
static const struct message *find_answer(const struct history *h)
{
    const struct message *m = h->n_messages ? h->messages[h->n_messages - 1] : NULL;
    bool is_answer = m && m->role == ROLE_ASSISTANT && m->state == MESSAGE_COMPLETE;

    return is_answer && m->n_parts && !m->is_error && message_n_calls(m) == 0 &&
                   m->stop != STOP_PAUSED
               ? m
               : NULL;
}

static struct err *resume(struct run *r, bool *ret_is_over)
{
    const struct message *answer;

    TRY(close_open_calls(r));
    *ret_is_over = r->result->n_asks > 0;
    if (!*ret_is_over && r->call_answer.n)
        return take_call_answer(r, ret_is_over);
    answer_resume(r);
    answer = find_answer(&r->conversation->history);
    if (!answer)
        return *ret_is_over ? NULL : run_compact(r); /* the process may have died in that */
    /* Ordinary ends have no name in a record. Others were reported when they came. */
    r->stop = answer->stop == STOP_UNKNOWN ? STOP_END : answer->stop;
    r->stop_detail = (struct str){0};
    return take_answer(r, answer, ret_is_over);
}

static struct err *run_rounds(struct run *r)
{
    bool is_over = false;

    if (!r->input->prompt)
        TRY(resume(r, &is_over));
    while (!is_over)
        TRY(run_round(r, &is_over));
    return NULL;
}

struct err *turn_run(struct run *r)
{
    struct err *e = run_rounds(r);

    launcher_rest(r->kit->launcher); /* calls of before the first round may have run commands */
    return e;
}
