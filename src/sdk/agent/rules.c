/* rules.c - what an agent may do, and what it writes down of a person's answers. */
#include "sdk/agent/parts.h"

#include "config/project_rules.h"
#include "sys/work.h"
#include "tool/names.h"

/* What is forbidden altogether need not be shown either. */
static struct err *choose_tools(struct agent *a, const struct agent_options *options)
{
    struct plan_words *words = plan_words_new();
    struct texts names = {0};

    agent_plan_set_words(a->plan, words);
    for (size_t i = 0; i < options->n_tools; i++) {
        TRY(tool_name_check("--tools", str_of(options->tools[i])));
        texts_add(&names, &words->arena, arena_str(&words->arena, str_of(options->tools[i])));
    }
    a->names_tools = options->names_tools || options->tools;
    words->filter = (struct tool_filter){.allow = names.items,
                                         .n_allow = names.n,
                                         .allows_all = !options->tools,
                                         .deny = a->base->denied_tools,
                                         .n_deny = a->base->n_denied_tools};
    a->plan->plan.filter = words->filter;
    return NULL;
}

/* --- answers that hold for the project --- */

struct keeping {
    struct arena arena;
    const struct project_place *place;
    struct str rule;
    struct kept_rule kept;
};

static struct err *keep_in_file(void *arg)
{
    struct keeping *k = arg;

    return project_rules_allow(&k->arena, k->place, k->rule, &k->kept);
}

static void tell_unused(struct agent *a, struct keeping *k)
{
    agent_notice(
        a, SEVERITY_WARNING, "permissions",
        arena_format(
            &k->arena,
            "%" STR_FMT
            ": the rule is saved, but has no effect until you trust this project: keel trust",
            STR_ARG(k->kept.file)));
}

static struct err *keep(void *self, struct str rule)
{
    struct agent *a = self;
    struct keeping k = {.place = &a->project->place, .rule = rule};
    struct err *e = work_run(keep_in_file, &k);

    if (!e && !k.kept.is_used)
        tell_unused(a, &k);
    arena_done(&k.arena);
    return e;
}

struct err *agent_allow(struct agent *a, struct str pattern, bool is_to_last)
{
    tool_state_set_flag(a->session.conversation.state, STATE_ALLOWED, pattern);
    return is_to_last ? keep(a, pattern) : NULL;
}

struct err *agent_set_rules(struct agent *a, const struct agent_options *options)
{
    struct err *e = agent_base_get(a->project, options, &a->base, &a->mode);
    const struct rule_set *set = &a->base->rules;

    for (size_t i = 0; i < set->n_warnings; i++)
        agent_notice(a, SEVERITY_WARNING, "permissions", set->warnings[i]);
    TRY(e);
    TRY(choose_tools(a, options));
    a->plan->plan.tools = a->base->tools;
    a->plan->plan.mode = &a->mode;
    a->retry_max_ms = options->retry_max_ms ? options->retry_max_ms : a->base->limits.retry_max_ms;
    permission_gate_init(&a->gate, &set->gate_rules);
    a->gate.policy = set->policy;
    a->gate.keeper = (struct rule_keeper){keep, a};
    return NULL;
}
