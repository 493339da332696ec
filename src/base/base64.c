/* base64.c - three bytes as four letters, and back. */
#include "base/base64.h"

static const char standard[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static const char url[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* The 1 to 3 bytes at p as letters; returns how many. */
static unsigned encode_group(const unsigned char *p, size_t n, const char *alphabet, char out[4])
{
    uint32_t bits = (uint32_t)p[0] << 16;

    if (n > 1)
        bits |= (uint32_t)p[1] << 8;
    if (n > 2)
        bits |= p[2];
    out[0] = alphabet[bits >> 18];
    out[1] = alphabet[bits >> 12 & 63];
    out[2] = alphabet[bits >> 6 & 63];
    out[3] = alphabet[bits & 63];
    return n > 2 ? 4 : (unsigned)n + 1;
}

static void encode(struct strbuf *out, struct str bytes, const char *alphabet, bool padded)
{
    const unsigned char *p = (const unsigned char *)bytes.p;
    size_t n_groups = bytes.n / 3 + (bytes.n % 3 != 0);
    char *start = n_groups > SIZE_MAX / 4 ? NULL : strbuf_reserve(out, n_groups * 4);
    char *at = start;

    if (!at) {
        strbuf_set_over(out);
        return;
    }
    for (size_t i = 0; i < bytes.n; i += 3) {
        unsigned n = encode_group(p + i, bytes.n - i, alphabet, at);

        for (at += n; padded && n < 4; n++)
            *at++ = '=';
    }
    strbuf_grew(out, (size_t)(at - start));
}

void base64_add(struct strbuf *out, struct str bytes)
{
    encode(out, bytes, standard, /* padded= */ true);
}

void base64url_add(struct strbuf *out, struct str bytes)
{
    encode(out, bytes, url, /* padded= */ false);
}

/* The meaning of each ASCII character: its six bits, or another class. */
enum { NO = -1, SP = -2, EQ = -3 }; /* not base64, white space, padding */

/* clang-format off */
static const signed char meanings[128] = {
    NO, NO, NO, NO, NO, NO, NO, NO, NO, SP, SP, SP, SP, SP, NO, NO,
    NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO,
    SP, NO, NO, NO, NO, NO, NO, NO, NO, NO, NO, 62, NO, 62, NO, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, NO, NO, NO, EQ, NO, NO,
    NO, 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, NO, NO, NO, NO, 63,
    NO, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, NO, NO, NO, NO, NO,
};
/* clang-format on */

static int meaning_of(char c)
{
    return (unsigned char)c < 128 ? meanings[(unsigned char)c] : NO;
}

/* Counts the letters; an error unless the whole text is sound. */
static struct err *check(struct str text, size_t *ret_n_letters)
{
    size_t n_letters = 0, n_pads = 0;

    for (size_t i = 0; i < text.n; i++) {
        int meaning = meaning_of(text.p[i]);

        if (meaning == NO)
            return err_new(ERR_VALIDATION, "base64: byte %zu is not a base64 character", i + 1);
        if (meaning >= 0 && n_pads)
            return err_new(ERR_VALIDATION, "base64: byte %zu follows the padding", i + 1);
        n_letters += meaning >= 0;
        n_pads += meaning == EQ;
    }
    if (n_letters % 4 == 1)
        return err_new(ERR_VALIDATION, "base64: the text ends in the middle of a byte");
    if (n_pads && (n_letters % 4 == 0 || n_letters % 4 + n_pads != 4))
        return err_new(ERR_VALIDATION, "base64: %zu characters cannot be padded with %zu '='",
                       n_letters, n_pads);
    *ret_n_letters = n_letters;
    return NULL;
}

struct err *base64_decode(struct strbuf *out, struct str text)
{
    size_t n_letters = 0, n_bytes;
    unsigned n_bits = 0;
    uint32_t bits = 0;
    char *at;

    TRY(check(text, &n_letters));
    n_bytes = n_letters / 4 * 3 + n_letters % 4 * 3 / 4;
    at = strbuf_reserve(out, n_bytes);
    if (!at)
        return strbuf_check(out, "the decoded base64 text");
    for (size_t i = 0; i < text.n; i++) {
        int meaning = meaning_of(text.p[i]);

        if (meaning < 0)
            continue;
        bits = bits << 6 | (uint32_t)meaning;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            *at++ = (char)(bits >> n_bits);
        }
    }
    strbuf_grew(out, n_bytes);
    return NULL;
}
