/* turn.c - the rounds of a run: ask the model, run the tools it calls, again, until it answers.
 *
 * This is the heart. What a round consists of stands below in the order in which it happens; how
 * each step works stands in the file that run_state.h names for it. What differs between the kinds
 * of run is the policy's to say. */
#include "engine/open_calls.h"
#include "engine/run_state.h"

#include "model/message_json.h"

/* --- the round begins --- */

/* Can its first model search the web when it is asked to? */
static bool can_search(const struct run_plan *plan)
{
    const struct target *first = plan->n_targets ? &plan->targets[0] : NULL;

    return first && provider_capabilities(first->provider, first->info).web_search.is_supported;
}

static unsigned capabilities(const struct run_kit *kit, const struct run_plan *plan,
                             const struct run *parent)
{
    /* A list that the model was told of stays as it is, whoever is there now. */
    bool has_person = kit->asker || plan->told_tools;

    return (kit->launcher ? NEEDS_LAUNCHER : 0) | (kit->http ? NEEDS_HTTP : 0) |
           (kit->blobs ? NEEDS_BLOBS : 0) | (plan->web_search ? 0 : NEEDS_NO_NATIVE_SEARCH) |
           (plan->web_fetch ? 0 : NEEDS_NO_NATIVE_FETCH) |
           (can_search(plan) ? NEEDS_MODEL_SEARCH : 0) | (has_person ? NEEDS_PERSON : 0) |
           (has_person || run_plan_mode(plan) == MODE_PLAN ? NEEDS_PLANNING : 0) |
           (can_delegate_below(parent) ? NEEDS_RUNNER : 0);
}

struct tool_set *run_tools(const struct run_kit *kit, const struct run_plan *plan,
                           const struct run *parent)
{
    AUTO(tool_registry) struct tool_registry *none = plan->tools ? NULL : tool_registry_new();
    AUTO(tool_set) struct tool_set *all = tool_registry_snapshot(none ? none : plan->tools);
    AUTO(tool_set)
    struct tool_set *now = tool_set_narrow(all, &plan->filter, capabilities(kit, plan, parent));

    return plan->told_tools ? tool_set_as_told(now, plan->told_tools) : TAKE(now);
}

static bool is_same_filter(const struct tool_filter *a, const struct tool_filter *b)
{
    return a->allow == b->allow && a->n_allow == b->n_allow && a->allows_all == b->allows_all &&
           a->deny == b->deny && a->n_deny == b->n_deny;
}

/* As long as nothing changes a run keeps its set, and the schemas that were compiled in it. */
static bool is_current(struct run *r)
{
    AUTO(tool_set)
    struct tool_set *now = r->plan->tools ? tool_registry_snapshot(r->plan->tools) : NULL;

    return r->tools && r->tools->version == (now ? now->version : 0) &&
           r->needs == capabilities(r->kit, r->plan, r->input->parent) &&
           r->told_tools == r->plan->told_tools && is_same_filter(&r->filter, &r->plan->filter);
}

/* What every request begins with, and so takes of the window. */
static void count_head(struct run *r)
{
    r->head_tokens = plan_head_tokens(r->plan, r->tools);
    r->counted_system = r->plan->system;
}

/* A run that asked nothing has not recorded its tools, only what they took. */
static void count_first_head(struct run *r)
{
    count_head(r);
    if (r->kit->known_head)
        r->head_tokens = r->kit->known_head;
}

static void refresh_tools(struct run *r)
{
    struct tool_set *before = r->tools;
    struct event e = {0};

    if (is_current(r))
        return;
    r->tools = run_tools(r->kit, r->plan, r->input->parent);
    r->needs = capabilities(r->kit, r->plan, r->input->parent);
    r->filter = r->plan->filter;
    r->told_tools = r->plan->told_tools;
    if (before) {
        e.body.tools.tools = r->tools;
        run_emit(r, EVENT_TOOLS_CHANGED, &e);
    }
    if (before)
        count_head(r);
    else
        count_first_head(r);
    tool_set_unref(before);
}

const struct run_plan *run_plan_ref(const struct run_plan *p)
{
    if (p->free)
        ((struct run_plan *)p)->n_refs++;
    return p;
}

void run_plan_unref(const struct run_plan *p)
{
    if (p && p->free && --((struct run_plan *)p)->n_refs == 0)
        p->free((struct run_plan *)p);
}

enum permission_mode run_plan_mode(const struct run_plan *p)
{
    return p->mode ? *p->mode : MODE_PLAN;
}

/* Targets, mode and tools may have been changed since the last round. The plan before lives until
 * the new one has been compared with what was made of it. */
void run_refresh_plan(struct run *r)
{
    const struct run_plan *plan = run_plan_ref(r->kit->plan(r->kit->plan_self));
    const struct run_plan *before = r->plan;

    r->plan = plan;
    if (plan->note.p != r->told_note) {
        r->told_note = plan->note.p;
        run_notice(r, SEVERITY_VERBOSE, PLAN_NOTE_SOURCE, plan->note);
    }
    if (r->chain.targets != plan->targets || r->chain.n_targets != plan->n_targets) {
        chain_init(&r->chain, plan->targets, plan->n_targets, r->policy->default_attempts,
                   r->random);
        r->told_unfit = 0;
        if (r->kit->retry_max_ms)
            r->chain.max_wait_ms = r->kit->retry_max_ms;
    }
    refresh_tools(r);
    if (r->counted_system.p != plan->system.p || r->counted_system.n != plan->system.n)
        count_head(r);
    run_plan_unref(before);
}

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

/* --- may it be asked? --- */

/* Nothing is sent that cannot fit; a message tells why. A target of the chain with a larger window
 * is asked instead of the first. */
static struct err *guard_context(struct run *r)
{
    struct token_estimate estimate = run_estimate(r);
    int64_t window = target_window(&r->plan->targets[0]);
    AUTO(strbuf) struct strbuf text = {0};

    for (size_t i = 0; i < r->plan->n_targets; i++)
        if (run_fits(r, &r->plan->targets[i], estimate.used))
            return NULL;
    run_emit_context(r);
    ledger_explain_guard(&estimate, window, r->conversation->history.n_messages == 1, &text);
    return err_new(ERR_CONTEXT_OVERFLOW, "%s", strbuf_cstr(&text));
}

static bool needs_reserve(struct run *r)
{
    const struct target *first = &r->plan->targets[0];

    return r->policy->reserve_per_mille &&
           run_estimate(r).used >
               target_window(first) - ledger_reserve(target_window(first), first->max_output,
                                                     (int)r->policy->reserve_per_mille);
}

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

/* Why the next turn is the last one; FINAL_NONE: it is not. */
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
    } else if (!r->must_finish && needs_reserve(r)) {
        *ret_reason = FINAL_TOKEN_LIMIT;
    }
    return NULL;
}

/* --- the rounds --- */

/* A hook may find that the work is not done: the turn then goes on, with its reason. */
static struct err *go_on(struct run *r, struct str reason)
{
    AUTO(message) struct message *m = run_new_message(r, ROLE_USER);

    message_add_text(m, reason);
    TRY(message_check(m, "the reason of a Stop hook"));
    run_append(r, m);
    return NULL;
}

/* The result has its text: is the turn over with it? */
static struct err *end_turn(struct run *r, bool *ret_is_over)
{
    struct str reason;

    TRY(hook_stop(r, r->result->text, &reason));
    *ret_is_over = reason.n == 0;
    return reason.n ? go_on(r, reason) : NULL;
}

/* A call of the last batch may have given the answer. */
static struct err *take_call_answer(struct run *r, bool *ret_is_over)
{
    bool goes_on = false;

    r->result->text = arena_str(&r->result->arena, r->call_answer);
    r->result->is_given = true;
    r->call_answer = (struct str){0};
    TRY(unfinished_fit(r, &goes_on));
    *ret_is_over = !goes_on;
    return goes_on ? NULL : end_turn(r, ret_is_over);
}

static struct err *take_answer(struct run *r, const struct message *answer, bool *ret_is_over)
{
    AUTO(strbuf) struct strbuf text = {0};
    bool goes_on;

    strbuf_add(&text, strbuf_str(&r->continued));
    message_text(answer, &text);
    r->result->is_given = false;
    r->result->text = arena_str(&r->result->arena, strbuf_str(&text));
    strbuf_done(&text);
    TRY(unfinished_check(r, answer, &goes_on));
    *ret_is_over = !goes_on;
    if (goes_on)
        return NULL;
    unfinished_reset(r);
    TRY(news_await(r, /* may_ask= */ true, &goes_on));
    *ret_is_over = !goes_on;
    return goes_on ? NULL : end_turn(r, ret_is_over);
}

/* A provider has found the request too long: what it was asked about is made shorter, once. */
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

static struct err *ask_and_act(struct run *r, bool *ret_is_over)
{
    AUTO(err) struct err *e = NULL;
    const struct message *answer;
    enum final_reason reason;
    bool is_shorter, goes_on;

    TRY(task_check());
    run_refresh_plan(r);
    *ret_is_over = true;
    TRY(find_end(r, &reason));
    news_tell(r);
    TRY(guard_context(r));
    if (reason != FINAL_NONE) {
        TRY(final_turn(r, reason));
        return news_await(r, /* may_ask= */ false, &goes_on);
    }

    r->place.round++;
    r->result->n_rounds++;
    run_emit_context(r);
    e = ask_model(r, NULL, &answer);
    run_emit_context(r);
    if (err_is(e, ERR_CONTEXT_OVERFLOW)) {
        TRY(make_room(r, &is_shorter));
        *ret_is_over = !is_shorter;
        return is_shorter ? NULL : TAKE(e);
    }
    if (e) /* calls of an answer that is not whole are not run: the run's end closes them */
        return TAKE(e);
    r->has_made_room = false;
    if (message_n_calls(answer) == 0 && r->stop != STOP_PAUSED)
        return take_answer(r, answer, ret_is_over);
    unfinished_reset(r);
    TRY(batch_run(r, answer));
    *ret_is_over = r->result->n_asks > 0;
    if (!*ret_is_over && r->call_answer.n)
        return take_call_answer(r, ret_is_over);
    return *ret_is_over ? NULL : run_compact(r);
}

/* One round; *ret_is_over when there is nothing left to ask. */
static struct err *run_round(struct run *r, bool *ret_is_over)
{
    struct err *e = ask_and_act(r, ret_is_over);

    early_end(r, e ? e->kind : ERR_CANCELLED);
    launcher_rest(r->kit->launcher);
    return e;
}

/* --- going on --- */

/* What an earlier run left open comes first: calls that were suspended, or that a crash cut off. */
static struct err *close_open_calls(struct run *r)
{
    const struct message *open = open_calls_find(&r->conversation->history);

    if (!open)
        return NULL;
    run_refresh_plan(r);
    return batch_run(r, open);
}

/* The answer that the history ends with: it had come whole, and only the end of its run had not. */
static const struct message *find_answer(const struct history *h)
{
    const struct message *m = h->n_messages ? h->messages[h->n_messages - 1] : NULL;
    bool is_answer = m && m->role == ROLE_ASSISTANT && m->state == MESSAGE_COMPLETE;

    return is_answer && m->n_parts && !m->is_error && message_n_calls(m) == 0 &&
                   m->stop != STOP_PAUSED
               ? m
               : NULL;
}

static struct err *go_on_from_history(struct run *r, bool *ret_is_over)
{
    const struct message *answer;

    TRY(close_open_calls(r));
    *ret_is_over = r->result->n_asks > 0;
    if (!*ret_is_over && r->call_answer.n)
        return take_call_answer(r, ret_is_over);
    unfinished_resume(r);
    answer = find_answer(&r->conversation->history);
    if (!answer)
        return *ret_is_over ? NULL : run_compact(r); /* it may have died over that */
    /* Ordinary ends have no name in a record, and what they were was reported when they came. */
    r->stop = answer->stop == STOP_UNKNOWN ? STOP_END : answer->stop;
    r->stop_detail = (struct str){0};
    return take_answer(r, answer, ret_is_over);
}

static struct err *run_rounds(struct run *r)
{
    bool is_over = false;

    if (!r->input->prompt)
        TRY(go_on_from_history(r, &is_over));
    while (!is_over)
        TRY(run_round(r, &is_over));
    return NULL;
}

struct err *turn_run(struct run *r)
{
    struct err *e = run_rounds(r);

    launcher_rest(r->kit->launcher); /* the last round may have run commands */
    return e;
}
