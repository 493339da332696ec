/* fold.h - folds away differences that an edit does not mean. Private to edits.
 *
 * Folded text is bytes, so that memmem() works on it, and each byte knows the range of the text
 * that it stands for. FOLD_BLANKS drops tabs and spaces at the start and end of every line and ends
 * the last line, so that indentation, trailing blanks and a missing last newline do not matter.
 * Blanks inside a line are data and stay. */
#ifndef KEEL_TOOL_EDIT_FOLD_H
#define KEEL_TOOL_EDIT_FOLD_H

#include "base/strbuf.h"

enum fold_level {
    FOLD_NOTHING,
    FOLD_LINE_ENDS, /* CRLF is LF */
    FOLD_BLANKS, /* and blanks around a line; all kinds of quotes and dashes become \" or ', and -
                  */
};

struct fold_unit {
    char c;
    size_t from, to; /* of the text; empty for a newline that the text lacks */
};

struct fold {
    struct str text;
    enum fold_level level;
    bool is_part; /* what follows is unknown: add no newline at the end */
    size_t at;
    size_t inner_until; /* blanks before this offset are inside a line */
    bool at_line_start, ended;
};

void fold_init(struct fold *f, struct str text, enum fold_level level, bool is_part);
bool fold_next(struct fold *f, struct fold_unit *ret_unit); /* false at the end */
void fold_add(struct strbuf *out, struct str text, enum fold_level level, bool is_part);
/* At least as many bytes as fold_add() appends. */
size_t fold_max_bytes(struct str text);

/* The set of kinds of quotes and dashes in s, plain ones too: one bit each. */
uint32_t fold_kinds(struct str s);

/* Number of bytes of the tabs and spaces that s begins with. */
size_t fold_blanks(struct str s);

#endif
