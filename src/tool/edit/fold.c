/* fold.c - folds text unit by unit. */
#include "tool/edit/fold.h"

#include "base/utf8.h"

/* Spaces of Unicode that a model writes as " ". */
static bool is_wide_blank(uint32_t c)
{
    return c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F ||
           c == 0x3000;
}

/* The ASCII character that a model may write for this one, or 0. */
static char plain_form(uint32_t c)
{
    if ((c >= 0x2018 && c <= 0x201B) || c == 0x2032)
        return '\'';
    if ((c >= 0x201C && c <= 0x201F) || c == 0x2033)
        return '"';
    if ((c >= 0x2010 && c <= 0x2015) || c == 0x2212)
        return '-';
    return 0;
}

/* Bytes of the line end at the start of s, or 0. */
static size_t newline_at(struct str s)
{
    return str_starts(s, S("\n")) ? 1 : str_starts(s, S("\r\n")) ? 2 : 0;
}

size_t fold_blank(struct str s)
{
    uint32_t c;
    unsigned n = utf8_decode(s, &c);

    if (n == 0)
        return 0;
    if (c == ' ' || c == '\t' || c == '\v' || c == '\f' || is_wide_blank(c))
        return n;
    return c == '\r' && !newline_at(s) ? 1 : 0;
}

void fold_init(struct fold *f, struct str text, enum fold_level level, bool is_part)
{
    *f = (struct fold){.text = text, .level = level, .is_part = is_part};
    f->at_line_start = !is_part;
}

static void take(struct fold *f, char c, size_t n_bytes, struct fold_unit *ret_unit)
{
    *ret_unit = (struct fold_unit){c, f->at, f->at + n_bytes};
    f->at += n_bytes;
    f->at_line_start = c == '\n';
    f->after_blank = c == ' ';
}

static bool next_blank(struct fold *f, struct str rest, struct fold_unit *ret_unit)
{
    size_t n = 0, more;

    while ((more = fold_blank(str_skip(rest, n))))
        n += more;
    if (n == 0 && (f->after_blank || (!f->at_line_start && rest.n && !newline_at(rest))))
        return false;
    take(f, ' ', n, ret_unit);
    return true;
}

/* A last line without an end is folded as if it had one. */
static bool next_at_end(struct fold *f, struct fold_unit *ret_unit)
{
    if (f->level < FOLD_BLANKS || str_ends(f->text, S("\n")) || f->text.n == 0)
        return false;
    take(f, '\n', 0, ret_unit);
    f->ended = true;
    return true;
}

bool fold_next(struct fold *f, struct fold_unit *ret_unit)
{
    struct str rest = str_skip(f->text, f->at);
    size_t n_newline = newline_at(rest);
    uint32_t c;
    unsigned n;

    if (rest.n == 0 && (f->is_part || f->ended))
        return false;
    if (f->level == FOLD_BLANKS && next_blank(f, rest, ret_unit))
        return true;
    if (rest.n == 0)
        return next_at_end(f, ret_unit);
    if (n_newline) {
        take(f, '\n', n_newline, ret_unit);
        return true;
    }
    n = f->level == FOLD_BLANKS && (unsigned char)rest.p[0] >= 0x80 ? utf8_decode(rest, &c) : 0;
    if (n && plain_form(c))
        take(f, plain_form(c), n, ret_unit);
    else
        take(f, rest.p[0], 1, ret_unit);
    return true;
}

size_t fold_max_bytes(struct str text)
{
    return 2 * text.n + 4; /* each line may gain two blanks, the last one also a newline */
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
