/* sha256.h - FIPS 180-4 SHA-256, in one go or piece by piece. */
#ifndef KEEL_BASE_SHA256_H
#define KEEL_BASE_SHA256_H

#include "base/str.h"

#define SHA256_SIZE 32
#define SHA256_HEX_SIZE 65 /* with the NUL */

struct sha256 {
    uint32_t state[8];
    uint64_t n_bytes;
    unsigned char block[64];
};

void sha256_init(struct sha256 *h);
void sha256_add(struct sha256 *h, struct str bytes);
void sha256_end(struct sha256 *h, unsigned char digest[SHA256_SIZE]);

void sha256_hex(struct str bytes, char hex[SHA256_HEX_SIZE]); /* lower case */
void sha256_format_hex(const unsigned char digest[SHA256_SIZE], char hex[SHA256_HEX_SIZE]);

#endif
