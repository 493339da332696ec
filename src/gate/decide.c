/* decide.c - step 7: the lists in their order, then the mode. */
#include "gate/gate.h"

#include "gate/path.h"
#include "gate/pattern.h"

#define REMEMBERED S("allow:")

/* The first pattern that matches; else the first that is unclear. */
static enum match find_rule(const struct str *patterns, size_t n, const struct subject *s,
                            enum reading reading, struct str *ret_rule)
{
    enum match best = MATCH_NO;

    for (size_t i = 0; i < n && best != MATCH_YES; i++) {
        enum match m = pattern_match(patterns[i], s, reading);

        if (m == MATCH_YES || (m == MATCH_UNCLEAR && best == MATCH_NO)) {
            best = m;
            *ret_rule = patterns[i];
        }
    }
    return best;
}

static bool is_remembered(const struct subject *s, struct str *ret_rule)
{
    const struct json *value;
    struct str key;
    size_t at = 0;

    while (tool_session_next(s->session, REMEMBERED, &at, &key, &value)) {
        struct str pattern = str_skip(key, REMEMBERED.n);

        if (pattern_match(pattern, s, READ_NARROWLY) == MATCH_YES) {
            *ret_rule = pattern;
            return true;
        }
    }
    return false;
}

struct decided permission_decide(const struct permission_rules *rules, enum permission_mode mode,
                                 const struct tool *tool, const struct json *args,
                                 const struct tool_session *session)
{
    struct subject s = {
        .tool = tool, .args = args, .session = session, .environment = rules->environment};
    struct str rule = {0};
    enum match denied = find_rule(rules->deny, rules->n_deny, &s, READ_WIDELY, &rule);

    if (denied == MATCH_YES)
        return (struct decided){DECISION_DENY, DECIDED_BY_DENY, rule};
    if (denied == MATCH_UNCLEAR)
        return (struct decided){mode == MODE_PLAN ? DECISION_DENY : DECISION_APPROVE,
                                DECIDED_BY_UNCLEAR_DENY, rule};
    if (find_rule(rules->ask, rules->n_ask, &s, READ_WIDELY, &rule) != MATCH_NO)
        return (struct decided){DECISION_APPROVE, DECIDED_BY_ASK, rule};
    if (find_rule(rules->allow, rules->n_allow, &s, READ_NARROWLY, &rule) == MATCH_YES ||
        is_remembered(&s, &rule))
        return (struct decided){DECISION_AUTO, DECIDED_BY_ALLOW, rule};
    return (struct decided){permission_mode_decide(mode, tool->risk), DECIDED_BY_MODE,
                            permission_mode_cell(mode, tool->risk)};
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
