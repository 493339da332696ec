/* charset.h - the bytes of a page as UTF-8. Pure except for iconv, which may load its tables. */
#ifndef KEEL_TOOL_CHARSET_H
#define KEEL_TOOL_CHARSET_H

#include "base/strbuf.h"

/* Appends the page as valid UTF-8. The charset comes from, in this order: a byte order mark,
 * `declared` (from Content-Type; may be empty), a meta element near the start, the bytes
 * themselves. Names mean what they mean to browsers: iso-8859-1 is windows-1252. Unknown names are
 * ignored. */
void charset_decode_html(struct strbuf *out, struct str page, struct str declared);

#endif
