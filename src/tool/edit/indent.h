/* indent.h - how the file indents what the old text indents differently. Private to edits.
 *
 * Learns from the lines of a match and applies to the lines of the new text. It answers only if one
 * answer is possible: equal indentation of the old text must always be equal in the file. Other
 * indentation follows from two known pairs, or from one pair of tabs for spaces. */
#ifndef KEEL_TOOL_EDIT_INDENT_H
#define KEEL_TOOL_EDIT_INDENT_H

#include "base/strbuf.h"

#define INDENT_MAX_PAIRS 32
#define INDENT_MAX_BYTES 256

struct indent_map {
    struct {
        struct str given, found;
    } pairs[INDENT_MAX_PAIRS];
    size_t n;
    bool differs;    /* the two differ in at least one pair */
    bool is_unclear; /* the pairs contradict each other, or are too many or too long */
};

/* The tabs and spaces at the start of a line, up to a limit. False if the line holds nothing
 * else. */
bool indent_of(struct str line, struct str *ret_indent);

/* The old text has `given` where the file has `found`. */
void indent_learn(struct indent_map *map, struct str given, struct str found);

/* Appends the file's form of the indentation `given`. False: it is ambiguous. */
bool indent_add(const struct indent_map *map, struct strbuf *out, struct str given);

#endif
