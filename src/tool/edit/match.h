/* match.h - finds the text that an edit means, and replaces it. Pure.
 *
 * Exactly first; line ends that differ from the file's are no difference. When that finds nothing,
 * without regard to indentation, blanks at the ends of lines, kinds of quotes and dashes, and a
 * missing last line end, and only when that match is unique, or all are to be replaced and are the
 * same. Blanks inside of a line are data, and such a match is no part of a word. The rest of the
 * file stays as it is, byte for byte: line ends (the new text takes the file's), BOM, encoding. In
 * a match that is not exact so do the lines that old and new text both have, and of a line that is
 * changed its beginning and end; new lines are indented as the file's. Where that is not clear, or
 * new text has a quote or a dash that the file may have otherwise, the edit fails. A line of which
 * all is replaced by nothing goes with its end. Takes linear time. */
#ifndef KEEL_TOOL_EDIT_MATCH_H
#define KEEL_TOOL_EDIT_MATCH_H

#include "base/strbuf.h"

struct edit {
    struct str old_text, new_text;
    bool replace_all;
};

struct edit_report {
    size_t n_replaced;
    size_t first_line;   /* of the result that differs, from 1; 0 when the edits undo each other */
    bool was_normalised; /* at least one match was not exact but for its line ends */
};

#define EDIT_MAX_EDITS 100

/* Applies the edits in order, each to the result of the one before; nothing is appended to `out`
 * unless all apply. ERR_TOOL_FAILED tells the model what to do: not found (with the nearest lines
 * that there are), found N times (with their line numbers; give more context or replace_all),
 * how to indent or which quotes are meant is not clear, old and new are the same or make no
 * difference, old is empty. Errors name the edit by number when there are several. */
MUST_USE struct err *edit_apply(struct str text, const struct edit *edits, size_t n_edits,
                                struct strbuf *out, struct edit_report *ret_report);

#endif
