/* utf8.h - UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, up to U+10FFFF. */
#ifndef KEEL_BASE_UTF8_H
#define KEEL_BASE_UTF8_H

#include "base/str.h"

struct strbuf;

/* Decodes the character at the start of s. Returns its length in bytes, or 0 if s is empty or
 * does not start with a valid sequence. */
unsigned utf8_decode(struct str s, uint32_t *ret_char);
/* Writes 1 to 4 bytes; `c` must be a Unicode scalar value. */
unsigned utf8_encode(uint32_t c, char out[4]);

bool utf8_is_valid(struct str s);
size_t utf8_valid_prefix(struct str s); /* bytes before the first bad one; s.n if all are good */

/* Bytes at the end of s that may be the start of an incomplete character (0 to 3). */
size_t utf8_incomplete_tail(struct str s);

/* Appends s with U+FFFD for every maximal bad run, as browsers decode it. */
void utf8_add_repaired(struct strbuf *out, struct str s);

size_t utf8_count(struct str s); /* characters; a bad byte counts as one */
/* The longest prefix of at most max_bytes that does not cut a character. */
struct str utf8_truncate(struct str s, size_t max_bytes);

#endif
