/* fold.h - text with the differences folded away that an edit does not mean. Private to edits.
 *
 * Folded text is bytes again, so that memmem() finds in it; each byte knows the range of the text
 * that it stands for. FOLD_BLANKS drops the tabs and spaces at the start and at the end of every
 * line, and gives the last line an end: so indentation, trailing blanks and a missing last newline
 * do not matter. Blanks inside of a line are data and stay. */
#ifndef KEEL_TOOL_EDIT_FOLD_H
#define KEEL_TOOL_EDIT_FOLD_H

#include "base/strbuf.h"

enum fold_level {
    FOLD_NOTHING,
    FOLD_LINE_ENDS, /* CRLF is LF */
    FOLD_BLANKS, /* and blanks around a line; quotes and dashes of all kinds are \" or ', and - */
};

struct fold_unit {
    char c;
    size_t from, to; /* of the text; empty for a newline that is not there */
};

struct fold {
    struct str text;
    enum fold_level level;
    bool is_part; /* what comes after it is not known: it gets no newline at its end */
    size_t at;
    size_t inner_until; /* blanks up to there are not the last of their line */
    bool at_line_start, ended;
};

void fold_init(struct fold *f, struct str text, enum fold_level level, bool is_part);
bool fold_next(struct fold *f, struct fold_unit *ret_unit); /* false at the end */
void fold_add(struct strbuf *out, struct str text, enum fold_level level, bool is_part);
/* As many bytes as fold_add() appends, or more. */
size_t fold_max_bytes(struct str text);

/* The kinds of quotes and dashes in s, plain ones too, as a set: a bit for each. */
uint32_t fold_kinds(struct str s);

/* Bytes of the tabs and spaces that s begins with. */
size_t fold_blanks(struct str s);

#endif
