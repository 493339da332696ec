/* lines.h - the lines of a stored result, read block by block.
 *
 * A result may be as large as a blob, so it never stands in memory as a whole. A block holds whole
 * lines. A line longer than STORED_MAX_LINE is taken apart, and the pieces count as lines: so all
 * of a result that is a single line can be reached by line numbers too. */
#ifndef KEEL_TOOL_OUTPUT_LINES_H
#define KEEL_TOOL_OUTPUT_LINES_H

#include "port/blob.h"

#define STORED_BLOCK ((size_t)256 << 10)
#define STORED_MAX_LINE ((size_t)64 << 10) /* bytes */

struct stored_text {
    struct blob_store *blobs;
    struct str handle;
    uint64_t n_bytes;
};

struct stored_lines {
    const struct stored_text *text;
    struct strbuf window;
    uint64_t window_at; /* where in the text the window begins */
    size_t n_given;     /* bytes of the window that the last block was */
};

void stored_lines_init(struct stored_lines *l, const struct stored_text *text); /* borrowed */
void stored_lines_done(struct stored_lines *l);
DEFINE_AUTO_VAL(stored_lines, stored_lines_done)

/* The next whole lines, borrowed until the next call; empty at the end. May wait. */
MUST_USE struct err *stored_lines_next(struct stored_lines *l, struct str *ret_block);
/* Where in the text the last block began. */
static inline uint64_t stored_lines_at(const struct stored_lines *l)
{
    return l->window_at;
}

/* Cuts the first line off a block, with its end; false when the block is used up. */
bool stored_line(struct str *block, struct str *ret_line);

#endif
