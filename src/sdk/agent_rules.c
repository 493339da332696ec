/* agent_rules.c - what an agent may do, and what it writes down of a person's answers. */
#include "sdk/agent_parts.h"

#include "config/project_rules.h"
#include "sdk/rule_set.h"
#include "sys/work.h"
#include "tool/names.h"

/* What is forbidden altogether need not be shown either. */
static void hide_denied(struct agent *a, const struct permission_rules *rules)
{
    struct texts bare = {0};

    for (size_t i = 0; i < rules->n_deny; i++)
        if (str_find_char(rules->deny[i], '(') == STR_NONE)
            texts_add(&bare, &a->arena, rules->deny[i]);
    a->plan.filter.deny = bare.items;
    a->plan.filter.n_deny = bare.n;
}

static struct err *show_only(struct agent *a, const struct agent_options *options)
{
    struct texts names = {0};

    for (size_t i = 0; i < options->n_tools; i++) {
        TRY(tool_name_check("--tools", str_of(options->tools[i])));
        texts_add(&names, &a->arena, arena_str(&a->arena, str_of(options->tools[i])));
    }
    a->names_tools = options->names_tools || options->tools;
    a->plan.filter.allows_all = !options->tools;
    a->plan.filter.allow = names.items;
    a->plan.filter.n_allow = names.n;
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
    struct rule_set set = {0};
    struct err *e = rule_set_init(&set, &a->arena, a->project, options);

    for (size_t i = 0; i < set.n_warnings; i++)
        agent_notice(a, SEVERITY_WARNING, "permissions", set.warnings[i]);
    TRY(e);
    hide_denied(a, &set.gate_rules);
    TRY(show_only(a, options));
    a->mode = set.mode;
    a->plan.mode = &a->mode;
    a->tool_config.added_dirs = set.added_dirs;
    a->tool_config.n_added_dirs = set.n_added_dirs;
    a->tool_config.shell = str_of(set.shell);
    permission_gate_init(&a->gate, &set.gate_rules);
    a->gate.policy = set.policy;
    a->gate.keeper = (struct rule_keeper){keep, a};
    return NULL;
}
