/* indent.h - how the file indents what the old text indents otherwise. Private to edits.
 *
 * Learned from the lines of a match, applied to the lines of the new text. It answers only where
 * one answer is possible: the same indentation of the old text must always be the same one of the
 * file, and others follow from two that are known, or from one by tabs for spaces. */
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
    bool differs;    /* some pair is not of the same bytes */
    bool is_unclear; /* the pairs contradict each other, or are too many or too long */
};

/* The tabs and spaces that a line begins with, or the first of very many. False if it holds nothing
 * else. */
bool indent_of(struct str line, struct str *ret_indent);

/* The old text has `given` where the file has `found`. */
void indent_learn(struct indent_map *map, struct str given, struct str found);

/* Appends what the file would have for the indentation `given`. False: that is not clear. */
bool indent_add(const struct indent_map *map, struct strbuf *out, struct str given);

#endif
