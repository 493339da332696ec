/* clip.c - keeps the ends of a long text, and counts what was between them. */
#include "base/clip.h"

#include "base/utf8.h"

/* Bytes of the first n_chars characters; a bad byte counts as one, as in utf8_count(). */
static size_t bytes_of_chars(struct str s, size_t n_chars)
{
    size_t at = 0;

    while (n_chars-- && at < s.n) {
        uint32_t c;
        unsigned n = utf8_decode(str_skip(s, at), &c);

        at += n ? n : 1;
    }
    return at;
}

/* Bytes of the first n_lines lines with their ends. */
static size_t bytes_of_lines(struct str s, size_t n_lines)
{
    size_t at = 0;

    while (n_lines-- && at < s.n) {
        size_t end = str_find_char(str_skip(s, at), '\n');

        at = end == STR_NONE ? s.n : at + end + 1;
    }
    return at;
}

static size_t count_lines(struct str s)
{
    size_t n = 0;

    for (size_t end; s.n && (end = str_find_char(s, '\n')) != STR_NONE; n++)
        s = str_skip(s, end + 1);
    return n + (s.n > 0);
}

/* A cut within the last or first quarter may move to a line end there. */
#define NEAR_PART 4

/* Shortens the first part to whole lines when that costs little. */
static size_t settle_head(struct str text, size_t head)
{
    size_t line_end = str_rfind_char(str_slice(text, 0, head), '\n');

    if (line_end != STR_NONE && head - (line_end + 1) <= head / NEAR_PART)
        return line_end + 1;
    if (head && head < text.n && text.p[head - 1] == '\r' && text.p[head] == '\n')
        return head - 1;
    return head;
}

/* The same for the start of the last part. */
static size_t settle_tail(struct str text, size_t tail)
{
    struct str last = str_skip(text, tail);
    size_t line_end = str_find_char(str_slice(last, 0, last.n / NEAR_PART), '\n');

    if (tail && last.n && text.p[tail - 1] == '\n')
        return tail;
    if (line_end != STR_NONE)
        return tail + line_end + 1;
    if (tail && last.n && text.p[tail - 1] == '\r' && text.p[tail] == '\n')
        return tail + 1;
    return tail;
}

/* Writes a note on a line of its own between text[..head] and text[tail..]. */
static void add_ends(struct strbuf *out, struct str text, size_t head, size_t tail, size_t n_gone,
                     const char *unit)
{
    strbuf_add(out, str_slice(text, 0, head));
    if (head && text.p[head - 1] != '\n')
        strbuf_add_char(out, '\n');
    strbuf_addf(out, "... [%zu %s%s left out] ...", n_gone, unit, n_gone == 1 ? "" : "s");
    if (tail < text.n)
        strbuf_add_char(out, '\n');
    strbuf_add(out, str_skip(text, tail));
}

bool clip_middle(struct strbuf *out, struct str text, size_t max_chars)
{
    size_t n_chars = text.n > max_chars ? utf8_count(text) : 0;
    size_t n_tail = max_chars / 2, head, tail;

    if (n_chars <= max_chars) {
        strbuf_add(out, text);
        return false;
    }
    head = bytes_of_chars(text, max_chars - n_tail);
    tail = head + bytes_of_chars(str_skip(text, head), n_chars - max_chars);
    head = settle_head(text, head);
    tail = settle_tail(text, tail);
    add_ends(out, text, head, tail, utf8_count(str_slice(text, head, tail - head)), "character");
    return true;
}

bool clip_lines(struct strbuf *out, struct str text, size_t n_head, size_t n_tail)
{
    size_t n_lines = count_lines(text), head, tail;

    if (n_lines <= n_head || n_lines - n_head <= n_tail) {
        strbuf_add(out, text);
        return false;
    }
    head = bytes_of_lines(text, n_head);
    tail = head + bytes_of_lines(str_skip(text, head), n_lines - n_head - n_tail);
    add_ends(out, text, head, tail, n_lines - n_head - n_tail, "line");
    return true;
}

bool clip_line(struct strbuf *out, struct str line, size_t max_chars)
{
    size_t head = line.n > max_chars ? bytes_of_chars(line, max_chars) : line.n;
    size_t n_gone = utf8_count(str_skip(line, head));

    strbuf_add(out, str_slice(line, 0, head));
    if (n_gone == 0)
        return false;
    strbuf_addf(out, "... [%zu character%s left out]", n_gone, n_gone == 1 ? "" : "s");
    return true;
}
