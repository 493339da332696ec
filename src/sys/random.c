/* random.c - random bytes: the kernel's, and xoshiro256** from a seed. */
#include "sys/random.h"

#include <string.h>
#include <unistd.h>

/* getentropy() is getrandom(2) with the retries of libc; it returns at most 256 bytes. */
static void system_fill(void *self, void *bytes, size_t n)
{
    char *at = bytes;

    while (n) {
        size_t part = MIN(n, (size_t)256);

        if (getentropy(at, part) < 0)
            BUG("cannot get random bytes from the kernel");
        at += part;
        n -= part;
    }
}

const struct random random_system = {.fill = system_fill};

static uint64_t rotate_left(uint64_t x, unsigned n)
{
    return x << n | x >> (64 - n);
}

/* xoshiro256** of Blackman and Vigna. */
static uint64_t next(uint64_t s[4])
{
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

/* The lowest byte first on every machine. A rest of less than eight bytes uses a whole word. */
static void seeded_fill(void *self, void *bytes, size_t n)
{
    struct seeded_random *s = self;
    unsigned char *out = bytes;

    for (size_t i = 0; i < n;) {
        uint64_t word = next(s->state);

        for (unsigned k = 0; k < 8 && i < n; k++, i++)
            out[i] = (unsigned char)(word >> 8 * k);
    }
}

/* splitmix64, which its authors advise for seeding: no seed gives the all-zero state. */
static uint64_t mix(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;

    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

void seeded_random_init(struct seeded_random *s, uint64_t seed)
{
    *s = (struct seeded_random){.random = {.fill = seeded_fill, .self = s}};
    for (unsigned i = 0; i < ARRAY_LEN(s->state); i++)
        s->state[i] = mix(&seed);
}

void random_fill(const struct random *r, void *bytes, size_t n)
{
    r->fill(r->self, bytes, n);
}

uint64_t random_uint64(const struct random *r)
{
    unsigned char bytes[8];
    uint64_t value = 0;

    random_fill(r, bytes, sizeof bytes);
    for (unsigned k = 0; k < 8; k++)
        value |= (uint64_t)bytes[k] << 8 * k;
    return value;
}

uint64_t random_below(const struct random *r, uint64_t bound)
{
    uint64_t value, n_odd;

    BUG_IF(bound == 0);
    n_odd = -bound % bound; /* this many of the 2^64 values would make some results likelier */
    do {
        value = random_uint64(r);
    } while (value < n_odd);
    return value % bound;
}
