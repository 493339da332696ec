/* sha256.c - SHA-256; names as in FIPS 180-4. */
#include "base/sha256.h"

#include "base/sha256_blocks.h"

#define BLOCK_SIZE SHA256_BLOCK_SIZE

const uint32_t sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load_be32(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void store_be32(unsigned char *p, uint32_t x)
{
    p[0] = (unsigned char)(x >> 24);
    p[1] = (unsigned char)(x >> 16);
    p[2] = (unsigned char)(x >> 8);
    p[3] = (unsigned char)x;
}

static void expand(uint32_t w[64], const unsigned char block[BLOCK_SIZE])
{
    for (unsigned t = 0; t < 16; t++)
        w[t] = load_be32(block + 4 * t);
    for (unsigned t = 16; t < 64; t++) {
        uint32_t x = w[t - 15], y = w[t - 2];
        uint32_t sigma0 = rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3;
        uint32_t sigma1 = rotate_right(y, 17) ^ rotate_right(y, 19) ^ y >> 10;

        w[t] = w[t - 16] + sigma0 + w[t - 7] + sigma1;
    }
}

/* One round. Instead of moving all eight variables along, the caller rotates their roles. */
static inline void do_round(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                            uint32_t g, uint32_t *h, uint32_t k_plus_w)
{
    uint32_t sum1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
    uint32_t choice = g ^ (e & (f ^ g));
    uint32_t sum0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
    uint32_t majority = (a & b) | (c & (a | b));
    uint32_t t1 = *h + sum1 + choice + k_plus_w;

    *d += t1;
    *h = t1 + sum0 + majority;
}

static void compress(uint32_t state[8], const unsigned char block[BLOCK_SIZE])
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    uint32_t w[64];

    expand(w, block);
    for (unsigned t = 0; t < 64; t += 8) {
        const uint32_t *k = sha256_constants + t, *v = w + t;

        do_round(a, b, c, &d, e, f, g, &h, k[0] + v[0]);
        do_round(h, a, b, &c, d, e, f, &g, k[1] + v[1]);
        do_round(g, h, a, &b, c, d, e, &f, k[2] + v[2]);
        do_round(f, g, h, &a, b, c, d, &e, k[3] + v[3]);
        do_round(e, f, g, &h, a, b, c, &d, k[4] + v[4]);
        do_round(d, e, f, &g, h, a, b, &c, k[5] + v[5]);
        do_round(c, d, e, &f, g, h, a, &b, k[6] + v[6]);
        do_round(b, c, d, &e, f, g, h, &a, k[7] + v[7]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
    state[5] += f;
    state[6] += g;
    state[7] += h;
}

void sha256_blocks_plain(uint32_t state[8], const unsigned char *blocks, size_t n_blocks)
{
    for (size_t i = 0; i < n_blocks; i++)
        compress(state, blocks + i * BLOCK_SIZE);
}

static void add_blocks(struct sha256 *h, const unsigned char *blocks, size_t n_blocks)
{
    if (sha256_has_x86())
        sha256_blocks_x86(h->state, blocks, n_blocks);
    else
        sha256_blocks_plain(h->state, blocks, n_blocks);
}

void sha256_init(struct sha256 *h)
{
    *h = (struct sha256){
        .state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
                  0x1f83d9ab, 0x5be0cd19},
    };
}

void sha256_add(struct sha256 *h, struct str bytes)
{
    size_t have = h->n_bytes % BLOCK_SIZE;
    size_t fill = MIN(BLOCK_SIZE - have, bytes.n);

    h->n_bytes += bytes.n;
    if (have) {
        if (fill)
            memcpy(h->block + have, bytes.p, fill);
        if (have + fill < BLOCK_SIZE)
            return;
        add_blocks(h, h->block, 1);
        bytes = str_skip(bytes, fill);
    }
    add_blocks(h, (const unsigned char *)bytes.p, bytes.n / BLOCK_SIZE);
    bytes = str_skip(bytes, bytes.n / BLOCK_SIZE * BLOCK_SIZE);
    if (bytes.n)
        memcpy(h->block, bytes.p, bytes.n);
}

void sha256_end(struct sha256 *h, unsigned char digest[SHA256_SIZE])
{
    static const char one_and_zeros[BLOCK_SIZE] = {(char)0x80};
    uint64_t n_bits = h->n_bytes * 8;
    size_t have = h->n_bytes % BLOCK_SIZE;
    unsigned char length[8];

    /* A one bit, zeros up to the last eight bytes of a block, and there the length in bits. */
    store_be32(length, (uint32_t)(n_bits >> 32));
    store_be32(length + 4, (uint32_t)n_bits);
    sha256_add(h, str_make(one_and_zeros, have < 56 ? 56 - have : 120 - have));
    sha256_add(h, str_make((const char *)length, sizeof length));
    for (unsigned i = 0; i < 8; i++)
        store_be32(digest + 4 * i, h->state[i]);
    mem_wipe(h, sizeof *h);
}

void sha256_format_hex(const unsigned char digest[SHA256_SIZE], char hex[SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (unsigned i = 0; i < SHA256_SIZE; i++) {
        *hex++ = digits[digest[i] >> 4];
        *hex++ = digits[digest[i] & 15];
    }
    *hex = 0;
}

void sha256_hex(struct str bytes, char hex[SHA256_HEX_SIZE])
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, bytes);
    sha256_end(&h, digest);
    sha256_format_hex(digest, hex);
}
