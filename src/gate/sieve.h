/* sieve.h - which of many rules a call needs to be held against.
 *
 * A rule's key is made once, a sieve once for a call. What a sieve keeps back would not have
 * matched; what it lets through is matched at length (gate/pattern.h). Pure. */
#ifndef KEEL_GATE_SIEVE_H
#define KEEL_GATE_SIEVE_H

#include "gate/command.h"
#include "gate/path_key.h"

struct rule_key {
    struct command_key command;
    struct gram_key path;
    uint8_t tool; /* a hash of its name */
};
struct rule_key rule_key_of(const struct pattern *p);

enum tool_ties {
    TIE_BY_NAME = 1 << 0,  /* rules for this name may be for the call's tool */
    TIE_BY_FILES = 1 << 1, /* they hold for its files, though it has another name */
};

struct sieve {
    uint8_t ties[256];                  /* tool_ties by the hash of a name */
    bool is_about_path;                 /* so is the pattern in the tool's rules */
    const struct command_line *command; /* borrowed; NULL: it runs none */
    struct grams paths;                 /* its own, or those of its command */
};
/* The subject has names if the call is about a path, and its command is split. */
void sieve_init(struct sieve *v, const struct subject *s);

/* What could only be unclear is kept back too unless that `counts`. */
static inline bool sieve_passes(const struct sieve *v, const struct rule_key *key,
                                bool unclear_counts)
{
    int ties = v->ties[key->tool];

    if (!ties)
        return false;
    if (v->is_about_path || ties == TIE_BY_FILES)
        return grams_may_hold(&v->paths, key->path);
    if (!v->command || command_glance_passes(&v->command->glance, &key->command, unclear_counts))
        return true;
    return (ties & TIE_BY_FILES) && grams_may_hold(&v->paths, key->path);
}

#endif
