/* judge.c - what would become of a call, for those who ask before there is one. */
#include "gate/gate.h"

#include "gate/reason.h"

static struct str reason_of(struct arena *a, const struct decided *d, enum permission_mode mode,
                            const struct tool *tool)
{
    switch (d->decision) {
    case DECISION_AUTO:
        return reason_allowed(a, d, mode, tool);
    case DECISION_APPROVE:
        return reason_ask(a, d, mode, tool);
    case DECISION_DENY:
        break;
    }
    return reason_denied(a, d, mode);
}

struct err *permission_judge(const struct permission_rules *rules, const struct hard_policy *policy,
                             enum permission_mode mode, const struct tool *tool,
                             const struct json *args, const struct tool_session *session,
                             struct arena *a, struct judged *ret_judged)
{
    struct decided d = permission_decide(rules, mode, tool, args, session);

    *ret_judged = (struct judged){.decision = d.decision,
                                  .step = d.decision == DECISION_APPROVE ? 8 : 7,
                                  .rule = arena_str(a, d.rule),
                                  .reason = reason_of(a, &d, mode, tool)};
    return NULL;
}
