/* decide.c - step 7: the lists in their order, then the mode. */
#include "gate/gate.h"

#include "gate/command.h"
#include "gate/path.h"
#include "gate/prepared.h"
#include "gate/rulebook.h"
#include "gate/typed.h"

/* --- the mode's table --- */

static const struct cell {
    enum decision decision;
    struct str name;
} table[4][N_RISKS] = {
#define ROW(mode, unclassified, modify, execute, network)                                          \
    {                                                                                              \
        [RISK_UNCLASSIFIED] = {unclassified, S("mode:" mode "/unclassified")},                     \
        [RISK_INSPECT] = {DECISION_AUTO, S("mode:" mode "/inspect")},                              \
        [RISK_MODIFY] = {modify, S("mode:" mode "/modify")},                                       \
        [RISK_EXECUTE] = {execute, S("mode:" mode "/execute")},                                    \
        [RISK_NETWORK] = {network, S("mode:" mode "/network")},                                    \
    }
    [MODE_PLAN] = ROW("plan", DECISION_DENY, DECISION_DENY, DECISION_DENY, DECISION_APPROVE),
    [MODE_DEFAULT] =
        ROW("default", DECISION_APPROVE, DECISION_APPROVE, DECISION_APPROVE, DECISION_APPROVE),
    [MODE_ACCEPT_EDITS] =
        ROW("acceptEdits", DECISION_APPROVE, DECISION_AUTO, DECISION_APPROVE, DECISION_APPROVE),
    [MODE_BYPASS] =
        ROW("bypassPermissions", DECISION_AUTO, DECISION_AUTO, DECISION_AUTO, DECISION_AUTO),
#undef ROW
};

enum decision permission_mode_decide(enum permission_mode mode, enum risk risk)
{
    return table[mode][risk].decision;
}

struct str permission_mode_cell(enum permission_mode mode, enum risk risk)
{
    return table[mode][risk].name;
}

struct str permission_outside_cell(enum permission_mode mode)
{
    static const struct str names[] = {
        [MODE_PLAN] = S("mode:plan/outside"),
        [MODE_DEFAULT] = S("mode:default/outside"),
        [MODE_ACCEPT_EDITS] = S("mode:acceptEdits/outside"),
        [MODE_BYPASS] = S("mode:bypassPermissions/outside"),
    };
    return names[mode];
}

const char *decision_name(enum decision d)
{
    static const char *const names[] = {"auto", "approve", "deny"};
    return names[d];
}

/* --- lists of rules --- */

/* The first pattern that matches; otherwise the first that is unclear. */
static enum match find_rule(const struct rule_list *rules, const struct subject *s,
                            enum reading reading, struct str *ret_rule)
{
    enum match best = MATCH_NO;

    for (size_t i = 0; best != MATCH_YES && i < rules->n; i++) {
        enum match m = pattern_match(&rules->patterns[i], s, reading);

        if (m == MATCH_YES || (m == MATCH_UNCLEAR && best == MATCH_NO)) {
            best = m;
            *ret_rule = rules->patterns[i].text;
        }
    }
    return best;
}

/* Patterns that the person allowed in this session. */
static bool next_remembered(const struct subject *s, size_t *at, struct pattern *ret_pattern)
{
    struct state_entry x;

    if (!tool_state_next(s->state, STATE_ALLOWED, at, &x))
        return false;
    *ret_pattern = pattern_read(x.name);
    return true;
}

static bool is_remembered(const struct subject *s, struct str *ret_rule)
{
    struct pattern p;
    size_t at = 0;

    while (next_remembered(s, &at, &p))
        if (pattern_match(&p, s, READ_NARROWLY) == MATCH_YES) {
            *ret_rule = p.text;
            return true;
        }
    return false;
}

/* --- lines of several commands --- */

static struct decided decide(const struct rulebook *rules, enum permission_mode mode,
                             const struct subject *s, const struct place *place);

/* Decides as if a tool of this name changed the file. */
static struct decided decide_write(const struct rulebook *rules, enum permission_mode mode,
                                   const char *tool_name, const struct subject *s,
                                   const struct place *place)
{
    struct tool tool = {.name = tool_name, .risk = RISK_MODIFY, .permission_arg = "file_path"};
    struct subject write = {.tool = &tool,
                            .state = s->state,
                            .environment = s->environment,
                            .prepared = s->prepared,
                            .bases = s->bases};

    return decide(rules, mode, &write, place);
}

/* A redirection is a Write or an Edit of its file: a decision about either applies to it. */
static bool may_write(const struct rulebook *rules, enum permission_mode mode,
                      const struct subject *s, const struct place *place)
{
    struct decided w = decide_write(rules, mode, "Write", s, place);
    struct decided e = decide_write(rules, mode, "Edit", s, place);
    bool is_asked = w.by == DECIDED_BY_ASK || w.by == DECIDED_BY_UNCLEAR_DENY ||
                    e.by == DECIDED_BY_ASK || e.by == DECIDED_BY_UNCLEAR_DENY;

    if (is_asked || w.by == DECIDED_BY_DENY || e.by == DECIDED_BY_DENY)
        return false;
    return w.decision == DECISION_AUTO || e.decision == DECISION_AUTO;
}

static bool may_write_all(const struct rulebook *rules, enum permission_mode mode,
                          const struct subject *s, struct arena *a)
{
    struct command_file file;
    size_t at = 0;

    while (command_next_file(s, a, &at, &file))
        if (file.writes && !file.is_inner &&
            (!file.place.given || !may_write(rules, mode, s, &file.place)))
            return false;
    return true;
}

/* A rule allows each command of the line, and each file that it writes. */
static bool is_allowed_in_parts(const struct rulebook *rules, enum permission_mode mode,
                                const struct subject *s, struct str *ret_rule)
{
    AUTO(arena) struct arena a = {0};
    struct command_cover cover;
    const struct rule_list *allowed = &rules->lists[RULE_ALLOW];
    struct pattern remembered;
    size_t at = 0;

    if (!s->command || !command_cover_init(&cover, s->command, &a))
        return false;
    for (size_t i = 0; i < allowed->n; i++)
        if (pattern_cover(&allowed->patterns[i], s, &cover))
            *ret_rule = allowed->patterns[i].text;
    while (next_remembered(s, &at, &remembered))
        if (pattern_cover(&remembered, s, &cover))
            *ret_rule = remembered.text;
    return cover.n_left == 0 && may_write_all(rules, mode, s, &a);
}

/* --- rules that allow --- */

static bool is_allowed_as_named(const struct rulebook *rules, enum permission_mode mode,
                                const struct subject *s, struct str *ret_rule)
{
    return find_rule(&rules->lists[RULE_ALLOW], s, READ_NARROWLY, ret_rule) == MATCH_YES ||
           is_remembered(s, ret_rule) || is_allowed_in_parts(rules, mode, s, ret_rule);
}

static bool has_name(const struct names *names, const char *path)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->paths[i], path) == 0)
            return true;
    return false;
}

/* A link from outside into the workspace is no more than its target. */
static bool leads_in(const struct subject *s, const struct names *given, const struct place *place)
{
    const char *workspace = s->prepared ? s->prepared->workspace : tool_state_workspace(s->state);

    for (size_t i = 0; i < given->n; i++)
        if (place_is_in(given->paths[i], workspace))
            return false;
    return place_is_in(place->real, workspace);
}

/* The target of a path must be allowed, and so must the path as given if that is another place. */
static bool is_allowed(const struct rulebook *rules, enum permission_mode mode,
                       const struct subject *s, const struct place *place, struct str *ret_rule)
{
    AUTO(arena) struct arena a = {0};
    struct subject named = *s;
    struct names given, real;
    struct str rule;

    if (!place->given)
        return is_allowed_as_named(rules, mode, s, ret_rule);
    if (!place->real)
        return false;
    given = prepared_own_names(s->prepared, place->given, &a);
    real = prepared_own_names(s->prepared, place->real, &a);
    named.names = &real;
    if (!is_allowed_as_named(rules, mode, &named, ret_rule))
        return false;
    named.names = &given;
    return has_name(&given, place->real) || leads_in(s, &given, place) ||
           is_allowed_as_named(rules, mode, &named, &rule);
}

/* --- programs that can start any other program --- */

/* A rule denies some commands, and either the commands of this line are partly unseen, or an
 * unknown program gets such a command as its arguments. */
static bool is_in_doubt(const struct rulebook *rules, const struct subject *s, struct str *ret_rule)
{
    const struct rule_list *deny = &rules->lists[RULE_DENY];

    for (size_t i = 0; s->command && i < deny->n; i++)
        if (!deny->patterns[i].is_broken && !pattern_takes_any(&deny->patterns[i]) &&
            str_is(deny->patterns[i].tool, s->tool->name) &&
            (s->command->split.starts_unseen ||
             command_may_pass_on(deny->patterns[i].argument, s->command))) {
            *ret_rule = deny->patterns[i].text;
            return true;
        }
    return false;
}

/* Does a rule name the program, or this very line? Its author knows what it can do. A rule for all
 * commands says nothing about this one. */
static bool is_allowed_by_name(const struct rulebook *rules, enum permission_mode mode,
                               const struct subject *s, const struct place *place)
{
    AUTO(arena) struct arena a = {0};
    const struct rule_list *all = &rules->lists[RULE_ALLOW];
    struct rulebook named = *rules;
    struct rule_list *list = &named.lists[RULE_ALLOW];
    struct str rule;

    list->patterns = ARENA_ARRAY(&a, all->n, struct pattern);
    list->n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (!pattern_takes_any(&all->patterns[i]))
            list->patterns[list->n++] = all->patterns[i];
    return is_allowed(&named, mode, s, place, &rule);
}

/* --- commands in a sandbox --- */

static bool is_look(const struct rulebook *rules, const struct subject *s)
{
    return rules->looks_freely && s->tool->risk == RISK_EXECUTE && s->prepared &&
           s->prepared->looks_freely;
}

/* It replaces a question, not a denial. */
static bool runs_freely(const struct rulebook *rules, enum permission_mode mode,
                        const struct subject *s)
{
    return rules->commands_run_freely && s->command && s->tool->risk == RISK_EXECUTE &&
           permission_mode_decide(mode, RISK_EXECUTE) == DECISION_APPROVE;
}

/* --- requests --- */

static bool is_typed_host(const struct subject *s, struct str *ret_key)
{
    if (s->tool->risk != RISK_NETWORK || !str_is(str_of(s->tool->permission_arg), "url"))
        return false;
    *ret_key = typed_host_of(s->state, json_get_text(s->args, "url"));
    return ret_key->n > 0;
}

/* --- reading outside --- */

/* Does a rule for Read, or for this tool, name the place? A rule about search patterns says nothing
 * about places. */
static bool names_place(const struct pattern *p, const struct subject *s)
{
    bool is_own = str_is(p->tool, s->tool->name);

    if (p->is_broken || (!is_own && !str_is(p->tool, "Read")))
        return false;
    if (pattern_takes_any(p))
        return true;
    return (!is_own || subject_takes_path(s)) && path_match_dir(p->argument, s) == MATCH_YES;
}

/* Named by a rule, by an answer in this session, or in the person's prompt. */
static bool is_named_place(const struct rulebook *rules, const struct subject *s,
                           const struct place *place, struct decided *d)
{
    AUTO(arena) struct arena a = {0};
    const struct rule_list *allow = &rules->lists[RULE_ALLOW];
    struct names names = prepared_own_names(s->prepared, place->real, &a);
    struct subject named = *s;
    struct pattern remembered;
    size_t at = 0;

    named.names = &names;
    d->by = DECIDED_BY_ALLOW;
    for (size_t i = 0; i < allow->n; i++)
        if (names_place(&allow->patterns[i], &named)) {
            d->rule = allow->patterns[i].text;
            return true;
        }
    while (next_remembered(s, &at, &remembered))
        if (names_place(&remembered, &named)) {
            d->rule = remembered.text;
            return true;
        }
    d->by = DECIDED_BY_PERSON;
    d->rule = typed_path_of(s->state, place->real);
    return d->rule.n > 0;
}

/* Tools that only look need no question where everything may be seen. */
static bool decide_outside(const struct rulebook *rules, enum permission_mode mode,
                           const struct subject *s, struct decided *ret_decided)
{
    struct decided d = {.decision = DECISION_AUTO};
    const struct place *places[] = {&s->prepared->path, &s->prepared->search_root,
                                    &s->prepared->searched};
    bool is_outside = false;

    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        if (!places[i]->real || places[i]->reach != REACH_OUTSIDE)
            continue;
        is_outside = true;
        if (is_named_place(rules, s, places[i], &d))
            continue;
        *ret_decided = (struct decided){.decision = DECISION_APPROVE,
                                        .by = DECIDED_BY_MODE,
                                        .rule = permission_outside_cell(mode),
                                        .outside = places[i]};
        return true;
    }
    *ret_decided = d;
    return is_outside;
}

/* --- the step --- */

static struct decided decide(const struct rulebook *rules, enum permission_mode mode,
                             const struct subject *s, const struct place *place)
{
    AUTO(arena) struct arena a = {0};
    struct names names = prepared_wide_names(s->prepared, place, &a);
    struct subject named = *s, own = *s;
    struct decided outside;
    struct str rule = {0};
    enum match denied;

    named.names = names.n ? &names : NULL;
    denied = find_rule(&rules->lists[RULE_DENY], &named, READ_WIDELY, &rule);
    if (denied == MATCH_YES)
        return (struct decided){DECISION_DENY, DECIDED_BY_DENY, rule};
    if (denied == MATCH_UNCLEAR)
        return (struct decided){mode == MODE_PLAN ? DECISION_DENY : DECISION_APPROVE,
                                DECIDED_BY_UNCLEAR_DENY, rule};
    if (find_rule(&rules->lists[RULE_ASK], &named, READ_WIDELY, &rule) != MATCH_NO)
        return (struct decided){DECISION_APPROVE, DECIDED_BY_ASK, rule};
    if (is_in_doubt(rules, s, &rule) && !is_allowed_by_name(rules, mode, &own, place))
        return (struct decided){.decision = mode == MODE_PLAN ? DECISION_DENY : DECISION_APPROVE,
                                .by = DECIDED_BY_UNCLEAR_DENY,
                                .rule = rule,
                                .starts_others = true};
    if (s->tool->risk == RISK_INSPECT && mode != MODE_BYPASS && s->prepared &&
        decide_outside(rules, mode, &own, &outside))
        return outside;
    if (is_allowed(rules, mode, &own, place, &rule))
        return (struct decided){DECISION_AUTO, DECIDED_BY_ALLOW, rule};
    if (is_look(rules, s))
        return (struct decided){DECISION_AUTO, DECIDED_BY_LOOKING, S(RULE_LOOKING)};
    if (runs_freely(rules, mode, s))
        return (struct decided){DECISION_AUTO, DECIDED_BY_SANDBOXED, S(RULE_SANDBOXED)};
    if (is_typed_host(&own, &rule))
        return (struct decided){DECISION_AUTO, DECIDED_BY_PERSON, rule};
    if (mode == MODE_ACCEPT_EDITS && s->tool->risk == RISK_MODIFY && place->guarded)
        return (struct decided){.decision = DECISION_APPROVE,
                                .by = DECIDED_BY_MODE,
                                .rule = S("mode:acceptEdits/obeyed"),
                                .obeyed = place->guarded};
    return (struct decided){permission_mode_decide(mode, s->tool->risk), DECIDED_BY_MODE,
                            permission_mode_cell(mode, s->tool->risk)};
}

struct decided permission_decide(const struct rulebook *rules, enum permission_mode mode,
                                 const struct tool *tool, const struct json *args,
                                 const struct tool_state *state, const struct prepared *prepared)
{
    AUTO(arena) struct arena a = {0};
    struct subject s = {.tool = tool,
                        .args = args,
                        .state = state,
                        .environment = rules->environment,
                        .prepared = prepared,
                        .other_shell = rules->other_shell};
    struct path_bases bases = path_bases_of(&s);
    struct place place;

    s.bases = &bases;
    subject_split_command(&s, &a);
    place = prepared ? prepared->path : place_unseen(subject_path(&s, &a));
    return decide(rules, mode, &s, &place);
}

static bool asks_by_itself(const struct decided *d)
{
    return d->by == DECIDED_BY_ASK || d->by == DECIDED_BY_UNCLEAR_DENY;
}

struct decided permission_decide_hooked(struct decided d, enum hook_permission hook,
                                        struct str reason)
{
    struct decided by_hook = {.by = DECIDED_BY_HOOK, .rule = S("hook:PreToolUse"), .said = reason};

    if (d.decision == DECISION_DENY || asks_by_itself(&d))
        return d;
    switch (hook) {
    case HOOK_ASK:
        by_hook.decision = DECISION_APPROVE;
        return by_hook;
    case HOOK_ALLOW:
        by_hook.decision = DECISION_AUTO;
        return d.decision == DECISION_APPROVE ? by_hook : d;
    case HOOK_DENY: /* it has ended the walk before */
    case HOOK_NO_OPINION:
        break;
    }
    return d;
}
