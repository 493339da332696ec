/* nearest.h - the lines of a text that are most similar to a text which it does not hold. Private
 * to edits.
 *
 * Helps a model that remembers a text wrongly. Linear in both texts. */
#ifndef KEEL_TOOL_EDIT_NEAREST_H
#define KEEL_TOOL_EDIT_NEAREST_H

#include "base/strbuf.h"

#define NEAREST_MAX_LINES 10

struct nearest_lines {
    size_t first_line, n_lines; /* from 1 */
};

/* Compares whole lines first, then lines without blanks and characters beyond ASCII, then words.
 * False if the texts share nothing. */
bool nearest_find(struct str text, struct str wanted, struct nearest_lines *ret_nearest);

/* Appends the lines with their numbers, cut to a readable length. */
void nearest_add(struct strbuf *out, struct str text, const struct nearest_lines *nearest);

/* Appends "\nline 3 differs after \"...\": ..." if the difference is invisible: a blank, or a
 * character beyond ASCII. Appends nothing if the lines cannot be compared. */
void nearest_add_difference(struct strbuf *out, struct str text, struct str wanted,
                            const struct nearest_lines *nearest);

#endif
