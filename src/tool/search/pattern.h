/* pattern.h - a compiled search pattern, and the state of a thread that looks for it.
 *
 * A line search matches each line by itself, or gives the same result: most patterns are rewritten
 * so that they cannot match a line end, and then run over many lines at once. A pattern that takes
 * too long ends with an error. Short lines have PCRE2's match limit. Longer texts are matched by a
 * program that counts its steps, which also notices when the search must stop. */
#ifndef KEEL_TOOL_GREP_PATTERN_H
#define KEEL_TOOL_GREP_PATTERN_H

#include "base/strbuf.h"

#include <stdatomic.h>

struct grep_query;
struct grep_pattern;
struct grep_matcher;

#define GREP_MAX_PATTERN ((size_t)32 << 10) /* bytes */

struct grep_span {
    size_t start, end;
};

MUST_USE struct err *grep_pattern_compile(const struct grep_query *query,
                                          struct grep_pattern **ret_pattern);
void grep_pattern_free(struct grep_pattern *p);
DEFINE_AUTO_PTR(grep_pattern, grep_pattern_free)

/* Threads share a pattern; each has its own matcher. `p` must outlive it. */
struct grep_matcher *grep_matcher_new(const struct grep_pattern *p) MUST_USE;
void grep_matcher_free(struct grep_matcher *m);
DEFINE_AUTO_PTR(grep_matcher, grep_matcher_free)

/* Sets the text: whole lines, or in a multiline search a whole file. It is borrowed until the next
 * call. `is_over` may be NULL. */
void grep_matcher_begin(struct grep_matcher *m, struct str text, const atomic_bool *is_over);

/* Finds the first match that starts at or after `from`. In a line search `from` is the start of a
 * line, and the match ends in the line where it starts. Finds nothing once the search is over. */
MUST_USE struct err *grep_matcher_find(struct grep_matcher *m, size_t from, bool *ret_found,
                                       struct grep_span *ret_span);

/* What grep_translate() learns about a pattern. */
struct grep_traits {
    bool by_line;      /* not rewritten: match line by line */
    bool is_plain;     /* only the literal */
    bool has_line_end; /* asks for a newline, which no line contains */
    bool cuts_cr;      /* has a $ and no \r: lines may end in \r\n */
};

/* Rewrites a regular expression so that it cannot match a newline. Appends the longest text that
 * every match contains to `literal`, if it finds one. */
void grep_translate(struct str pattern, struct strbuf *out, struct strbuf *literal,
                    struct grep_traits *ret_traits);

#endif
