/* edit_match.h - finds the text that an edit means, and replaces it. Pure.
 *
 * Exactly first. When that fails, by normalised white space and quotes (tabs and runs of blanks,
 * trailing blanks, NBSP and other Unicode spaces, curly and straight quotes, dashes, line ends),
 * and only when that match is unique. The rest of the file stays as it is, byte for byte: line
 * ends (the new text takes the file's), BOM, encoding. */
#ifndef KEEL_TOOL_EDIT_MATCH_H
#define KEEL_TOOL_EDIT_MATCH_H

#include "base/strbuf.h"

struct edit {
    struct str old_text, new_text;
    bool replace_all;
};

struct edit_report {
    size_t n_replaced;
    size_t first_line;   /* of the new text that differs, from 1 */
    bool was_normalised; /* at least one match was not exact */
};

#define EDIT_MAX_EDITS 100

/* Applies the edits in order, each to the result of the one before; nothing is appended to `out`
 * unless all apply. ERR_TOOL_FAILED tells the model what to do: not found (with the nearest lines
 * that there are), found N times (with their line numbers; give more context or replace_all),
 * old and new are the same, old is empty. Errors name the edit by number when there are several. */
MUST_USE struct err *edit_apply(struct str text, const struct edit *edits, size_t n_edits,
                                struct strbuf *out, struct edit_report *ret_report);

#endif
