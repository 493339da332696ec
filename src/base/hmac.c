/* hmac.c - a keyed digest out of two plain ones. */
#include "base/hmac.h"

#define BLOCK_BYTES 64

static void add_pad(struct sha256 *h, const unsigned char key[BLOCK_BYTES], unsigned char with)
{
    unsigned char pad[BLOCK_BYTES];

    for (size_t i = 0; i < BLOCK_BYTES; i++)
        pad[i] = key[i] ^ with;
    sha256_add(h, str_make((const char *)pad, sizeof pad));
    mem_wipe(pad, sizeof pad);
}

void hmac_sha256(struct str key, struct str bytes, unsigned char mac[SHA256_SIZE])
{
    unsigned char block[BLOCK_BYTES] = {0}, inner[SHA256_SIZE];
    struct sha256 h;

    if (key.n > BLOCK_BYTES) {
        sha256_init(&h);
        sha256_add(&h, key);
        sha256_end(&h, block);
    } else if (key.n) {
        memcpy(block, key.p, key.n);
    }
    sha256_init(&h);
    add_pad(&h, block, 0x36);
    sha256_add(&h, bytes);
    sha256_end(&h, inner);
    sha256_init(&h);
    add_pad(&h, block, 0x5c);
    sha256_add(&h, str_make((const char *)inner, sizeof inner));
    sha256_end(&h, mac);
    mem_wipe(block, sizeof block);
    mem_wipe(&h, sizeof h);
}
