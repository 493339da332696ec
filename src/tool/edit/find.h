/* find.h - where in a text an edit's old text stands, at a level of folding. Private to edits.
 *
 * Works in linear time and gives the matches in order, none overlapping the one before. */
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
    /* At FOLD_BLANKS, by the blanks at the ends of the old text. */
    bool starts_line, ends_line, ends_in_indent;
    uint64_t n_wasted; /* bytes that matched in places where no match may be */
    size_t at;         /* of hay, where the next search begins */
    /* Walks along with the search, to tell what a place in hay is in the text. */
    struct fold walk;
    size_t n_walked;
};

/* Borrows both texts. */
void edit_finder_init(struct edit_finder *f, struct str text, struct str old_text,
                      enum fold_level level);
void edit_finder_done(struct edit_finder *f);
DEFINE_AUTO_VAL(edit_finder, edit_finder_done)

/* Whether the level may be tried: it must not split a CRLF of the text, what is left after folding
 * must be more than blanks, quotes and dashes, which are everywhere, and the old text must not end
 * in the indentation of a line that it does not show. */
bool edit_finder_is_sound(const struct edit_finder *f);

/* At FOLD_BLANKS a match begins and ends outside of words. */
bool edit_finder_next(struct edit_finder *f, struct edit_match *ret_match);
void edit_finder_rewind(struct edit_finder *f);

#define EDIT_MAX_LINES 5

struct edit_places {
    size_t n;                     /* matches; 2 as well for two that overlap */
    size_t lines[EDIT_MAX_LINES]; /* where the first of them begin, from 1 */
};

/* Counts the matches and rewinds. */
void edit_finder_survey(struct edit_finder *f, struct str text, struct edit_places *ret_places);

size_t edit_count_newlines(struct str s);

#endif
