/* mode.c - the decision of each permission mode for each class of risk. */
#include "gate/gate.h"

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
