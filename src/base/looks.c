/* looks.c - compares texts by their visible form. */
#include "base/looks.h"

#include "base/utf8.h"

struct char_range {
    uint32_t first, last;
};

static bool is_in(uint32_t c, const struct char_range *ranges, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return false;
}

static bool is_blank(uint32_t c)
{
    static const struct char_range blanks[] = {
        {' ', ' '}, {0xA0, 0xA0}, {0x2000, 0x200A}, {0x202F, 0x202F}, {0x205F, 0x205F}};

    return is_in(c, blanks, ARRAY_LEN(blanks));
}

static bool is_unseen(uint32_t c)
{
    static const struct char_range unseen[] = {
        {0xAD, 0xAD}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0xFEFF, 0xFEFF}};

    return is_in(c, unseen, ARRAY_LEN(unseen));
}

static bool is_accent(uint32_t c)
{
    return c >= 0x300 && c <= 0x36F;
}

/* The voiced and half-voiced sound marks of kana. */
static bool is_kana_mark(uint32_t c)
{
    return c == 0x3099 || c == 0x309A;
}

/* Letters that have forms with an accent. */
static bool may_have_accent(uint32_t c)
{
    static const struct char_range letters[] = {
        {0xC0, 0x233},  {0x385, 0x390}, {0x3AA, 0x3B0}, {0x3CA, 0x3CE},   {0x400, 0x403},
        {0x407, 0x407}, {0x40C, 0x40E}, {0x419, 0x419}, {0x439, 0x439},   {0x450, 0x453},
        {0x457, 0x457}, {0x45C, 0x45E}, {0x4C1, 0x4F9}, {0x1E00, 0x1FFE},
    };

    return is_in(c, letters, ARRAY_LEN(letters));
}

/* Korean syllables are one character, or two or three letters in a row. */
enum {
    HANGUL_FIRST = 0xAC00,
    HANGUL_L = 0x1100,
    HANGUL_V = 0x1161,
    HANGUL_T = 0x11A7, /* none */
    N_HANGUL_L = 19,
    N_HANGUL_V = 21,
    N_HANGUL_T = 28,
};

static bool is_hangul_letter(uint32_t c)
{
    return c >= 0x1100 && c <= 0x11FF;
}

bool looks_like_others(uint32_t c)
{
    return (is_blank(c) && c != ' ') || is_unseen(c) || is_accent(c) || is_kana_mark(c) ||
           is_hangul_letter(c);
}

/* --- comparing --- */

#define ACCENTED 0x110000u /* any letter with an accent: no character */
#define BAD_BYTE 0x120000u /* and the byte */

static uint32_t take(struct str *rest)
{
    uint32_t c;
    unsigned n = utf8_decode(*rest, &c);

    if (!n)
        c = BAD_BYTE + (unsigned char)rest->p[0];
    *rest = str_skip(*rest, n ? n : 1);
    return c;
}

/* The next character, if it is one of `n` from `first` on; not consumed. */
static bool peek_letter(struct str rest, uint32_t first, uint32_t n, uint32_t *ret_index)
{
    uint32_t c;

    if (!utf8_decode(rest, &c) || c < first || c - first >= n)
        return false;
    *ret_index = c - first;
    return true;
}

static uint32_t join_syllable(uint32_t first, struct str *rest)
{
    uint32_t v, t = 0, l = first - HANGUL_L;

    if (l >= N_HANGUL_L || !peek_letter(*rest, HANGUL_V, N_HANGUL_V, &v))
        return first;
    take(rest);
    if (peek_letter(*rest, HANGUL_T, N_HANGUL_T, &t))
        take(rest);
    return HANGUL_FIRST + (l * N_HANGUL_V + v) * N_HANGUL_T + t;
}

/* The next visible character; 0: none. */
static uint32_t take_seen(struct str *rest)
{
    uint32_t c = 0, mark;

    while (rest->n && is_unseen(c = take(rest)))
        c = 0;
    if (is_blank(c))
        return ' ';
    if (is_hangul_letter(c))
        return join_syllable(c, rest);
    if (may_have_accent(c))
        c = ACCENTED;
    while (utf8_decode(*rest, &mark) && (is_accent(mark) || is_kana_mark(mark))) {
        c = is_accent(mark) ? ACCENTED : c + (mark - 0x3098);
        take(rest);
    }
    return c;
}

bool looks_same(struct str a, struct str b)
{
    for (;;) {
        uint32_t x = take_seen(&a), y = take_seen(&b);

        if (x != y)
            return false;
        if (x == 0)
            return true;
    }
}
