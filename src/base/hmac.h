/* hmac.h - HMAC-SHA-256 (RFC 2104). */
#ifndef KEEL_BASE_HMAC_H
#define KEEL_BASE_HMAC_H

#include "base/sha256.h"

void hmac_sha256(struct str key, struct str bytes, unsigned char mac[SHA256_SIZE]);

#endif
