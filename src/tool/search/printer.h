/* printer.h - writes the matching lines of one file with their context, as grep does.
 *
 * Private to the search. It sees the file through a window that moves on: offsets count from the
 * window's start, and grep_printer_move() drops its first bytes. */
#ifndef KEEL_TOOL_GREP_PRINTER_H
#define KEEL_TOOL_GREP_PRINTER_H

#include "tool/search/engine.h"
#include "tool/search/pattern.h"

struct grep_printer {
    const struct grep_query *query;
    size_t max_line_bytes, max_lines, max_bytes;
    struct strbuf path; /* as it is printed */
    struct strbuf text;
    size_t n_lines; /* in text */
    bool is_full;   /* lines were omitted */
    size_t next;    /* lines before it were written or passed */
    bool has_gap;   /* lines were passed since the last written one */
    size_t n_after; /* context lines still to write */
    size_t line_at; /* the start of a line, and its number */
    size_t line_number;
};

void grep_printer_init(struct grep_printer *pr, const struct grep_query *query);
void grep_printer_done(struct grep_printer *pr);

/* Sets `out` to the path as it is printed. */
void grep_print_path(const struct grep_names *names, struct str path, struct strbuf *out);

void grep_printer_begin(struct grep_printer *pr, struct str path);
/* Writes the lines that contain the match, and the context before them. */
void grep_printer_match(struct grep_printer *pr, struct str window, struct grep_span lines,
                        struct grep_span match);
/* The window has no more matches: writes the context after the last one. */
void grep_printer_flush(struct grep_printer *pr, struct str window);
/* Where the window must still begin when it moves on, to keep the context of later matches. */
size_t grep_printer_keep(const struct grep_printer *pr, struct str window);
void grep_printer_move(struct grep_printer *pr, struct str window, size_t n_gone);

#endif
