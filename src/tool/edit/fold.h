/* fold.h - text with the differences folded away that an edit does not mean. Private to edits.
 *
 * Folded text is bytes again, so that memmem() finds in it; each byte knows the range of the text
 * that it stands for. FOLD_BLANKS makes every line a blank, its words with one blank between them,
 * a blank, and a newline: so indentation, trailing blanks and a missing last newline do not matter,
 * while a blank between two words is still not nothing. */
#ifndef KEEL_TOOL_EDIT_FOLD_H
#define KEEL_TOOL_EDIT_FOLD_H

#include "base/strbuf.h"

enum fold_level {
    FOLD_NOTHING,
    FOLD_LINE_ENDS, /* CRLF is LF */
    FOLD_BLANKS,    /* and blanks, quotes and dashes of all kinds are " ", "\"" or "'", and "-" */
};

struct fold_unit {
    char c;
    size_t from, to; /* of the text; empty for a blank that is not there */
};

struct fold {
    struct str text;
    enum fold_level level;
    bool is_part; /* what is before and after it is not known: no blanks and newline at its ends */
    size_t at;
    bool at_line_start, after_blank, ended;
};

void fold_init(struct fold *f, struct str text, enum fold_level level, bool is_part);
bool fold_next(struct fold *f, struct fold_unit *ret_unit); /* false at the end */
void fold_add(struct strbuf *out, struct str text, enum fold_level level, bool is_part);
/* More bytes than fold_add() appends. */
size_t fold_max_bytes(struct str text);

/* Bytes of the blank at the start of s, or 0. A carriage return is one unless a newline follows. */
size_t fold_blank(struct str s);

#endif
