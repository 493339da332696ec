/* text.h - lines that fit a screen; durations, times and amounts as people read them. */
#ifndef KEEL_CLI_OUTPUT_TEXT_H
#define KEEL_CLI_OUTPUT_TEXT_H

#include "base/strbuf.h"

/* Appends `text` to a line of which `indent` columns are used, broken at spaces so that no line
 * passes `width`; further lines are indented as far. A word that is too long stays whole.
 * width 0: one line. */
void text_wrap(struct strbuf *out, struct str text, size_t indent, size_t width);
/* The same where `used` columns of the first line are used, and further lines have another indent.
 */
void text_wrap_from(struct strbuf *out, struct str text, size_t used, size_t indent, size_t width);

/* Appends whole lines that were written for a wider screen, and breaks their paragraphs again. A
 * line that begins with a blank is an example; a remark about it follows two blanks, and moves
 * below it. Text that fits is not changed; width 0: no limit. */
void text_reflow(struct strbuf *out, struct str text, size_t width);

/* "0.65 s", "1.5 s", "7 s", "20 min", "3 h". */
void text_add_duration(struct strbuf *out, int64_t duration_ms);

/* The time of day where keel runs: "16:20:05". */
void text_add_clock(struct strbuf *out, int64_t unix_ms);

/* Micro-cents as "$0.0042", "$1.50", "$0.000010". */
void text_add_money(struct strbuf *out, int64_t microcents);

/* A word as it is typed into a shell: in single quotes if it needs them. */
void text_add_shell_word(struct strbuf *out, struct str word);

#endif
