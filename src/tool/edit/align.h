/* align.h - which line of the old text a line of the new one comes from, and what such a line keeps
 * of the file. Private to edits.
 *
 * Where the file has a quote or a dash of another kind than the old text, the model has not seen
 * which: what the edit leaves alone keeps the file's, and what it writes itself must not depend on
 * the answer. */
#ifndef KEEL_TOOL_EDIT_ALIGN_H
#define KEEL_TOOL_EDIT_ALIGN_H

#include "base/strbuf.h"

/* For a line of the new text. Without a line that it comes from it belongs to a gap: lines of the
 * old text that have none either. */
struct line_origin {
    bool is_known;
    size_t line; /* of the old text; if it is not known the one in this place, or gap_to */
    size_t gap_from, gap_to; /* unless it is known */
};

/* A range of lines of both texts. */
struct line_range {
    const struct str *old_lines, *new_lines;
    const struct str *old_bodies, *new_bodies; /* the same by align_body() */
    size_t old_from, old_to, new_from, new_to;
};

/* A line without blanks around it. */
struct str align_body(struct str line);

/* Fills origins[new_from .. new_to): lines that are the same, in order, and between those the lines
 * of a gap one by one if it has as many of both. */
void align_lines(const struct line_range *r, struct line_origin *origins);

/* The kinds of quotes and dashes of the old body that the file has otherwise; both are the same
 * when folded. A set as fold_kinds() gives it. */
uint32_t align_forgiven(struct str old_body, struct str found);

/* Appends what becomes of the body `found` of the file. False: a quote or a dash of what is new
 * could be the file's or another. */
MUST_USE bool align_add(struct strbuf *out, struct str old_body, struct str new_body,
                        struct str found);

#endif
