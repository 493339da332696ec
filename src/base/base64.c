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

    if (!at)
        return;
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

/* The letter's six bits, or -1. */
static int value_of(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+' || c == '-')
        return 62;
    if (c == '/' || c == '_')
        return 63;
    return -1;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Counts the letters; an error unless the whole text is sound. */
static struct err *check(struct str text, size_t *ret_n_letters)
{
    size_t n_letters = 0, n_pads = 0;

    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        if (is_space(c))
            continue;
        if (c == '=') {
            n_pads++;
            continue;
        }
        if (value_of(c) < 0)
            return err_new(ERR_VALIDATION, "base64: byte %zu is not a base64 letter", i + 1);
        if (n_pads)
            return err_new(ERR_VALIDATION, "base64: byte %zu comes after the padding", i + 1);
        n_letters++;
    }
    if (n_letters % 4 == 1)
        return err_new(ERR_VALIDATION, "base64: the text ends in the middle of a byte");
    if (n_pads && (n_letters % 4 == 0 || n_letters % 4 + n_pads != 4))
        return err_new(ERR_VALIDATION, "base64: %zu letters cannot be padded with %zu '='",
                       n_letters, n_pads);
    *ret_n_letters = n_letters;
    return NULL;
}

struct err *base64_decode(struct strbuf *out, struct str text)
{
    size_t n_letters, n_bytes;
    unsigned n_bits = 0;
    uint32_t bits = 0;
    char *at;

    TRY(check(text, &n_letters));
    n_bytes = n_letters / 4 * 3 + n_letters % 4 * 3 / 4;
    at = strbuf_reserve(out, n_bytes);
    if (!at)
        return strbuf_check(out, "the decoded base64 text");
    for (size_t i = 0; i < text.n; i++) {
        int value = value_of(text.p[i]);

        if (value < 0)
            continue;
        bits = bits << 6 | (uint32_t)value;
        n_bits += 6;
        if (n_bits >= 8) {
            n_bits -= 8;
            *at++ = (char)(bits >> n_bits);
        }
    }
    strbuf_grew(out, n_bytes);
    return NULL;
}
