/* output.h - what a command printed: its head and its tail, whatever lies between.
 *
 * A command that never stops printing fills neither memory nor time: what does not fit is counted
 * and dropped. */
#ifndef KEEL_TOOL_SHELL_OUTPUT_H
#define KEEL_TOOL_SHELL_OUTPUT_H

#include "tool/shell/tail.h"

#define OUTPUT_MAX_BYTES ((size_t)16 << 20)

struct output {
    struct strbuf head;
    struct tail tail;    /* of what comes after the head */
    uint64_t n_newlines; /* of all that came */
};

void output_init(struct output *o);
void output_done(struct output *o);
DEFINE_AUTO_VAL(output, output_done)

void output_add(struct output *o, struct str bytes);
/* Appends it for the model: as output_add_clean() does, and a line that says how much is missing.
 * May wait: a worker makes long texts. */
MUST_USE struct err *output_add_text(const struct output *o, struct strbuf *out);

/* What was dropped of it. */
struct output_gap {
    uint64_t n_bytes, n_lines;             /* dropped; no bytes: nothing was */
    uint64_t after_line;                   /* the line of the text that stands before it */
    uint64_t n_total_bytes, n_total_lines; /* of all that came */
};
struct output_gap output_find_gap(const struct output *o);

/* Appends bytes as text: with marks for NULs and U+FFFD for what is not UTF-8, and of lines that
 * were written over (progress, by \r) the last state. Takes long where many of
 * them are bad: over OUTPUT_SHORT_BYTES it is work for a worker. */
void output_add_clean(struct strbuf *out, struct str bytes);
#define OUTPUT_SHORT_BYTES ((size_t)64 << 10)

#endif
