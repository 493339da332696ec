/* encoding.h - converts text files that are not UTF-8, both ways. Pure.
 *
 * Knows UTF-16 with a byte order mark and, for everything else, Windows-1252, which includes
 * Latin-1. The mark stays in the text as U+FEFF. */
#ifndef KEEL_TOOL_FILE_ENCODING_H
#define KEEL_TOOL_FILE_ENCODING_H

#include "base/strbuf.h"

enum text_encoding { TEXT_UTF8, TEXT_UTF16LE, TEXT_UTF16BE, TEXT_LATIN1 };

#define TEXT_BOM "\xEF\xBB\xBF"
#define TEXT_HEAD_BYTES 8192

const char *text_encoding_name(enum text_encoding e); /* "UTF-16" */

/* Decides by the first TEXT_HEAD_BYTES, so that a part of the file and all of it agree. UTF-8 with
 * a few bad bytes is UTF-8. */
enum text_encoding text_encoding_of(struct str bytes);

/* UTF-8 with a few NUL bytes among its lines is text too, such as a log with holes that a crash
 * left. Looks at the same bytes. */
bool text_has_nuls(struct str bytes);

/* Appends the bytes as UTF-8 and returns how many it used. Unless these are the last bytes, it
 * leaves an incomplete character at the end. It copies UTF-8 unchanged, bad bytes included. Half a
 * pair in UTF-16 becomes U+FFFD. */
size_t text_decode(struct strbuf *out, struct str bytes, enum text_encoding e, bool is_last);

/* Converts back. ERR_TOOL_FAILED names the first character that the encoding lacks; then nothing is
 * appended. */
MUST_USE struct err *text_encode(struct strbuf *out, struct str text, enum text_encoding e);

#endif
