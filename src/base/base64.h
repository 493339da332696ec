/* base64.h - RFC 4648 base64, standard and URL alphabets. */
#ifndef KEEL_BASE_BASE64_H
#define KEEL_BASE_BASE64_H

#include "base/strbuf.h"

void base64_add(struct strbuf *out, struct str bytes);    /* with padding */
void base64url_add(struct strbuf *out, struct str bytes); /* without padding */
/* Accepts both alphabets, with padding or without. Skips white space; anything else is an error.
 * Ignores excess bits of the last letter. Appends everything or, with an error, nothing. */
MUST_USE struct err *base64_decode(struct strbuf *out, struct str text);

#endif
