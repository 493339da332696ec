/* stored.h - reads a stored tool result: its lines, the lines that match, and parts of it as text.
 *
 * A result may be as large as a blob, so it is never in memory as a whole. Everything here may
 * wait. */
#ifndef KEEL_TOOL_OUTPUT_STORED_H
#define KEEL_TOOL_OUTPUT_STORED_H

#include "port/blob.h"

/* --- lines, block by block (lines.c) --- */

/* A block holds whole lines. A line longer than STORED_MAX_LINE is split, and the pieces count as
 * lines: line numbers reach every part of a result that is one single line. */
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
    uint64_t window_at; /* offset in the text of the window */
    size_t n_given;     /* bytes of the window in the last block */
};

void stored_lines_init(struct stored_lines *l, const struct stored_text *text); /* borrowed */
void stored_lines_done(struct stored_lines *l);
DEFINE_AUTO_VAL(stored_lines, stored_lines_done)

/* The next whole lines, borrowed until the next call; empty at the end. May wait. */
MUST_USE struct err *stored_lines_next(struct stored_lines *l, struct str *ret_block);
/* Offset in the text of the last block. */
static inline uint64_t stored_lines_at(const struct stored_lines *l)
{
    return l->window_at;
}

/* Cuts off the first line with its end; false if the block is used up. */
bool stored_line(struct str *block, struct str *ret_line);

/* --- finding (find.c) --- */

#define STORED_MAX_WORDS 16

struct found_line {
    uint64_t number; /* of the line, from 1 */
    size_t match_at; /* bytes from its start to the first match */
};

struct found_lines {
    struct found_line *lines; /* in the order of the text; in an arena */
    size_t n;
    bool has_more; /* other lines match too */
};

/* The first `max` lines, from line `from` on, that match the regular expression. ERR_VALIDATION:
 * the pattern is wrong, or takes too many steps. */
MUST_USE struct err *stored_find_pattern(const struct stored_text *text, struct str pattern,
                                         uint64_t from, size_t max, struct arena *a,
                                         struct found_lines *ret_found);
/* The `max` lines, from line `from` on, with the most words of `wanted`, ignoring case. Rare words
 * count for more. */
MUST_USE struct err *stored_find_words(const struct stored_text *text, struct str wanted,
                                       uint64_t from, size_t max, struct arena *a,
                                       struct found_lines *ret_found);

/* --- showing (show.c) --- */

/* The output is limited, so that it is not stored and replaced in turn. Its last line says what it
 * is and how to continue. Text that is not UTF-8 is repaired. */

/* `n` lines from line `from` on, with their numbers. ERR_VALIDATION: there is no such line. */
MUST_USE struct err *stored_show_lines(const struct stored_text *text, uint64_t from, size_t n,
                                       struct strbuf *out);
/* The found lines with n_context lines around them: "12:found", "13-beside it". */
MUST_USE struct err *stored_show_found(const struct stored_text *text,
                                       const struct found_lines *found, size_t n_context,
                                       struct strbuf *out, size_t *ret_n_shown);
/* Everything that fits from a byte on, without omissions. ERR_VALIDATION: it is after the end. */
MUST_USE struct err *stored_show_chunk(const struct stored_text *text, uint64_t from,
                                       struct strbuf *out);
/* The head and the tail. */
MUST_USE struct err *stored_show_ends(const struct stored_text *text, struct strbuf *out);

#endif
