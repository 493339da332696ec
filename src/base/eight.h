/* eight.h - looks at eight bytes at once, for searches through text without many hits.
 *
 * A mask has the high bit of every byte set that is searched for. After the first of them other
 * bits may be set, too: a mask says whether there is a hit, and where the first one is. */
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

/* Subtracting the limit from each byte sets its high bit if it was below; bytes outside of ASCII
 * had it set before. The limit is 0x80 at most. */
static inline uint64_t eight_below(uint64_t bytes, unsigned char limit)
{
    return (bytes - EIGHT_ONES * limit) & ~bytes & EIGHT_HIGH;
}

static inline uint64_t eight_equal(uint64_t bytes, unsigned char c)
{
    return eight_below(bytes ^ EIGHT_ONES * c, 1);
}

/* How many bytes are before the first hit; there must be one. */
static inline unsigned eight_before(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask) / 8;
}

#endif
