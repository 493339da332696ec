/* rulebook.h - the rules of a gate: read once, matched in their order. */
#ifndef KEEL_GATE_RULEBOOK_H
#define KEEL_GATE_RULEBOOK_H

#include "gate/gate.h"
#include "gate/pattern.h"

struct rule_list {
    struct pattern *patterns;
    size_t n, room;
};

struct rulebook {
    struct rule_list lists[N_RULE_KINDS];
    const char *const *environment;
    bool looks_freely, commands_run_freely, other_shell; /* as in struct permission_rules */
    struct arena arena;
};

#endif
