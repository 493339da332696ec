/* random.h - randomness as a port: the kernel's, or a seeded one that repeats. */
#ifndef KEEL_SYS_RANDOM_H
#define KEEL_SYS_RANDOM_H

#include "base/mem.h"

struct random {
    void (*fill)(void *self, void *bytes, size_t n); /* required; cannot fail */
    void *self;
};

extern const struct random random_system; /* getrandom(2) */

/* Repeatable and not for secrets: the same seed gives the same bytes everywhere. */
struct seeded_random {
    struct random random;
    uint64_t state[4];
};
void seeded_random_init(struct seeded_random *s, uint64_t seed);

void random_fill(const struct random *r, void *bytes, size_t n);
uint64_t random_uint64(const struct random *r);
uint64_t random_below(const struct random *r, uint64_t bound); /* uniform in [0, bound) */

#endif
