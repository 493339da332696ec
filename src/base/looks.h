/* looks.h - characters that look the same. Pure.
 *
 * A letter with an accent is one character or two (NFC, NFD), a blank may be one of many, and some
 * characters are invisible. A person who reads a name on a screen, or a model, writes it back in
 * the usual form and means the same. */
#ifndef KEEL_BASE_LOOKS_H
#define KEEL_BASE_LOOKS_H

#include "base/str.h"

/* A mark that belongs to the letter before it where one character for both may exist, a blank other
 * than U+0020, or an invisible character. */
bool looks_like_others(uint32_t c);

/* May the texts look the same? Which accent a letter has does not count. */
bool looks_same(struct str a, struct str b);

#endif
