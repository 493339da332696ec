/* excerpt.h - some lines of a text that comes in pieces, with their numbers, within limits. Pure.
 *
 * Writes lines as number, tab, text. It cuts long lines with a note that says how to continue,
 * drops "\r" before a line end and repairs bad UTF-8. It only counts what it does not show, so that
 * the text may be of any length. */
#ifndef KEEL_TOOL_FILE_EXCERPT_H
#define KEEL_TOOL_FILE_EXCERPT_H

#include "tool/file/seen.h"

#define EXCERPT_MAX_BYTES ((size_t)100000) /* about 25,000 tokens */
#define EXCERPT_LINE_CHARS 10000
#define EXCERPT_COLUMN_CHARS 50000 /* of a line that is read from a column on */

struct excerpt {
    struct strbuf *out;     /* borrowed */
    struct file_seen *seen; /* borrowed; records what is shown */
    size_t first, n_max;    /* the lines to show */
    size_t column;          /* of the first of them, from 1 */
    size_t line;            /* number of the current line, from 1 */
    size_t n_shown;         /* lines */
    struct seen_part part;  /* of the first line, from the column on */
    size_t n_first_chars;   /* of the first line to show, if it ends before the column */
    bool has_nuls;          /* a shown line has NUL bytes */
    bool is_full;           /* one more line would exceed EXCERPT_MAX_BYTES */
    bool is_in_line;        /* private from here on */
    struct strbuf start;    /* of the current line, from the column on */
    size_t n_skipped;       /* characters of it before that */
    size_t n_more_chars;    /* characters of it after that */
};

void excerpt_init(struct excerpt *e, struct strbuf *out, size_t first, size_t n_max, size_t column,
                  struct file_seen *seen);
void excerpt_done(struct excerpt *e);
DEFINE_AUTO_VAL(excerpt, excerpt_done)

void excerpt_add(struct excerpt *e, struct str text);
void excerpt_end(struct excerpt *e); /* the text has ended; its last line may lack an end */

/* No further line will be shown. */
bool excerpt_is_done(const struct excerpt *e);
/* Number of lines so far, whole ones until excerpt_end(). */
size_t excerpt_n_lines(const struct excerpt *e);

#endif
