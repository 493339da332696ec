/* charset.h - do letters of the locale hold signs of the shell? Pure. */
#ifndef KEEL_GATE_SHELL_CHARSET_H
#define KEEL_GATE_SHELL_CHARSET_H

#include "base/str.h"

/* In GBK, GB18030, Big5 and Shift-JIS the second byte of a letter can be that of a backslash or a
 * backquote, and bash takes it for a part of the letter. A line comes in UTF-8, and where bash
 * reads it as one of these, it may see other quotes than the splitter does. The text is the value
 * of LC_ALL, LC_CTYPE or LANG, whichever counts; it may be empty. */
bool shell_locale_is_plain(struct str locale);

#endif
