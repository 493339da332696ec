/* sha256_blocks.h - the heart of SHA-256: whole blocks into the state. Only sha256*.c and their
 * test include it.
 *
 * Processors have instructions for it, which take a tenth of the time. Without them, or if the
 * compiler cannot use them, it is plain C. */
#ifndef KEEL_BASE_SHA256_BLOCKS_H
#define KEEL_BASE_SHA256_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SHA256_BLOCK_SIZE 64

extern const uint32_t sha256_constants[64];

void sha256_blocks_plain(uint32_t state[8], const unsigned char *blocks, size_t n_blocks);

bool sha256_has_x86(void);
void sha256_blocks_x86(uint32_t state[8], const unsigned char *blocks, size_t n_blocks);

#endif
