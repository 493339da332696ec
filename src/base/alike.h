/* alike.h - finds the known word that a misspelt one means. For messages about unknown names.
 * Pure. */
#ifndef KEEL_BASE_ALIKE_H
#define KEEL_BASE_ALIKE_H

#include "base/str.h"

/* How many letters must be added, dropped or changed to turn one into the other. SIZE_MAX for words
 * of more than 63 bytes. */
size_t text_distance(struct str a, struct str b);
/* Names further apart than this are not misspellings of each other. */
#define TEXT_ALIKE 2

/* Finds the nearest of several words: try each. Zeroed but for `word`. */
struct alike {
    struct str word;
    struct str best; /* empty: none is near enough */
    size_t distance;
};
void alike_try(struct alike *a, struct str known);

#endif
