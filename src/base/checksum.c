/* checksum.c - eight bytes at a time; every step can be undone, so none loses information. */
#include "base/checksum.h"

#include "base/eight.h"

uint64_t checksum_add_number(uint64_t sum, uint64_t value)
{
    sum = (sum ^ value) * 0x9e3779b97f4a7c15u;
    return sum ^ sum >> 32;
}

uint64_t checksum_add(uint64_t sum, struct str bytes)
{
    size_t at = 0;
    char last[8] = "";

    sum = checksum_add_number(sum, bytes.n);
    for (; bytes.n - at >= sizeof last; at += sizeof last)
        sum = checksum_add_number(sum, eight_load(bytes.p + at));
    if (bytes.n > at)
        memcpy(last, bytes.p + at, bytes.n - at);
    return checksum_add_number(sum, eight_load(last));
}
