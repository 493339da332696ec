/* judge.c - what would become of a call, for those who ask before there is one. */
#include "gate/gate.h"

#include "gate/prepared.h"
#include "gate/reason.h"

static struct str reason_of(struct arena *a, const struct decided *d, enum permission_mode mode,
                            const struct subject *s)
{
    switch (d->decision) {
    case DECISION_AUTO:
        return reason_allowed(a, d, mode, s->tool);
    case DECISION_APPROVE:
        return reason_ask(a, d, mode, s);
    case DECISION_DENY:
        break;
    }
    return reason_denied(a, d, mode);
}

struct err *permission_judge(const struct permission_rules *rules, const struct hard_policy *policy,
                             enum permission_mode mode, const struct tool *tool,
                             const struct json *args, const struct tool_state *state,
                             struct arena *a, struct judged *ret_judged)
{
    struct subject s = {
        .tool = tool, .args = args, .state = state, .environment = rules->environment};
    AUTO(rulebook) struct rulebook *book = rulebook_new(rules);
    struct prepared prepared;
    struct refusal refusal;
    struct decided d;

    TRY(gate_prepare(book, policy, &s, a, &prepared));
    s.prepared = &prepared;
    subject_split_command(&s, a);
    if (hard_policy_refuses(policy, book, &s, a, &refusal)) {
        *ret_judged = (struct judged){DECISION_DENY, 5, refusal.rule, refusal.reason};
        return NULL;
    }
    d = permission_decide(book, mode, tool, args, state, &prepared);
    *ret_judged = (struct judged){d.decision, 7, arena_str(a, d.rule), reason_of(a, &d, mode, &s)};
    return NULL;
}
