/* find.h - which lines of a stored result hold what is looked for. All of it may wait. */
#ifndef KEEL_TOOL_OUTPUT_FIND_H
#define KEEL_TOOL_OUTPUT_FIND_H

#include "tool/output/lines.h"

#define STORED_MAX_WORDS 16

struct found_line {
    uint64_t number; /* of the line, from 1 */
    size_t match_at; /* bytes from its start to the first match */
};

struct found_lines {
    struct found_line *lines; /* in the order of the text; in an arena */
    size_t n;
    bool has_more; /* others match too */
};

/* The first `max` lines from number `from` on that the regular expression matches. ERR_VALIDATION:
 * the pattern is wrong, or takes too many steps. */
MUST_USE struct err *stored_find_pattern(const struct stored_text *text, struct str pattern,
                                         uint64_t from, size_t max, struct arena *a,
                                         struct found_lines *ret_found);
/* The `max` lines from number `from` on that hold the most of the words in `wanted`, in any case of
 * letters; rare words count for more. */
MUST_USE struct err *stored_find_words(const struct stored_text *text, struct str wanted,
                                       uint64_t from, size_t max, struct arena *a,
                                       struct found_lines *ret_found);

#endif
