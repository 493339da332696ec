/* utf8.c - decodes, checks and repairs UTF-8. */
#include "base/utf8.h"

#include "base/eight.h"
#include "base/strbuf.h"

/* The range of the second byte after a given first byte (Unicode 15, table 3-7). */
static unsigned sequence_length(unsigned char first, unsigned char *ret_low,
                                unsigned char *ret_high)
{
    *ret_low = 0x80;
    *ret_high = 0xBF;
    if (first < 0x80)
        return 1;
    if (first < 0xC2)
        return 0;
    if (first < 0xE0)
        return 2;
    if (first < 0xF0) {
        if (first == 0xE0)
            *ret_low = 0xA0;
        if (first == 0xED)
            *ret_high = 0x9F;
        return 3;
    }
    if (first < 0xF5) {
        if (first == 0xF0)
            *ret_low = 0x90;
        if (first == 0xF4)
            *ret_high = 0x8F;
        return 4;
    }
    return 0;
}

/* Length of the longest start of a valid sequence; *ret_need is the length of the whole. */
static unsigned valid_start(struct str s, unsigned *ret_need)
{
    const unsigned char *p = (const unsigned char *)s.p;
    unsigned char low, high;
    unsigned need = sequence_length(p[0], &low, &high), have = 1;

    *ret_need = need;
    if (need == 0)
        return 0;
    while (have < need && have < s.n && p[have] >= low && p[have] <= high) {
        have++;
        low = 0x80;
        high = 0xBF;
    }
    return have;
}

unsigned utf8_decode(struct str s, uint32_t *ret_char)
{
    const unsigned char *p = (const unsigned char *)s.p;
    unsigned need, have;

    if (s.n == 0)
        return 0;
    if (p[0] < 0x80) {
        *ret_char = p[0];
        return 1;
    }
    have = valid_start(s, &need);
    if (have == 0 || have < need)
        return 0;
    *ret_char = p[0] & (0xFFu >> (need + 1));
    for (unsigned i = 1; i < need; i++)
        *ret_char = *ret_char << 6 | (p[i] & 0x3Fu);
    return need;
}

unsigned utf8_encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xE0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3F));
        out[2] = (char)(0x80 | (c & 0x3F));
        return 3;
    }
    out[0] = (char)(0xF0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3F));
    out[2] = (char)(0x80 | (c >> 6 & 0x3F));
    out[3] = (char)(0x80 | (c & 0x3F));
    return 4;
}

/* The number of ASCII bytes from `at` on, in steps of eight: most text is nothing else. */
static size_t ascii_run(struct str s, size_t at)
{
    size_t start = at;

    for (; s.n - at >= 8; at += 8) {
        uint64_t others = eight_load(s.p + at) & EIGHT_HIGH;

        if (others)
            return at + eight_before(others) - start;
    }
    while (at < s.n && (unsigned char)s.p[at] < 0x80)
        at++;
    return at - start;
}

size_t utf8_valid_prefix(struct str s)
{
    size_t at = 0;

    while (at < s.n) {
        uint32_t c;
        unsigned n;

        at += ascii_run(s, at);
        if (at == s.n)
            break;
        n = utf8_decode(str_skip(s, at), &c);
        if (n == 0)
            return at;
        at += n;
    }
    return at;
}

bool utf8_is_valid(struct str s)
{
    return utf8_valid_prefix(s) == s.n;
}

size_t utf8_incomplete_tail(struct str s)
{
    for (size_t back = 1; back <= 3 && back <= s.n; back++) {
        struct str tail = str_skip(s, s.n - back);
        unsigned need, have;

        if (((unsigned char)tail.p[0] & 0xC0) == 0x80)
            continue; /* a continuation byte: look further back for its start */
        have = valid_start(tail, &need);
        return have == back && have < need ? back : 0;
    }
    return 0;
}

void utf8_add_repaired(struct strbuf *out, struct str s)
{
    while (s.n) {
        size_t good = utf8_valid_prefix(s);
        unsigned need, bad;

        strbuf_add(out, str_slice(s, 0, good));
        s = str_skip(s, good);
        if (s.n == 0)
            break;
        bad = valid_start(s, &need);
        strbuf_add(out, S("\xEF\xBF\xBD"));
        s = str_skip(s, bad ? bad : 1);
    }
}

size_t utf8_count(struct str s)
{
    size_t count = 0, at = 0;

    while (at < s.n) {
        size_t n_ascii = ascii_run(s, at);
        uint32_t c;
        unsigned n;

        at += n_ascii;
        count += n_ascii;
        if (at == s.n)
            break;
        n = utf8_decode(str_skip(s, at), &c);
        at += n ? n : 1;
        count++;
    }
    return count;
}

struct str utf8_truncate(struct str s, size_t max_bytes)
{
    if (s.n <= max_bytes)
        return s;
    s.n = max_bytes;
    s.n -= utf8_incomplete_tail(s);
    return s;
}
