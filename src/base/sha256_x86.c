/* sha256_x86.c - SHA-256 with the instructions that x86 has for it.
 *
 * They keep the eight variables of FIPS 180-4 in two registers, a, b, e, f in the one and c, d, g,
 * h in the other, and do two rounds at a time. */
#include "base/sha256_blocks.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)

#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1")))

bool sha256_has_x86(void)
{
    return __builtin_cpu_supports("sha") && __builtin_cpu_supports("sse4.1");
}

WITH_SHA static inline __m128i load_words(const unsigned char *p)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p), swap);
}

/* Four words of the message schedule, out of the sixteen before them: w[0] holds the oldest. */
WITH_SHA static inline __m128i next_words(const __m128i w[4])
{
    __m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w[0], w[1]), _mm_alignr_epi8(w[3], w[2], 4));

    return _mm_sha256msg2_epu32(sum, w[3]);
}

WITH_SHA static inline void four_rounds(__m128i *abef, __m128i *cdgh, __m128i words, unsigned t)
{
    __m128i k = _mm_loadu_si128((const __m128i *)(sha256_constants + t));
    __m128i sum = _mm_add_epi32(words, k);

    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

WITH_SHA static inline void do_block(__m128i *abef, __m128i *cdgh, const unsigned char *block)
{
    __m128i w[4];

    for (unsigned i = 0; i < 4; i++) {
        w[i] = load_words(block + 16 * i);
        four_rounds(abef, cdgh, w[i], 4 * i);
    }
    for (unsigned t = 16; t < 64; t += 4) {
        __m128i next = next_words(w);

        four_rounds(abef, cdgh, next, t);
        w[0] = w[1];
        w[1] = w[2];
        w[2] = w[3];
        w[3] = next;
    }
}

WITH_SHA void sha256_blocks_x86(uint32_t state[8], const unsigned char *blocks, size_t n_blocks)
{
    __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(badc, hgfe, 8), cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);
    __m128i feba, dchg;

    for (size_t i = 0; i < n_blocks; i++) {
        __m128i abef_before = abef, cdgh_before = cdgh;

        do_block(&abef, &cdgh, blocks + i * SHA256_BLOCK_SIZE);
        abef = _mm_add_epi32(abef, abef_before);
        cdgh = _mm_add_epi32(cdgh, cdgh_before);
    }
    feba = _mm_shuffle_epi32(abef, 0x1b);
    dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool sha256_has_x86(void)
{
    return false;
}

void sha256_blocks_x86(uint32_t state[8], const unsigned char *blocks, size_t n_blocks)
{
    sha256_blocks_plain(state, blocks, n_blocks);
}

#endif
