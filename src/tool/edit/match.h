/* match.h - finds the text that an edit means, and replaces it. Pure.
 *
 * The old text is looked for exactly, except that line ends may differ from the file's. If it is
 * not found, a second search ignores indentation, blanks at the ends of lines, kinds of quotes and
 * dashes, and a missing last line end. That match must be unique, or all matches must be equal and
 * all be replaced. It is not a part of a word. Blanks inside a line always count.
 *
 * The rest of the file stays, byte for byte: line ends (the new text takes the file's), BOM,
 * encoding. An inexact match also keeps the lines that old and new text share, and the unchanged
 * beginning and end of changed lines. New lines are indented as in the file. If that is ambiguous,
 * or new text has a quote or dash that may differ in the file, the edit fails. A line that is
 * replaced by nothing goes with its line end. Takes linear time. */
#ifndef KEEL_TOOL_EDIT_MATCH_H
#define KEEL_TOOL_EDIT_MATCH_H

#include "base/strbuf.h"

struct edit {
    struct str old_text, new_text;
    bool replace_all;
};

struct edit_report {
    size_t n_replaced;
    size_t first_line;   /* first line of the result that differs, from 1; 0 if the edits undo each
                            other */
    bool was_normalised; /* at least one match differed in more than line ends */
};

#define EDIT_MAX_EDITS 100

/* Applies the edits in order, each to the result of the one before. Appends nothing to `out` unless
 * all apply. ERR_TOOL_FAILED explains to the model what to do: the text is not found (with the most
 * similar lines); it is found N times (with line numbers); indentation or quotes are ambiguous; old
 * and new are the same; old is empty. Errors name the edit by number if there are several. */
MUST_USE struct err *edit_apply(struct str text, const struct edit *edits, size_t n_edits,
                                struct strbuf *out, struct edit_report *ret_report);

#endif
