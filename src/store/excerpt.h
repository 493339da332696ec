/* excerpt.h - words in a text, and the place where they stand: for stores without an index. Pure.
 */
#ifndef KEEL_STORE_EXCERPT_H
#define KEEL_STORE_EXCERPT_H

#include "base/arena.h"

/* Do all the words stand in the text, in any case of (ASCII) letters? If so, some characters around
 * the first of them, in `a`. No words: false. */
bool excerpt_find(struct str text, struct str words, struct arena *a, struct str *ret_excerpt);

#endif
