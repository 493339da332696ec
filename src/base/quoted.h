/* quoted.h - names of files as one line of text, and back.
 *
 * A name is any bytes but '/' and NUL, so that it may break a list of paths apart. One with control
 * characters, line separators, characters that look like others (base/looks.h) or bytes that are
 * not UTF-8, and one that begins with '"', is written in double quotes as git does: "a\nb",
 * "\303.txt", \\ and \" for themselves. All others stay as they are. There is one way to write each
 * path, and only that one is read: so a text in quotes that needs none is a name by itself, and no
 * rule about names can be evaded by quoting one. Pure.
 */
#ifndef KEEL_BASE_QUOTED_H
#define KEEL_BASE_QUOTED_H

#include "base/arena.h"
#include "base/strbuf.h"

void quoted_add(struct strbuf *out, struct str path);
/* The same in `a`; the path itself where nothing is to be quoted. */
struct str quoted(struct arena *a, struct str path);
/* Appends the path that the text stands for; false, and nothing: it is not quoted. */
bool quoted_read(struct strbuf *out, struct str text);

#endif
