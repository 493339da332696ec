/* clip.h - cuts long text to size, with a note of what is missing. Pure; never splits a character.
 *
 * Sizes count characters, like the limits of tools; the note is extra. */
#ifndef KEEL_BASE_CLIP_H
#define KEEL_BASE_CLIP_H

#include "base/strbuf.h"

/* Keeps the first and the last part with "... [N characters left out] ..." on a line between them,
 * cut at line ends if one is near. Returns whether anything was cut. */
bool clip_middle(struct strbuf *out, struct str text, size_t max_chars);
/* Keeps the first n_head and the last n_tail lines, with a note between them. */
bool clip_lines(struct strbuf *out, struct str text, size_t n_head, size_t n_tail);
/* One line, without its end, cut at max_chars with "... [N characters left out]". */
bool clip_line(struct strbuf *out, struct str line, size_t max_chars);

#endif
