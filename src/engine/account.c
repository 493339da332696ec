/* account.c - what an attempt took, in the run's result. */
#include "engine/run_state.h"

static void add_usage(int64_t *total, int64_t n)
{
    if (n >= 0)
        *total = MAX(*total, (int64_t)0) + n;
}

static void add_up(struct usage *total, const struct usage *u)
{
    add_usage(&total->input, usage_fresh_input(u));
    add_usage(&total->output, usage_completion(u));
    add_usage(&total->cache_read, u->cache_read);
    add_usage(&total->cache_write, u->cache_write);
    add_usage(&total->reasoning, u->reasoning);
    add_usage(&total->web_searches, u->web_searches);
    add_usage(&total->upstream_microcents, u->upstream_microcents);
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
    add_up(&r->result->usage, &attempt->reply->usage);
    add_usage(&r->result->cost_microcents, attempt->cost_microcents);
    for (struct run *up = r; up; up = up->input->parent)
        up->total_microcents += MAX(attempt->cost_microcents, (int64_t)0);
    add_entry(r, attempt);
}

void account_child(struct run *r, const struct run_result *x)
{
    struct run_result *own = r->result;

    add_up(&own->child_usage, &x->usage);
    add_up(&own->child_usage, &x->child_usage);
    own->child_microcents += run_result_microcents(x);
    own->child_cost_is_unknown |= !run_result_cost_is_known(x);
}
