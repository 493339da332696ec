/* charset.h - can letters of a locale contain characters of the shell? Pure. */
#ifndef KEEL_GATE_SHELL_CHARSET_H
#define KEEL_GATE_SHELL_CHARSET_H

#include "base/str.h"

/* In GBK, GB18030, Big5 and Shift-JIS the second byte of a letter can equal a backslash or a
 * backquote, and bash takes it as a part of the letter. Lines are UTF-8: if bash reads them in such
 * a set, it may see other quotes than the splitter. `locale` is the effective value of LC_ALL,
 * LC_CTYPE or LANG; it may be empty. */
bool shell_locale_is_plain(struct str locale);

#endif
