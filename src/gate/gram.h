/* gram.h - three bytes in a row, to tell at a glance what a text cannot hold.
 *
 * Texts are noted once; a pattern then needs to be held against them only if they hold the three
 * bytes that its plain text begins with, and those that it ends with. */
#ifndef KEEL_GATE_GRAM_H
#define KEEL_GATE_GRAM_H

#include "base/str.h"

#define GRAM_BITS 10
#define GRAM_NONE (1 << GRAM_BITS) /* there is nothing to go by: every text holds it */

/* By a hash. */
struct gram_key {
    uint16_t first, last;
};
struct gram_key gram_key_of_any(void);
/* Of a pattern that holds this too, after what it was made of so far. */
void gram_key_add(struct gram_key *key, struct str plain);

/* Zeroed: no text was noted. */
struct grams {
    bool has[GRAM_NONE + 1];
};
void grams_add(struct grams *g, struct str text);
void grams_add_all(struct grams *g); /* as if there were a text that holds everything */

static inline bool grams_may_hold(const struct grams *g, struct gram_key key)
{
    return g->has[key.first] && g->has[key.last];
}

#endif
