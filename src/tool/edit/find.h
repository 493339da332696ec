/* find.h - finds the old text of an edit in a text, at a level of folding. Private to edits.
 *
 * Takes linear time. Matches come in order and do not overlap. */
#ifndef KEEL_TOOL_EDIT_FIND_H
#define KEEL_TOOL_EDIT_FIND_H

#include "tool/edit/fold.h"

struct edit_match {
    size_t from, to; /* bytes of the text */
};

struct edit_finder {
    enum fold_level level;
    struct str hay, needle; /* folded, or as given at FOLD_NOTHING */
    struct strbuf folded_hay, folded_needle;
    /* At FOLD_BLANKS: which blanks the old text has at its ends. */
    bool starts_line, ends_line, ends_in_indent;
    uint64_t n_wasted; /* bytes that matched where no match may be */
    size_t at;         /* offset in hay of the next search */
    /* Follows the search, to map a place in hay to the text. */
    struct fold walk;
    size_t n_walked;
};

/* Borrows both texts. */
void edit_finder_init(struct edit_finder *f, struct str text, struct str old_text,
                      enum fold_level level);
void edit_finder_done(struct edit_finder *f);
DEFINE_AUTO_VAL(edit_finder, edit_finder_done)

/* Whether this level may be tried. The old text must not split a CRLF of the text. After folding it
 * must hold more than blanks, quotes and dashes, which are everywhere. It must not end in the
 * indentation of a line that it does not show. */
bool edit_finder_is_sound(const struct edit_finder *f);

/* At FOLD_BLANKS a match begins and ends outside of words. */
bool edit_finder_next(struct edit_finder *f, struct edit_match *ret_match);
void edit_finder_rewind(struct edit_finder *f);

#define EDIT_MAX_LINES 5

struct edit_places {
    size_t n;                     /* number of matches; also 2 for two that overlap */
    size_t lines[EDIT_MAX_LINES]; /* the lines where the first of them begin, from 1 */
};

/* Counts the matches and rewinds. */
void edit_finder_survey(struct edit_finder *f, struct str text, struct edit_places *ret_places);

size_t edit_count_newlines(struct str s);

#endif
