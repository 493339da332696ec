/* window.c - how full the model's context window is. */
#include "engine/run_state.h"

int64_t target_window(const struct target *t)
{
    if (t->window)
        return t->window;
    return t->info && t->info->context_window ? model_max_prompt(t->info)
                                              : MODEL_DEFAULT_CONTEXT_WINDOW;
}

struct token_estimate run_estimate(struct run *r)
{
    return ledger_estimate_history(&r->conversation->history, r->head_tokens,
                                   r->kit->context_floor);
}

int64_t plan_head_tokens(const struct run_plan *plan, const struct tool_set *tools)
{
    AUTO(arena) struct arena a = {0};
    const struct tool_def **defs = ARENA_ARRAY(&a, tools->n, const struct tool_def *);

    for (size_t i = 0; i < tools->n; i++)
        defs[i] = &tools->entries[i].def;
    return ledger_head_tokens(plan->system, defs, tools->n);
}

struct token_estimate conversation_context(struct conversation *c, const struct run_kit *kit,
                                           int64_t *ret_window)
{
    const struct run_plan *plan = kit->plan(kit->plan_self);
    AUTO(tool_set) struct tool_set *tools = run_tools(kit, plan, NULL);

    *ret_window = target_window(&plan->targets[0]);
    return ledger_estimate_history(&c->history, plan_head_tokens(plan, tools), kit->context_floor);
}

int64_t run_head_tokens(const struct run *r)
{
    return r->head_tokens;
}

bool run_fits(const struct run *r, const struct target *t, int64_t n_tokens)
{
    return !ledger_is_over(n_tokens, target_window(t), LEDGER_GUARD_PER_MILLE);
}

struct token_estimate run_context(struct run *r, int64_t *ret_window)
{
    *ret_window = target_window(&r->plan->targets[0]);
    return run_estimate(r);
}

int run_compact_per_mille(const struct run *r)
{
    return r->plan->targets[0].compact_per_mille;
}

void run_emit_context(struct run *r)
{
    struct token_estimate estimate = run_estimate(r);
    struct event e = {.body.context = {.used = estimate.used,
                                       .window = target_window(&r->plan->targets[0]),
                                       .serialized = estimate.serialized,
                                       .counted = estimate.counted,
                                       .is_exact = estimate.is_exact}};

    run_emit(r, EVENT_CONTEXT, &e);
}

/* --- may it be asked? --- */

struct err *window_check(struct run *r)
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

bool window_needs_reserve(struct run *r)
{
    const struct target *first = &r->plan->targets[0];

    return r->policy->reserve_per_mille &&
           run_estimate(r).used >
               target_window(first) - ledger_reserve(target_window(first), first->max_output,
                                                     (int)r->policy->reserve_per_mille);
}
