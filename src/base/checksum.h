/* checksum.h - a 64-bit sum that finds damage, not forgery. Pure, and the same on every machine.
 *
 * One changed byte or number always changes the sum; of all other changes one in 2^64 does not. A
 * text is added with its length, so bytes cannot move from one to the next unnoticed. */
#ifndef KEEL_BASE_CHECKSUM_H
#define KEEL_BASE_CHECKSUM_H

#include "base/str.h"

#define CHECKSUM_START ((uint64_t)0x6b65656c2d73756d)

uint64_t checksum_add_number(uint64_t sum, uint64_t value);
uint64_t checksum_add(uint64_t sum, struct str bytes);

#endif
