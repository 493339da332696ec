/* grapheme.c - clusters and columns, by a table of ranges (scripts/unicode_table.py). */
#include "base/grapheme.h"

#include "base/mem.h"
#include "base/unicode_table.h"
#include "base/utf8.h"

#define VARIATION_SELECTOR_16 0xFE0F
#define MAX_COLUMNS 2u

/* As in the table, but for the syllables, which are counted. */
enum join {
    JOIN_OTHER,
    JOIN_CR,
    JOIN_LF,
    JOIN_CONTROL,
    JOIN_EXTEND,
    JOIN_ZWJ,
    JOIN_REGIONAL,
    JOIN_PREPEND,
    JOIN_SPACING_MARK,
    JOIN_HANGUL_L,
    JOIN_HANGUL_V,
    JOIN_HANGUL_T,
    JOIN_HANGUL_LV, /* in the table LV and LVT */
    JOIN_PICTURE,
    JOIN_HANGUL_LVT,
};
enum conjunct { CONJUNCT_NONE, CONJUNCT_CONSONANT, CONJUNCT_LINKER, CONJUNCT_EXTEND };

struct letter {
    size_t n_bytes;
    enum join join;
    enum conjunct conjunct;
    unsigned columns;
    bool is_emoji, is_selector;
};

/* What of the cluster so far decides whether the next letter belongs to it. */
struct cluster {
    enum join last;
    bool has_odd_regional;
    bool has_picture, has_joiner; /* a picture, with marks; and then a joiner */
    bool has_consonant, has_linker;
};

static uint32_t row_of(uint32_t c)
{
    uint32_t block = MIN(c / UNICODE_BLOCK, UNICODE_N_BLOCKS);
    size_t from = unicode_blocks[block], to = ARRAY_LEN(unicode_table);

    if (block < UNICODE_N_BLOCKS)
        to = unicode_blocks[block + 1] + 1u;
    while (to - from > 1) {
        size_t middle = from + (to - from) / 2;

        if (unicode_table[middle] >> 9 <= c)
            from = middle;
        else
            to = middle;
    }
    return unicode_table[from];
}

static struct letter read_letter(struct str text)
{
    struct letter l = {.n_bytes = 1, .join = JOIN_CONTROL, .columns = 1};
    uint32_t c, row;
    unsigned n = utf8_decode(text, &c);

    if (n == 0)
        return l;
    row = row_of(c);
    l = (struct letter){.n_bytes = n,
                        .join = (enum join)(row & 15),
                        .conjunct = (enum conjunct)(row >> 6 & 3),
                        .columns = row >> 4 & 3,
                        .is_emoji = row >> 8 & 1,
                        .is_selector = c == VARIATION_SELECTOR_16};
    if (l.join == JOIN_HANGUL_LV && (c - 0xAC00) % 28 != 0)
        l.join = JOIN_HANGUL_LVT;
    return l;
}

static bool is_control(enum join j)
{
    return j == JOIN_CR || j == JOIN_LF || j == JOIN_CONTROL;
}

/* The rules GB3 to GB13. */
static bool belongs(const struct cluster *c, const struct letter *next)
{
    if (c->last == JOIN_CR)
        return next->join == JOIN_LF;
    if (is_control(c->last) || is_control(next->join))
        return false;
    if (next->join == JOIN_EXTEND || next->join == JOIN_ZWJ || next->join == JOIN_SPACING_MARK ||
        c->last == JOIN_PREPEND)
        return true;
    switch (next->join) {
    case JOIN_HANGUL_L:
    case JOIN_HANGUL_LV:
    case JOIN_HANGUL_LVT:
        return c->last == JOIN_HANGUL_L;
    case JOIN_HANGUL_V:
        return c->last == JOIN_HANGUL_L || c->last == JOIN_HANGUL_LV || c->last == JOIN_HANGUL_V;
    case JOIN_HANGUL_T:
        return c->last == JOIN_HANGUL_LV || c->last == JOIN_HANGUL_LVT ||
               c->last == JOIN_HANGUL_V || c->last == JOIN_HANGUL_T;
    case JOIN_PICTURE:
        return c->has_joiner;
    case JOIN_REGIONAL:
        return c->has_odd_regional;
    default:
        return next->conjunct == CONJUNCT_CONSONANT && c->has_linker;
    }
}

static void add(struct cluster *c, const struct letter *l)
{
    c->last = l->join;
    c->has_odd_regional = l->join == JOIN_REGIONAL && !c->has_odd_regional;
    c->has_joiner = l->join == JOIN_ZWJ && c->has_picture;
    c->has_picture = l->join == JOIN_PICTURE || (l->join == JOIN_EXTEND && c->has_picture);
    c->has_linker = c->has_consonant && (l->conjunct == CONJUNCT_LINKER ||
                                         (l->conjunct == CONJUNCT_EXTEND && c->has_linker));
    c->has_consonant =
        l->conjunct == CONJUNCT_CONSONANT || (l->conjunct != CONJUNCT_NONE && c->has_consonant);
}

/* As terminals count that know clusters: what joins takes the columns of its letters, but no more
 * than the two of a picture, and selector 16 makes a picture of what may be one. */
size_t grapheme_first(struct str text, unsigned *ret_columns)
{
    struct cluster cluster = {0};
    struct letter l, before = {0};
    size_t end = 0;

    *ret_columns = 0;
    while (end < text.n) {
        l = read_letter(str_skip(text, end));
        if (end > 0 && !belongs(&cluster, &l))
            break;
        *ret_columns += l.is_selector && before.is_emoji ? MAX_COLUMNS : l.columns;
        *ret_columns = MIN(*ret_columns, MAX_COLUMNS);
        add(&cluster, &l);
        before = l;
        end += l.n_bytes;
    }
    return end;
}
