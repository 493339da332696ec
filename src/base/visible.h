/* visible.h - makes texts from outside safe for a terminal. Pure.
 *
 * Characters that could control a terminal or make a text look like another one are spelt out:
 * control characters, marks that change the direction of writing, and characters without width.
 * Line feeds and tabs stay; a carriage return is dropped, since lines may end with CR LF. Joiners
 * that scripts and emoji need stay as well. */
#ifndef KEEL_BASE_VISIBLE_H
#define KEEL_BASE_VISIBLE_H

#include "base/strbuf.h"

/* \x1b and \x9b for control characters and bytes that are not UTF-8, \u202e for the rest. */
void visible_add(struct strbuf *out, struct str text);

/* For finished texts with colours, and for JSON, which stays JSON: everything but C0 controls, as
 * \u202e (two of them above U+FFFF). False: there is nothing to spell out, and nothing was
 * added. */
bool visible_add_rest(struct strbuf *out, struct str text);

#endif
