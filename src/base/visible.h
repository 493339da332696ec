/* visible.h - texts from outside as a terminal may show them. Pure.
 *
 * What could steer a terminal or make a text look like another one is spelt out: control
 * characters, marks that turn the direction of writing, and characters that take no place. Line
 * feeds and tabs stay; a carriage return is dropped, since lines may end with CR LF. Joiners that
 * scripts and emoji need stay as well. */
#ifndef KEEL_BASE_VISIBLE_H
#define KEEL_BASE_VISIBLE_H

#include "base/strbuf.h"

/* \x1b and \x9b for control characters and bytes that are not UTF-8, \u202e for all else. */
void visible_add(struct strbuf *out, struct str text);

/* For texts that are put together already, with colours, and for JSON, which stays what it is: all
 * but C0 controls, as \u202e (two of them above U+FFFF). False: there is nothing to spell out, and
 * nothing was added. */
bool visible_add_rest(struct strbuf *out, struct str text);

#endif
