/* align.h - which old line a new line comes from, and what that line keeps of the file. Private to
 * edits.
 *
 * Where the file has another kind of quote or dash than the old text, the model has not seen which.
 * Unchanged text keeps the file's character. New text must not depend on it. */
#ifndef KEEL_TOOL_EDIT_ALIGN_H
#define KEEL_TOOL_EDIT_ALIGN_H

#include "base/strbuf.h"

/* Where a line of the new text comes from. Without an origin it belongs to a gap: a run of old
 * lines that have no counterpart either. */
struct line_origin {
    bool is_known;
    size_t line;             /* of the old text; if unknown, the one at this position, or gap_to */
    size_t gap_from, gap_to; /* if unknown */
};

/* A range of lines in both texts. */
struct line_range {
    const struct str *old_lines, *new_lines;
    const struct str *old_bodies, *new_bodies; /* the same lines, as align_body() returns them */
    size_t old_from, old_to, new_from, new_to;
};

/* A line without the blanks around it. */
struct str align_body(struct str line);

/* Fills origins[new_from .. new_to). Equal lines are matched in order. Between them, the lines of a
 * gap are matched one by one if both texts have the same number. */
void align_lines(const struct line_range *r, struct line_origin *origins);

/* The kinds of quotes and dashes of the old body that differ in the file; both are equal when
 * folded. A set as fold_kinds() returns it. */
uint32_t align_forgiven(struct str old_body, struct str found);

/* Appends the new form of the body `found` of the file. False: whether a quote or dash of the new
 * text is the file's or another is ambiguous. */
MUST_USE bool align_add(struct strbuf *out, struct str old_body, struct str new_body,
                        struct str found);

#endif
