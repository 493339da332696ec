/* plan.c - the plan of a round: whom to ask and with what, read anew before each round.
 *
 * Targets, tools and mode may change while a run waits. What was made of the plan before (the
 * chain, the set of tools, the size of what every request begins with) stays as long as it is about
 * the same. */
#include "engine/run_state.h"

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
