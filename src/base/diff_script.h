/* diff_script.h - finds the lines in which two texts differ. Private to diff.
 *
 * A line includes its line end, so a last line without one differs from the same line with one. */
#ifndef KEEL_BASE_DIFF_SCRIPT_H
#define KEEL_BASE_DIFF_SCRIPT_H

#include "base/arena.h"

/* These lines of the old text became those of the new one. Lines count from 0; one of the two
 * numbers may be 0. Before, between and after changes both texts are the same. */
struct diff_change {
    size_t old_at, n_old;
    size_t new_at, n_new;
};

/* Finds the changes, in order and apart from each other. The array lives in the arena. */
size_t diff_find_changes(struct arena *a, struct str old_text, struct str new_text,
                         struct diff_change **ret_changes);

/* Cuts the first line with its end off the text; false when the text is used up. */
bool diff_take_line(struct str *rest, struct str *ret_line);
size_t diff_count_lines(struct str text);

/* --- diff_myers.c --- */

/* One side of the comparison of two lists of numbers. */
struct diff_list {
    uint32_t *ids;
    uint32_t *at; /* their positions in `changed` */
    size_t n;
    bool *changed;
};

/* Marks what is not in a longest common subsequence of the lists, or in a long one if finding the
 * longest takes too much work. */
void diff_compare(struct arena *a, const struct diff_list *old_list,
                  const struct diff_list *new_list);

#endif
