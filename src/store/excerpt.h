/* excerpt.h - words in a text, and the place where they stand. Pure. */
#ifndef KEEL_STORE_EXCERPT_H
#define KEEL_STORE_EXCERPT_H

#include "base/arena.h"
#include "port/store.h"

/* Do all the words stand in the text, in any case of (ASCII) letters? If so, some characters around
 * the first of them, in `a`. No words: false. */
bool excerpt_find(struct str text, struct str words, struct arena *a, struct str *ret_excerpt);
/* Of a message that an index has found: the words as they stand there, or its beginning. */
struct str excerpt_of(struct str body, struct str words, struct arena *a);

#endif
