/* grapheme.h - where what a reader takes for one character ends: the extended grapheme clusters of
 * Unicode (UAX 29), among them the pictures of several characters. Pure. */
#ifndef KEEL_BASE_GRAPHEME_H
#define KEEL_BASE_GRAPHEME_H

#include "base/str.h"

/* The bytes of the first cluster, 0 of an empty text, and the columns of a terminal that it takes:
 * 0, 1 or 2. A byte that is not UTF-8 is a cluster of one column. */
size_t grapheme_first(struct str text, unsigned *ret_columns);

#endif
