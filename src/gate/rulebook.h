/* rulebook.h - the inside of a rulebook, for who walks it. */
#ifndef KEEL_GATE_RULEBOOK_H
#define KEEL_GATE_RULEBOOK_H

#include "gate/gate.h"
#include "gate/sieve.h"

/* In the order in which they count. The keys are apart: most rules are never looked at further. */
struct rule_list {
    struct pattern *patterns;
    struct rule_key *keys;
    size_t n, patterns_room, keys_room;
};

struct rulebook {
    struct rule_list lists[N_RULE_KINDS];
    const char *const *environment;
    bool looks_freely, commands_run_freely, other_shell; /* as in struct permission_rules */
    struct arena arena;
};

/* The next rule that may match what the sieve was made for, or may be unclear if that counts; NULL:
 * there is none. Start with *at = 0. */
const struct pattern *rule_list_next(const struct rule_list *l, const struct sieve *v,
                                     bool unclear_counts, size_t *at);

#endif
