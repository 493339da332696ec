/* uuid.c - UUIDs of versions 7 and 8. */
#include "base/uuid.h"

#include "base/ascii.h"
#include "base/sha256.h"

#define UUID_SIZE 16

/* Sets the version and the variant of RFC 9562, then writes the text. */
static void format(unsigned char bytes[UUID_SIZE], unsigned version, char out[UUID_TEXT_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    bytes[6] = (unsigned char)(version << 4 | (bytes[6] & 0x0F));
    bytes[8] = (unsigned char)(0x80 | (bytes[8] & 0x3F));
    for (unsigned i = 0; i < UUID_SIZE; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
        if (i == 3 || i == 5 || i == 7 || i == 9)
            *out++ = '-';
    }
    *out = 0;
}

void uuid_v7(int64_t unix_ms, const unsigned char random[10], char out[UUID_TEXT_SIZE])
{
    uint64_t ms = (uint64_t)MAX(unix_ms, 0);
    unsigned char bytes[UUID_SIZE];

    for (unsigned i = 0; i < 6; i++)
        bytes[i] = (unsigned char)(ms >> (40 - 8 * i));
    memcpy(bytes + 6, random, 10);
    format(bytes, 7, out);
}

void uuid_from_name(struct str name_space, struct str name, char out[UUID_TEXT_SIZE])
{
    unsigned char digest[SHA256_SIZE], length[8];
    struct sha256 h;

    /* The length goes first, so that ("ab", "c") and ("a", "bc") differ. */
    for (unsigned i = 0; i < sizeof length; i++)
        length[i] = (unsigned char)((uint64_t)name_space.n >> (56 - 8 * i));
    sha256_init(&h);
    sha256_add(&h, str_make((const char *)length, sizeof length));
    sha256_add(&h, name_space);
    sha256_add(&h, name);
    sha256_end(&h, digest);
    format(digest, 8, out);
}

bool uuid_is_valid(struct str text)
{
    if (text.n != UUID_TEXT_SIZE - 1)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? text.p[i] != '-' : ascii_hex_value(text.p[i]) < 0)
            return false;
    }
    return true;
}
