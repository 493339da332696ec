/* excerpt.h - finds words in a text, and cuts out their surroundings. Pure. */
#ifndef KEEL_STORE_EXCERPT_H
#define KEEL_STORE_EXCERPT_H

#include "base/arena.h"
#include "port/store.h"

/* Does the text contain all the words, in any case of (ASCII) letters? If so, returns some
 * characters around the first of them, in `a`. No words: false. */
bool excerpt_find(struct str text, struct str words, struct arena *a, struct str *ret_excerpt);
/* For a message that an index has found: the words with their surroundings, or its beginning. */
struct str excerpt_of(struct str body, struct str words, struct arena *a);

#endif
