/* fold.c - folds text unit by unit. */
#include "tool/edit/fold.h"

#include "base/utf8.h"

/* Characters that a model may write as an ASCII one. */
static const struct {
    uint32_t first, last;
    char plain;
} kinds[] = {
    {'\'', '\'', '\''},     {'"', '"', '"'},        {'-', '-', '-'},
    {0x2018, 0x201B, '\''}, {0x2032, 0x2032, '\''}, {0x201C, 0x201F, '"'},
    {0x2033, 0x2033, '"'},  {0x2010, 0x2015, '-'},  {0x2212, 0x2212, '-'},
};

/* The ASCII form of the character, or 0. */
static char plain_form(uint32_t c)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (c >= kinds[i].first && c <= kinds[i].last)
            return kinds[i].plain;
    return 0;
}

uint32_t fold_kinds(struct str s)
{
    uint32_t set = 0, c;

    for (unsigned n; s.n; s = str_skip(s, n ? n : 1)) {
        unsigned bit = 0;

        n = utf8_decode(s, &c);
        for (size_t i = 0; n && i < ARRAY_LEN(kinds); i++) {
            if (c >= kinds[i].first && c <= kinds[i].last)
                set |= UINT32_C(1) << (bit + (c - kinds[i].first));
            bit += kinds[i].last - kinds[i].first + 1;
        }
    }
    return set;
}

/* Number of bytes of the line end at the start of s, or 0. */
static size_t newline_at(struct str s)
{
    return str_starts(s, S("\n")) ? 1 : str_starts(s, S("\r\n")) ? 2 : 0;
}

size_t fold_blanks(struct str s)
{
    size_t n = 0;

    while (n < s.n && (s.p[n] == ' ' || s.p[n] == '\t'))
        n++;
    return n;
}

void fold_init(struct fold *f, struct str text, enum fold_level level, bool is_part)
{
    *f = (struct fold){.text = text, .level = level, .is_part = is_part, .at_line_start = true};
}

static void take_unit(struct fold *f, char c, size_t n_bytes, struct fold_unit *ret_unit)
{
    *ret_unit = (struct fold_unit){c, f->at, f->at + n_bytes};
    f->at += n_bytes;
    f->at_line_start = c == '\n';
}

/* Skips an indentation. If only blanks are left before the line's end, returns their number. Looks
 * at blanks inside a line once. */
static size_t skip_blanks(struct fold *f)
{
    struct str rest = str_skip(f->text, f->at);
    size_t n = f->at < f->inner_until ? 0 : fold_blanks(rest);

    if (n == 0)
        return 0;
    rest = str_skip(rest, n);
    if (rest.n == 0 || newline_at(rest))
        return n;
    if (f->at_line_start)
        f->at += n;
    else
        f->inner_until = f->at + n;
    return 0;
}

/* A last line without an end is folded as if it had one. */
static bool next_at_end(struct fold *f, struct fold_unit *ret_unit)
{
    f->at = f->text.n;
    if (f->level < FOLD_BLANKS || f->is_part || f->ended || str_ends(f->text, S("\n")) ||
        f->text.n == 0)
        return false;
    take_unit(f, '\n', 0, ret_unit);
    f->ended = true;
    return true;
}

bool fold_next(struct fold *f, struct fold_unit *ret_unit)
{
    size_t n_blanks = f->level == FOLD_BLANKS ? skip_blanks(f) : 0, n_newline;
    struct str rest = str_skip(f->text, f->at);
    uint32_t c;
    unsigned n;

    if (rest.n == n_blanks)
        return next_at_end(f, ret_unit);
    n_newline = newline_at(str_skip(rest, n_blanks));
    if (n_newline) {
        take_unit(f, '\n', n_blanks + n_newline, ret_unit);
        return true;
    }
    n = f->level == FOLD_BLANKS && (unsigned char)rest.p[0] >= 0x80 ? utf8_decode(rest, &c) : 0;
    if (n && plain_form(c))
        take_unit(f, plain_form(c), n, ret_unit);
    else
        take_unit(f, rest.p[0], 1, ret_unit);
    return true;
}

size_t fold_max_bytes(struct str text)
{
    return text.n + 1; /* the last line may gain a newline */
}

void fold_add(struct strbuf *out, struct str text, enum fold_level level, bool is_part)
{
    char *to = strbuf_reserve(out, fold_max_bytes(text));
    struct fold_unit unit;
    struct fold f;
    size_t n = 0;

    if (!to)
        return;
    fold_init(&f, text, level, is_part);
    while (fold_next(&f, &unit))
        to[n++] = unit.c;
    strbuf_grew(out, n);
}
