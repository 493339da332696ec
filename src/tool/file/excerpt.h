/* excerpt.h - some lines of a text that comes in pieces, with their numbers, within caps. Pure.
 *
 * Lines are written as number, tab, text. Long ones are cut with a note that says
 * how to read on, "\r" before a line end is dropped, and bad UTF-8 is repaired. What is not shown
 * is only counted, so that the text may be of any length. */
#ifndef KEEL_TOOL_FILE_EXCERPT_H
#define KEEL_TOOL_FILE_EXCERPT_H

#include "tool/file/seen.h"

#define EXCERPT_MAX_BYTES ((size_t)100000) /* about 25,000 tokens */
#define EXCERPT_LINE_CHARS 10000
#define EXCERPT_COLUMN_CHARS 50000 /* of a line that is read from a column on */

struct excerpt {
    struct strbuf *out;     /* borrowed */
    struct file_seen *seen; /* borrowed; gets what is shown */
    size_t first, n_max;    /* lines that are wanted */
    size_t column;          /* of the first of them, from 1 */
    size_t line;            /* the number of the line that comes, from 1 */
    size_t n_shown;         /* lines */
    struct seen_part part;  /* of the first line, from the column on */
    size_t n_first_chars;   /* of the first line that is wanted, if it ends before the column */
    bool has_nuls;          /* something that is shown has */
    bool is_full;           /* EXCERPT_MAX_BYTES would have been passed */
    bool is_in_line;        /* the private rest */
    struct strbuf start;    /* of the line that comes, from the column on */
    size_t n_skipped;       /* characters of it, before that */
    size_t n_more_chars;    /* of it, after that */
};

void excerpt_init(struct excerpt *e, struct strbuf *out, size_t first, size_t n_max, size_t column,
                  struct file_seen *seen);
void excerpt_done(struct excerpt *e);
DEFINE_AUTO_VAL(excerpt, excerpt_done)

void excerpt_add(struct excerpt *e, struct str text);
void excerpt_end(struct excerpt *e); /* the text is over: its last line may have no end */

/* What still comes will not be shown. */
bool excerpt_is_done(const struct excerpt *e);
/* Lines that have come, whole ones until excerpt_end(). */
size_t excerpt_n_lines(const struct excerpt *e);

#endif
