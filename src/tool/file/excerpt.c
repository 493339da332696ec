/* excerpt.c - picks lines out of a text while it passes. */
#include "tool/file/excerpt.h"

#include "base/utf8.h"

#define KEPT_BYTES                                                                                 \
    ((size_t)4 * EXCERPT_LINE_CHARS) /* of a line: no character has more than four                 \
                                      */

void excerpt_init(struct excerpt *e, struct strbuf *out, size_t first, size_t n_max)
{
    *e = (struct excerpt){.out = out, .first = first, .n_max = n_max, .line = 1};
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

/* Characters, if the bytes before were whole ones. */
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

static void show_line(struct excerpt *e)
{
    struct str line = strbuf_str(&e->start), shown;
    size_t was_n = e->out->n, n_gone;

    if (e->n_more_chars == 0 && str_ends(line, S("\r")))
        line.n--;
    shown = first_chars(line, EXCERPT_LINE_CHARS);
    n_gone = utf8_count(str_skip(line, shown.n)) + e->n_more_chars;
    strbuf_addf(e->out, "%6zu\t", e->line);
    utf8_add_repaired(e->out, shown);
    if (n_gone)
        strbuf_addf(e->out, "... [%zu character%s left out]", n_gone, n_gone == 1 ? "" : "s");
    strbuf_add_char(e->out, '\n');
    if (e->out->n > EXCERPT_MAX_BYTES && e->n_shown) {
        strbuf_cut(e->out, was_n);
        e->is_full = true;
        return;
    }
    e->has_cut_lines |= n_gone > 0;
    e->n_shown++;
}

static void add_to_line(struct excerpt *e, struct str piece)
{
    struct str kept = str_slice(piece, 0, KEPT_BYTES - e->start.n);

    e->is_in_line = true;
    if (!is_wanted(e))
        return;
    strbuf_add(&e->start, kept);
    e->n_more_chars += count_chars(str_skip(piece, kept.n));
}

static void end_line(struct excerpt *e)
{
    if (is_wanted(e))
        show_line(e);
    strbuf_clear(&e->start);
    e->n_more_chars = 0;
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
