/* printer.c - the text of a search in one file: "path:12:line", context, separators. */
#include "tool/search/printer.h"

#include "base/quoted.h"
#include "base/utf8.h"

#define DEFAULT_LINE_BYTES 2000
#define DEFAULT_OUTPUT_BYTES ((size_t)1 << 20)
#define MAX_FILE_OUTPUT ((size_t)64 << 20)
#define MAX_CONTEXT_BYTES ((size_t)1 << 20) /* of lines kept before a match */

void grep_printer_init(struct grep_printer *pr, const struct grep_query *query)
{
    size_t max_output = query->max_output_bytes ? query->max_output_bytes : DEFAULT_OUTPUT_BYTES;

    *pr = (struct grep_printer){.query = query};
    pr->max_line_bytes = query->max_line_bytes ? query->max_line_bytes : DEFAULT_LINE_BYTES;
    pr->max_lines = SIZE_MAX;
    if (query->head_limit && query->offset < SIZE_MAX - query->head_limit)
        pr->max_lines = query->offset + query->head_limit;
    pr->max_bytes = query->offset ? MAX_FILE_OUTPUT : MIN(max_output, MAX_FILE_OUTPUT);
}

void grep_printer_done(struct grep_printer *pr)
{
    strbuf_done(&pr->path);
    strbuf_done(&pr->text);
}

void grep_print_path(const struct grep_names *names, struct str path, struct strbuf *out)
{
    AUTO(strbuf) struct strbuf whole = {0};

    strbuf_add(&whole, names->prefix);
    strbuf_add(&whole, path);
    strbuf_clear(out);
    quoted_add(out, strbuf_str(&whole));
}

void grep_printer_begin(struct grep_printer *pr, struct str path)
{
    grep_print_path(&pr->query->names, path, &pr->path);
    strbuf_clear(&pr->text);
    pr->n_lines = 0;
    pr->is_full = false;
    pr->next = 0;
    pr->has_gap = false;
    pr->n_after = 0;
    pr->line_at = 0;
    pr->line_number = 1;
}

/* --- lines --- */

static size_t line_end(struct str window, size_t at)
{
    const char *newline = memchr(window.p + at, '\n', window.n - at);

    return newline ? (size_t)(newline - window.p) : window.n;
}

/* The start of the line before the one that starts at `at`. */
static size_t line_before(struct str window, size_t at)
{
    const char *newline = at > 1 ? memrchr(window.p, '\n', at - 1) : NULL;

    return newline ? (size_t)(newline - window.p) + 1 : 0;
}

static void count_lines(struct grep_printer *pr, struct str window, size_t at)
{
    size_t n = 0;

    if (pr->query->line_numbers)
        for (size_t i = pr->line_at; i < at; i++)
            n += window.p[i] == '\n';
    pr->line_number += n;
    pr->line_at = at;
}

/* The part of a long line that contains the start of the match. */
static void add_cut_line(struct grep_printer *pr, struct str line, struct grep_span match)
{
    size_t max = pr->max_line_bytes, start = 0;
    struct str part;

    if (match.end > max) {
        start = match.start - MIN(match.start, max / 4);
        while (start < line.n && ((line.p[start] & 0xC0) == 0x80))
            start++;
    }
    part = utf8_truncate(str_skip(line, start), max);
    if (start)
        strbuf_add(&pr->text, S("... "));
    utf8_add_repaired(&pr->text, part);
    if (start + part.n < line.n)
        strbuf_add(&pr->text, S(" ..."));
}

/* Whether there is room for another line; remembers if not. */
static bool has_room(struct grep_printer *pr)
{
    pr->is_full |= pr->n_lines >= pr->max_lines || pr->text.n > pr->max_bytes;
    return !pr->is_full;
}

/* "path:12:", for the line at `start`. */
static void add_place(struct grep_printer *pr, struct str window, size_t start, char mark)
{
    strbuf_add(&pr->text, strbuf_str(&pr->path));
    strbuf_add_char(&pr->text, mark);
    if (pr->query->line_numbers) {
        count_lines(pr, window, start);
        strbuf_addf(&pr->text, "%zu%c", pr->line_number, mark);
    }
}

/* Writes the line at `next` and moves on. */
static void add_line(struct grep_printer *pr, struct str window, char mark, struct grep_span match)
{
    size_t start = pr->next, end = line_end(window, start);
    struct str line = str_slice(window, start, end - start);

    pr->next = end + 1;
    if (!has_room(pr))
        return;
    add_place(pr, window, start, mark);
    if (str_ends(line, S("\r")))
        line.n--;
    if (line.n <= pr->max_line_bytes) {
        utf8_add_repaired(&pr->text, line);
    } else {
        match.start = match.start > start ? match.start - start : 0;
        match.end = match.end > start ? match.end - start : 0;
        add_cut_line(pr, line, match);
    }
    strbuf_add_char(&pr->text, '\n');
    pr->n_lines++;
}

static void add_separator(struct grep_printer *pr)
{
    if (!has_room(pr))
        return;
    strbuf_add(&pr->text, S("--\n"));
    pr->n_lines++;
}

/* --- matches --- */

static const struct grep_span no_match = {0, 0};

static void add_after(struct grep_printer *pr, struct str window, size_t until)
{
    for (; pr->n_after && pr->next < until; pr->n_after--)
        add_line(pr, window, '-', no_match);
}

/* The start of the context before the line at `at`, without lines that were written already. */
static size_t find_before(const struct grep_printer *pr, struct str window, size_t at)
{
    size_t start = at;

    for (unsigned i = 0; i < pr->query->n_before && start > pr->next; i++)
        start = line_before(window, start);
    return MAX(start, pr->next);
}

/* Writes the match, one line of it at a time. */
static void add_match(struct grep_printer *pr, struct str window, struct grep_span match)
{
    while (match.start < match.end && has_room(pr)) {
        size_t end = MIN(line_end(window, match.start), match.end);
        struct str part = str_slice(window, match.start, end - match.start);

        add_place(pr, window, match.start, ':');
        if (str_ends(part, S("\r")))
            part.n--;
        add_cut_line(pr, part, no_match);
        strbuf_add_char(&pr->text, '\n');
        pr->n_lines++;
        match.start = end + 1;
    }
}

void grep_printer_match(struct grep_printer *pr, struct str window, struct grep_span lines,
                        struct grep_span match)
{
    size_t start = MAX(lines.start, pr->next), before;

    if (pr->query->only_matching) {
        add_match(pr, window, match);
        pr->next = start;
        return;
    }
    if (pr->is_full || lines.end < start)
        return;
    add_after(pr, window, start);
    before = find_before(pr, window, start);
    pr->has_gap |= before > pr->next;
    if (pr->has_gap && pr->n_lines && (pr->query->n_before || pr->query->n_after))
        add_separator(pr);
    pr->has_gap = false;

    pr->next = before;
    while (pr->next < start)
        add_line(pr, window, '-', no_match);
    while (pr->next <= lines.end)
        add_line(pr, window, ':', match);
    pr->n_after = pr->query->n_after;
}

void grep_printer_flush(struct grep_printer *pr, struct str window)
{
    add_after(pr, window, window.n);
}

size_t grep_printer_keep(const struct grep_printer *pr, struct str window)
{
    size_t keep = find_before(pr, window, window.n);

    return window.n - keep > MAX_CONTEXT_BYTES ? window.n : keep;
}

void grep_printer_move(struct grep_printer *pr, struct str window, size_t n_gone)
{
    count_lines(pr, window, MAX(n_gone, pr->line_at));
    pr->line_at -= n_gone;
    pr->has_gap |= pr->next < n_gone;
    pr->next = pr->next < n_gone ? 0 : pr->next - n_gone;
}
