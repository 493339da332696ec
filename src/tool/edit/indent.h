/* indent.h - how the file indents what the old text indents otherwise. Private to edits.
 *
 * Learned from the lines of a match, applied to the lines of the new text. */
#ifndef KEEL_TOOL_EDIT_INDENT_H
#define KEEL_TOOL_EDIT_INDENT_H

#include "base/strbuf.h"

#define INDENT_MAX_PAIRS 16
#define INDENT_MAX_BYTES 256

struct indent_map {
    struct {
        struct str given, found;
    } pairs[INDENT_MAX_PAIRS];
    size_t n;
    bool differs; /* some pair is not of the same bytes */
};

/* The tabs and spaces that a line begins with. False if it holds nothing else, if other blanks
 * follow, or if there are very many: these tell nothing about how to indent. */
bool indent_of(struct str line, struct str *ret_indent);

/* The old text has `given` where the file has `found`. What was learned first stays. */
void indent_learn(struct indent_map *map, struct str given, struct str found);

/* Appends what the file would have for the indentation `given`. */
void indent_add(const struct indent_map *map, struct strbuf *out, struct str given);

#endif
