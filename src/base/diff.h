/* diff.h - the difference of two texts as a unified diff, as `diff -u` and git print it.
 *
 * Lines are compared as bytes. A missing line end is written as "\ No newline at end of file". Work
 * is bounded: when the texts differ too much for the shortest script, the result is still correct,
 * only longer. */
#ifndef KEEL_BASE_DIFF_H
#define KEEL_BASE_DIFF_H

#include "base/strbuf.h"

struct diff_stat {
    size_t n_added, n_removed;
    size_t first_line; /* of the new text that differs, from 1; 0 when equal */
};

/* Appends nothing when the texts are equal. Without names it writes no ---/+++ lines. It quotes a
 * name that could be taken for something else. */
void diff_unified(struct strbuf *out, struct str old_name, struct str old_text, struct str new_name,
                  struct str new_text, unsigned n_context,
                  struct diff_stat *ret_stat /* may be NULL */);

#endif
