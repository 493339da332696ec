/* account.c - what an attempt took, in the run's result. */
#include "engine/run_state.h"

static void add_usage(int64_t *total, int64_t n)
{
    if (n >= 0)
        *total = MAX(*total, (int64_t)0) + n;
}

static void add_up(struct run_result *x, const struct usage *u, int64_t cost_microcents)
{
    add_usage(&x->usage.input, usage_fresh_input(u));
    add_usage(&x->usage.output, usage_completion(u));
    add_usage(&x->usage.cache_read, u->cache_read);
    add_usage(&x->usage.cache_write, u->cache_write);
    add_usage(&x->usage.reasoning, u->reasoning);
    add_usage(&x->usage.web_searches, u->web_searches);
    add_usage(&x->cost_microcents, cost_microcents);
}

static void add_entry(struct run *r, const struct attempt *attempt)
{
    struct arena *arena = &r->result->arena;
    struct accounting_entry *x = run_account(r);

    x->type = ACCOUNT_LLM;
    x->is_ok = !attempt->error;
    x->duration_ms = attempt->duration_ms;
    x->provider = arena_str(arena, attempt->target->provider->id);
    x->model = arena_str(arena, attempt->target->model);
    x->usage = attempt->reply->usage;
    x->usage.routed_provider = arena_str(arena, x->usage.routed_provider);
    x->usage.routed_model = arena_str(arena, x->usage.routed_model);
    x->cost_microcents = attempt->cost_microcents;
    if (attempt->error) {
        AUTO_FREE char *text = err_message(attempt->error);

        x->error = arena_str(arena, str_of(text));
    }
}

/* Money that keel has counted itself is not known. */
static bool is_cost_known(const struct settlement *s)
{
    return !usage_is_known(&s->usage) || s->microcents == 0 ||
           (s->microcents > 0 && !s->is_estimated);
}

void account_attempt(struct run *r, const struct attempt *attempt, const struct settlement *s)
{
    r->result->n_attempts++;
    r->result->api_duration_ms += attempt->duration_ms;
    r->result->cost_is_known &= is_cost_known(s);
    add_up(r->result, &attempt->reply->usage, attempt->cost_microcents);
    for (struct run *up = r; up; up = up->options->parent)
        up->total_microcents += MAX(attempt->cost_microcents, (int64_t)0);
    add_entry(r, attempt);
}
