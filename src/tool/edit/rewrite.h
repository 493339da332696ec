/* rewrite.h - what is written in the place of a match. Private to edits.
 *
 * The new text takes the line end of the line in which the match begins. Where the match is not
 * exact, lines that the edit leaves as they are (the same first and last lines of the old and the
 * new text) keep the bytes of the file, and the others are indented as the file is. */
#ifndef KEEL_TOOL_EDIT_REWRITE_H
#define KEEL_TOOL_EDIT_REWRITE_H

#include "tool/edit/find.h"

struct edit_rewriter {
    struct str text, old_text, new_text;
    enum fold_level level;

    /* How the old and the new text agree; the parts of a text are what its newlines separate. */
    size_t n_newlines;       /* of the old text */
    size_t n_head;           /* lines at the start, with their ends */
    size_t n_tail;           /* parts at the end */
    struct str middle;       /* of the new text */
    struct str *old_indents; /* of each part of the old text; .p is NULL where it tells nothing */

    /* The line end at or after the last match, kept so that a long line is searched once. */
    struct str line_end; /* empty: the file has none, the new text keeps its own */
    size_t line_end_at;
};

/* Borrows the texts. */
void edit_rewriter_init(struct edit_rewriter *r, struct str text, struct str old_text,
                        struct str new_text, enum fold_level level);
void edit_rewriter_done(struct edit_rewriter *r);
DEFINE_AUTO_VAL(edit_rewriter, edit_rewriter_done)

/* The matches come in order. */
void edit_rewriter_add(struct edit_rewriter *r, struct strbuf *out, struct edit_match match);

#endif
