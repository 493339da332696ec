/* width.h - how many columns of a terminal a text takes. Pure.
 *
 * A control character counts as one column: what a terminal is sent holds none. */
#ifndef KEEL_BASE_WIDTH_H
#define KEEL_BASE_WIDTH_H

#include "base/str.h"

unsigned width_of_char(uint32_t c); /* 0, 1 or 2 */
size_t width_of(struct str text);   /* a bad byte counts as one */
/* The longest prefix that takes at most so many columns, with the marks on its last letter. */
struct str width_truncate(struct str text, size_t n_columns);

#endif
