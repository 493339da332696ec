/* command_key.h - most patterns are for other commands, as their first bytes tell, or a few further
 * on. */
#ifndef KEEL_GATE_COMMAND_KEY_H
#define KEEL_GATE_COMMAND_KEY_H

#include "gate/gram.h"
#include "gate/shell/split.h"

#define N_COMMAND_DEPTHS 3
#define COMMAND_SLOT_BITS 10

/* How every text begins that the pattern matches or may match, by hashes of so many bytes, and what
 * each holds that it matches. */
struct command_key {
    uint16_t starts[N_COMMAND_DEPTHS];
    struct gram_key grams;
};
struct command_key command_key_of(struct str pattern); /* that of "" rules nothing out */

/* The same of all texts that patterns are held against. */
struct command_glance {
    bool starts[N_COMMAND_DEPTHS][1 << COMMAND_SLOT_BITS];
    bool may_start[N_COMMAND_DEPTHS]; /* in any way: a text is not known so far in */
    struct grams grams;
    bool is_in_doubt; /* there is a text of which not all is known */
};
void command_glance_init(struct command_glance *g, struct str line,
                         const struct shell_split *split);

/* False: the pattern does not match, read either way. And where it could only be unclear, unless
 * that `counts`. */
static inline bool command_glance_passes(const struct command_glance *g,
                                         const struct command_key *key, bool unclear_counts)
{
    for (size_t i = 0; i < N_COMMAND_DEPTHS; i++)
        if (!g->starts[i][key->starts[i]] && !(unclear_counts && g->may_start[i]))
            return false;
    return (unclear_counts && g->is_in_doubt) || grams_may_hold(&g->grams, key->grams);
}

#endif
