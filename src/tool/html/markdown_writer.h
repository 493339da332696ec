/* markdown_writer.h - writes Markdown: the caller says what begins and ends, the writer handles
 * white space, blank lines, prefixes and escapes.
 *
 * Breaks, spaces and opening marks wait until text follows, so that nothing empty is written: no
 * mark around nothing, no blank line at the start or twice. Control characters and characters that
 * reorder or hide text (bidi overrides, zero-width and tag characters) are dropped. What begins
 * must end in reverse order. A mark that is open at the end of a block is closed there and reopened
 * in the next. Prefixes nest up to a limit; deeper blocks stay at that level. */
#ifndef KEEL_TOOL_MARKDOWN_WRITER_H
#define KEEL_TOOL_MARKDOWN_WRITER_H

#include "base/strbuf.h"

#define MARKDOWN_MAX_PREFIXES 24
#define MARKDOWN_MAX_MARKS 32

enum markdown_break { BREAK_NONE, BREAK_HARD, BREAK_LINE, BREAK_BLANK };
enum markdown_mark { MARK_NONE, MARK_STRONG, MARK_EM, MARK_DEL, MARK_LINK };
enum markdown_mode { MODE_TEXT, MODE_CODE, MODE_PRE };

struct markdown_prefix {
    char first[16];  /* "- ", "12. ", "> " */
    char rest[16];   /* of the following lines */
    bool is_written; /* the first prefix is written */
};

struct markdown_writer {
    struct strbuf *out;
    size_t start; /* where the Markdown begins in out */

    enum markdown_break pending;
    bool is_line_open; /* text may follow on this line */
    bool has_space;    /* white space waits for text after it */
    size_t line_start; /* offset in out of the line's text, after its prefixes */
    int heading;       /* level; 0 outside. A heading is written on one line */

    bool is_in_cell, has_cell_break;
    size_t cell_start;

    struct markdown_prefix prefixes[MARKDOWN_MAX_PREFIXES];
    size_t n_prefixes, n_prefixes_beyond;

    struct {
        enum markdown_mark kind;
        bool is_open, is_done; /* a link is written once, even if it spans blocks */
    } marks[MARKDOWN_MAX_MARKS];
    size_t n_marks, n_marks_beyond;
    enum markdown_mark closed_mark; /* the last mark, which ended at closed_at */
    size_t closed_at;
    struct strbuf url; /* of the open link */

    enum markdown_mode mode;
    unsigned n_modes; /* code in code */
    struct strbuf code;
};

void markdown_init(struct markdown_writer *w, struct strbuf *out);
void markdown_done(struct markdown_writer *w);
DEFINE_AUTO_VAL(markdown_writer, markdown_done)

/* Collapses white space as browsers do, except in code. */
void markdown_text(struct markdown_writer *w, struct str text);
void markdown_break(struct markdown_writer *w, enum markdown_break kind); /* LINE or BLANK */
void markdown_line_break(struct markdown_writer *w);                      /* <br> */
void markdown_rule(struct markdown_writer *w);
void markdown_image(struct markdown_writer *w, struct str alt, struct str url);

void markdown_begin_heading(struct markdown_writer *w, int level);
void markdown_end_heading(struct markdown_writer *w);
/* Both are shorter than 16 bytes and do not come from input. */
void markdown_begin_prefix(struct markdown_writer *w, const char *first, const char *rest);
void markdown_end_prefix(struct markdown_writer *w);
/* The next item follows the one before without a blank line. */
void markdown_next_item(struct markdown_writer *w);

void markdown_begin_mark(struct markdown_writer *w, enum markdown_mark kind);
void markdown_begin_link(struct markdown_writer *w, struct str url);
void markdown_end_mark(struct markdown_writer *w);

void markdown_begin_code(struct markdown_writer *w, enum markdown_mode mode);
void markdown_end_code(struct markdown_writer *w, struct str language);

void markdown_begin_row(struct markdown_writer *w);
void markdown_begin_cell(struct markdown_writer *w);
void markdown_end_cell(struct markdown_writer *w);
void markdown_end_row(struct markdown_writer *w);

/* For the files of the writer: opens the line and writes what waits, so that text can follow. */
void markdown_before_text(struct markdown_writer *w);

#endif
