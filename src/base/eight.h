/* eight.h - eight bytes at a look, for searches through text that is mostly of no interest.
 *
 * A mask has the high bit of every byte set that is one of those looked for. Behind the first of
 * them others may be set, too: a mask says whether there is one, and where the first one stands. */
#ifndef KEEL_BASE_EIGHT_H
#define KEEL_BASE_EIGHT_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#define EIGHT_ONES 0x0101010101010101u
#define EIGHT_HIGH 0x8080808080808080u

/* The first byte is the lowest. */
static inline uint64_t eight_load(const char *p)
{
    uint64_t bytes;

    memcpy(&bytes, p, sizeof bytes);
    return le64toh(bytes);
}

/* Taking the limit off each leaves its high bit set where it was below; bytes that are not ASCII
 * had it set before. The limit is 0x80 at most. */
static inline uint64_t eight_below(uint64_t bytes, unsigned char limit)
{
    return (bytes - EIGHT_ONES * limit) & ~bytes & EIGHT_HIGH;
}

static inline uint64_t eight_equal(uint64_t bytes, unsigned char c)
{
    return eight_below(bytes ^ EIGHT_ONES * c, 1);
}

/* How many bytes stand before the first one; there must be one. */
static inline unsigned eight_before(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask) / 8;
}

#endif
