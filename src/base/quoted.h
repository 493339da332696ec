/* quoted.h - names of files as one line of text, and back.
 *
 * A name is any bytes but '/' and NUL, so it may break a list of paths apart. A name is written in
 * double quotes as git does ("a\nb", "\303.txt", \\ and \" for themselves) if it holds control
 * characters, line separators, characters that look like others (base/looks.h) or bytes that are
 * not UTF-8, or begins with '"'. All others are unchanged. There is one way to write each path, and
 * only that one is read. So a quoted text that needs no quotes is a name itself, and quoting a name
 * cannot evade a rule about it. Pure. */
#ifndef KEEL_BASE_QUOTED_H
#define KEEL_BASE_QUOTED_H

#include "base/arena.h"
#include "base/strbuf.h"

void quoted_add(struct strbuf *out, struct str path);
/* The same in `a`; the path itself if it needs no quotes. */
struct str quoted(struct arena *a, struct str path);
/* Appends the path that the text means. False, and nothing: it is not quoted. */
bool quoted_read(struct strbuf *out, struct str text);

#endif
