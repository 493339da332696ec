/* clip.h - long text cut to size, with a note of what is gone. Pure; never splits a character.
 *
 * Sizes count characters, as the limits of tools do; the note itself comes on top. */
#ifndef KEEL_BASE_CLIP_H
#define KEEL_BASE_CLIP_H

#include "base/strbuf.h"

/* The first and the last part with "... [N characters left out] ..." on a line between them, cut at
 * line ends where one is near. Returns whether anything was cut. */
bool clip_middle(struct strbuf *out, struct str text, size_t max_chars);
/* Head and tail as lines: the first n_head and the last n_tail of them, with a note between. */
bool clip_lines(struct strbuf *out, struct str text, size_t n_head, size_t n_tail);
/* One line, without its end, cut at max_chars with "... [N characters left out]". */
bool clip_line(struct strbuf *out, struct str line, size_t max_chars);

#endif
