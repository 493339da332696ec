/* nearest.h - the lines of a text that are most like a text which is not in it. Private to
 * edits.
 *
 * For the model that looks for what it remembers wrongly. Linear in both texts. */
#ifndef KEEL_TOOL_EDIT_NEAREST_H
#define KEEL_TOOL_EDIT_NEAREST_H

#include "base/strbuf.h"

#define NEAREST_MAX_LINES 10

struct nearest_lines {
    size_t first_line, n_lines; /* from 1 */
};

/* By lines that both have, or that are the same but for blanks and characters beyond ASCII, or if
 * there is none by words. False when they share nothing. */
bool nearest_find(struct str text, struct str wanted, struct nearest_lines *ret_nearest);

/* The lines with their numbers, cut to a readable length. */
void nearest_add(struct strbuf *out, struct str text, const struct nearest_lines *nearest);

/* Appends "\nline 3 differs at its character 4: ..." where the difference cannot be seen: a blank,
 * or a character beyond ASCII. Nothing where the lines cannot be compared. */
void nearest_add_difference(struct strbuf *out, struct str text, struct str wanted,
                            const struct nearest_lines *nearest);

#endif
