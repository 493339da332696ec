/* show.h - parts of a stored result, as text for a model. All of it may wait.
 *
 * What is shown is bounded, so that it is never stored and replaced in turn; its last line says
 * what it was and how to go on. Text that is not UTF-8 is repaired. */
#ifndef KEEL_TOOL_OUTPUT_SHOW_H
#define KEEL_TOOL_OUTPUT_SHOW_H

#include "tool/output/find.h"

/* `n` lines from number `from` on, with their numbers. ERR_VALIDATION: there is no such line. */
MUST_USE struct err *stored_show_lines(const struct stored_text *text, uint64_t from, size_t n,
                                       struct strbuf *out);
/* The lines that were found, with n_context lines around them: "12:found", "13-beside it". */
MUST_USE struct err *stored_show_found(const struct stored_text *text,
                                       const struct found_lines *found, size_t n_context,
                                       struct strbuf *out, size_t *ret_n_shown);
/* Everything from a byte on that fits, nothing left out. ERR_VALIDATION: that is behind the end. */
MUST_USE struct err *stored_show_chunk(const struct stored_text *text, uint64_t from,
                                       struct strbuf *out);
/* The head and the tail. */
MUST_USE struct err *stored_show_ends(const struct stored_text *text, struct strbuf *out);

#endif
