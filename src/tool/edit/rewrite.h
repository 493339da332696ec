/* rewrite.h - the text that replaces a match. Private to edits.
 *
 * A new line takes the line end of the line that it replaces, or of the one before. In an inexact
 * match, unchanged lines and parts of lines keep the bytes of the file, and the others are indented
 * as in the file, if that is unambiguous. An empty new text for a whole line removes the line with
 * its end. */
#ifndef KEEL_TOOL_EDIT_REWRITE_H
#define KEEL_TOOL_EDIT_REWRITE_H

#include "tool/edit/align.h"
#include "tool/edit/find.h"

struct edit_rewriter {
    struct str text, old_text, new_text;
    enum fold_level level;

    /* Unless the level is FOLD_NOTHING: the parts of each text between its newlines. */
    struct str *old_parts, *new_parts;
    struct str *old_bodies, *new_bodies; /* the same without blanks around them */
    size_t n_old, n_new;
    size_t n_head;               /* parts that both texts begin with */
    size_t n_tail;               /* parts that both texts end with */
    struct line_origin *origins; /* of new_parts */

    /* The line end at or after the last match, kept so that a long line is searched once. */
    struct str line_end; /* empty: the file has none, and the new text keeps its own */
    size_t line_end_at;
};

/* Borrows the texts. */
void edit_rewriter_init(struct edit_rewriter *r, struct str text, struct str old_text,
                        struct str new_text, enum fold_level level);
void edit_rewriter_done(struct edit_rewriter *r);
DEFINE_AUTO_VAL(edit_rewriter, edit_rewriter_done)

/* The range of the text that this match replaces: with the indentation before it if the match is
 * inexact, and with the line end if it removes a line. */
struct edit_match edit_rewriter_widen(const struct edit_rewriter *r, struct edit_match match);

/* What is ambiguous about the new text. */
enum edit_doubt {
    EDIT_NO_DOUBT,
    EDIT_DOUBT_INDENT, /* how to indent it */
    EDIT_DOUBT_QUOTES, /* whether its quotes and dashes are the file's */
};

/* Takes widened matches, in order. If it returns a doubt, the appended text is meaningless. */
MUST_USE enum edit_doubt edit_rewriter_add(struct edit_rewriter *r, struct strbuf *out,
                                           struct edit_match match);

#endif
