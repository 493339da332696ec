/* width.h - how many columns of a terminal a text takes. Pure.
 *
 * Counted by grapheme clusters (base/grapheme.h), so that a picture of several characters takes
 * two. A control character counts as one column: what a terminal is sent holds none. */
#ifndef KEEL_BASE_WIDTH_H
#define KEEL_BASE_WIDTH_H

#include "base/str.h"

size_t width_of(struct str text); /* a bad byte counts as one */
/* The longest prefix of whole clusters that takes at most so many columns. */
struct str width_truncate(struct str text, size_t n_columns);

#endif
