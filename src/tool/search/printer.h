/* printer.h - writes the lines of one file that match, with their context, as grep does.
 *
 * Private to the search. It is shown the file through a window that moves on: offsets count from
 * the window's start, and grep_printer_move() says that its first bytes are gone. */
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
    bool is_full;   /* lines were left out */
    size_t next;    /* lines before it have been written or passed by */
    bool has_gap;   /* lines were passed by since the last one written */
    size_t n_after; /* context lines still to come */
    size_t line_at; /* the start of a line, and its number */
    size_t line_number;
};

void grep_printer_init(struct grep_printer *pr, const struct grep_query *query);
void grep_printer_done(struct grep_printer *pr);

/* Sets `out` to the path as it is printed. */
void grep_print_path(const struct grep_names *names, struct str path, struct strbuf *out);

void grep_printer_begin(struct grep_printer *pr, struct str path);
/* The lines that hold the match, whose ends they are given by, and the context before them. */
void grep_printer_match(struct grep_printer *pr, struct str window, struct grep_span lines,
                        struct grep_span match);
/* There are no more matches in the window: the context after the last one. */
void grep_printer_flush(struct grep_printer *pr, struct str window);
/* Where the window must still begin when it moves on: the context of what may come. */
size_t grep_printer_keep(const struct grep_printer *pr, struct str window);
void grep_printer_move(struct grep_printer *pr, struct str window, size_t n_gone);

#endif
