/* encoding.h - text files that are not UTF-8, to UTF-8 and back. Pure.
 *
 * Known are UTF-16 with a byte order mark and, for what is neither that nor UTF-8, Windows-1252,
 * which Latin-1 is a part of. The mark stays in the text as U+FEFF. */
#ifndef KEEL_TOOL_FILE_ENCODING_H
#define KEEL_TOOL_FILE_ENCODING_H

#include "base/strbuf.h"

enum text_encoding { TEXT_UTF8, TEXT_UTF16LE, TEXT_UTF16BE, TEXT_LATIN1 };

#define TEXT_BOM "\xEF\xBB\xBF"
#define TEXT_HEAD_BYTES 8192

const char *text_encoding_name(enum text_encoding e); /* "UTF-16" */

/* Judged by the first TEXT_HEAD_BYTES, so that a part of the file and all of it say the same. A
 * file with some bad bytes among UTF-8 is UTF-8. */
enum text_encoding text_encoding_of(struct str bytes);

/* UTF-8 but for a few NUL bytes among its lines: a text all the same, such as a log that a crash
 * has left holes in. Judged by the same bytes. */
bool text_has_nuls(struct str bytes);

/* Appends what the bytes say as UTF-8 and returns how many of them were used: unless they are the
 * last ones, the start of a character at their end is left. UTF-8 is copied as it is, bad bytes
 * too; in UTF-16 U+FFFD stands for half a pair. */
size_t text_decode(struct strbuf *out, struct str bytes, enum text_encoding e, bool is_last);

/* The way back. ERR_TOOL_FAILED names the first character that the encoding cannot hold; nothing is
 * appended then. */
MUST_USE struct err *text_encode(struct strbuf *out, struct str text, enum text_encoding e);

#endif
