/* wildcard.h - text in which `*` stands for anything, `\*` for a star and `\\` for a backslash.
 *
 * Every other byte is itself, `?`, `[` and a backslash before something else included: commands and
 * queries are full of them. Never slower than pattern x text. */
#ifndef KEEL_GATE_WILDCARD_H
#define KEEL_GATE_WILDCARD_H

#include "base/strbuf.h"

bool wildcard_matches(struct str pattern, struct str text);
bool wildcard_is_literal(struct str pattern); /* no `*` in it stands for anything */
/* The text before the first such `*`, without its escapes. */
void wildcard_add_head(struct strbuf *out, struct str pattern);
/* The pattern that matches this text only. */
void wildcard_add_escaped(struct strbuf *out, struct str text);

#endif
