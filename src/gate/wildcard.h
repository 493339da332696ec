/* wildcard.h - patterns in which `*` matches anything, `\*` is a star and `\\` a backslash.
 *
 * Every other byte is literal, including `?`, `[` and a backslash before something else, which are
 * common in commands and queries. Never slower than pattern x text. */
#ifndef KEEL_GATE_WILDCARD_H
#define KEEL_GATE_WILDCARD_H

#include "base/strbuf.h"

bool wildcard_matches(struct str pattern, struct str text);
bool wildcard_is_literal(struct str pattern); /* it has no `*` that matches anything */
/* Appends the text before the first such `*`, without escapes. */
void wildcard_add_head(struct strbuf *out, struct str pattern);
/* Appends the pattern that matches only this text. */
void wildcard_add_escaped(struct strbuf *out, struct str text);

#endif
