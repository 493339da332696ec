/* excerpt.c - picks lines out of a text as it passes. */
#include "tool/file/excerpt.h"

#include "base/utf8.h"

void excerpt_init(struct excerpt *e, struct strbuf *out, size_t first, size_t n_max, size_t column,
                  struct file_seen *seen)
{
    *e = (struct excerpt){.out = out,
                          .seen = seen,
                          .first = first,
                          .n_max = n_max,
                          .column = MAX(column, (size_t)1),
                          .line = 1};
}

void excerpt_done(struct excerpt *e)
{
    strbuf_done(&e->start);
}

static bool is_wanted(const struct excerpt *e)
{
    return e->line >= e->first && e->line - e->first < e->n_max && !e->is_full;
}

bool excerpt_is_done(const struct excerpt *e)
{
    return e->is_full || (e->line >= e->first && e->line - e->first >= e->n_max);
}

size_t excerpt_n_lines(const struct excerpt *e)
{
    return e->line - 1;
}

/* Counts characters, if the bytes before were whole ones. */
static size_t count_chars(struct str s)
{
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++)
        n += (s.p[i] & 0xC0) != 0x80;
    return n;
}

static struct str first_chars(struct str s, size_t n_chars)
{
    size_t at = 0;

    while (n_chars-- && at < s.n) {
        uint32_t c;
        unsigned n = utf8_decode(str_skip(s, at), &c);

        at += n ? n : 1;
    }
    return str_slice(s, 0, at);
}

/* Number of characters to skip in the current line. */
static size_t n_to_skip(const struct excerpt *e)
{
    return e->line == e->first ? e->column - 1 : 0;
}

static size_t max_chars(const struct excerpt *e)
{
    return n_to_skip(e) ? EXCERPT_COLUMN_CHARS : EXCERPT_LINE_CHARS;
}

static void note_seen(struct excerpt *e, size_t n_chars, bool is_end)
{
    size_t from = n_to_skip(e) + 1;
    struct seen_part part = {e->line, from, from + n_chars - 1, is_end};

    if (from > 1)
        e->part = part;
    else if (is_end)
        file_seen_add_lines(e->seen, e->line, e->line);
    else
        file_seen_add_part(e->seen, &part);
}

static void show_line(struct excerpt *e)
{
    struct str line = strbuf_str(&e->start), shown;
    size_t was_n = e->out->n, n_gone, n_chars;

    if (e->n_more_chars == 0 && str_ends(line, S("\r")))
        line.n--;
    shown = first_chars(line, max_chars(e));
    n_gone = utf8_count(str_skip(line, shown.n)) + e->n_more_chars;
    n_chars = utf8_count(shown);
    strbuf_addf(e->out, "%zu\t", e->line);
    utf8_add_repaired(e->out, shown);
    if (n_gone)
        strbuf_addf(e->out,
                    "... [%zu character%s left out; to continue in this line, set offset to %zu "
                    "and column to %zu]",
                    n_gone, n_gone == 1 ? "" : "s", e->line, n_to_skip(e) + n_chars + 1);
    strbuf_add_char(e->out, '\n');
    if (e->out->n > EXCERPT_MAX_BYTES && e->n_shown) {
        strbuf_cut(e->out, was_n);
        e->is_full = true;
        return;
    }
    note_seen(e, n_chars, n_gone == 0);
    e->has_nuls |= str_find_char(shown, '\0') != STR_NONE;
    e->n_shown++;
}

/* Drops the characters before the column. */
static struct str skip_to_column(struct excerpt *e, struct str piece)
{
    size_t at = 0, n = n_to_skip(e);

    if (n == 0 || e->start.n)
        return piece;
    for (; at < piece.n; at++) {
        if ((piece.p[at] & 0xC0) == 0x80)
            continue;
        if (e->n_skipped == n)
            break;
        e->n_skipped++;
    }
    return str_skip(piece, at);
}

static void add_to_line(struct excerpt *e, struct str piece)
{
    struct str kept;

    e->is_in_line = true;
    if (!is_wanted(e))
        return;
    piece = skip_to_column(e, piece);
    kept = str_slice(piece, 0,
                     4 * max_chars(e) - e->start.n); /* no character has more than four bytes */
    strbuf_add(&e->start, kept);
    e->n_more_chars += count_chars(str_skip(piece, kept.n));
}

static void end_line(struct excerpt *e)
{
    if (is_wanted(e) && n_to_skip(e) && e->start.n == 0)
        e->n_first_chars = e->n_skipped;
    else if (is_wanted(e))
        show_line(e);
    strbuf_clear(&e->start);
    e->n_more_chars = e->n_skipped = 0;
    e->is_in_line = false;
    e->line++;
}

void excerpt_add(struct excerpt *e, struct str text)
{
    while (text.n) {
        size_t end = str_find_char(text, '\n');

        add_to_line(e, str_slice(text, 0, MIN(end, text.n)));
        if (end == STR_NONE)
            return;
        end_line(e);
        text = str_skip(text, end + 1);
    }
}

void excerpt_end(struct excerpt *e)
{
    if (e->is_in_line)
        end_line(e);
}
