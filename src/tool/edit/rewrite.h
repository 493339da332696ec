/* rewrite.h - what is written in the place of a match. Private to edits.
 *
 * A line of the new text takes the line end of the line that it replaces, or of the one before it.
 * Where the match is not exact, lines and parts of lines that the edit leaves as they are keep the
 * bytes of the file, and the others are indented as the file is, if that is clear. An empty new
 * text for all of a line removes the line, with its end. */
#ifndef KEEL_TOOL_EDIT_REWRITE_H
#define KEEL_TOOL_EDIT_REWRITE_H

#include "tool/edit/align.h"
#include "tool/edit/find.h"

struct edit_rewriter {
    struct str text, old_text, new_text;
    enum fold_level level;

    /* Unless the level is FOLD_NOTHING: what the newlines of each text separate. */
    struct str *old_parts, *new_parts;
    struct str *old_bodies, *new_bodies; /* the same without blanks around them */
    size_t n_old, n_new;
    size_t n_head;               /* parts with their ends that both texts begin with */
    size_t n_tail;               /* parts that both end with */
    struct line_origin *origins; /* of new_parts */

    /* The line end at or after the last match, kept so that a long line is searched once. */
    struct str line_end; /* empty: the file has none, the new text keeps its own */
    size_t line_end_at;
};

/* Borrows the texts. */
void edit_rewriter_init(struct edit_rewriter *r, struct str text, struct str old_text,
                        struct str new_text, enum fold_level level);
void edit_rewriter_done(struct edit_rewriter *r);
DEFINE_AUTO_VAL(edit_rewriter, edit_rewriter_done)

/* What of the text is replaced for this match: the indentation before it is part of one that is not
 * exact, and all of the line of one that removes a line. */
struct edit_match edit_rewriter_widen(const struct edit_rewriter *r, struct edit_match match);

/* What is not clear about the new text. */
enum edit_doubt {
    EDIT_NO_DOUBT,
    EDIT_DOUBT_INDENT, /* how the file would indent it */
    EDIT_DOUBT_QUOTES, /* whether its quotes and dashes are the file's or others */
};

/* For a match that was widened; they come in order. With a doubt, what was appended means nothing.
 */
MUST_USE enum edit_doubt edit_rewriter_add(struct edit_rewriter *r, struct strbuf *out,
                                           struct edit_match match);

#endif
