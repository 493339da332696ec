/* output.h - what a command prints: its last bytes, its head and tail, its text, and its progress.
 *
 * A command that never stops printing fills neither memory nor time: what does not fit is counted
 * and dropped. */
#ifndef KEEL_TOOL_SHELL_OUTPUT_H
#define KEEL_TOOL_SHELL_OUTPUT_H

#include "port/tool.h"

/* --- the last bytes of a stream --- */

/* A byte is identified by its position in the stream, from 0. Memory grows with the stream up to
 * the limit; from then on each new byte replaces the oldest. */
struct tail {
    char *p;
    size_t room, max_bytes;
    uint64_t end; /* position after the last byte */
};

void tail_init(struct tail *t, size_t max_bytes);
void tail_done(struct tail *t);
DEFINE_AUTO_VAL(tail, tail_done)

void tail_add(struct tail *t, struct str bytes);
uint64_t tail_start(const struct tail *t); /* position of the oldest byte kept */
/* Appends the bytes from position `from` on, if they are kept. */
void tail_copy(const struct tail *t, uint64_t from, struct strbuf *out);

/* --- the head and the tail --- */

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
/* Appends it for the model, as output_add_clean() does, with a line that says how much is missing.
 * May wait: a worker converts long texts. */
MUST_USE struct err *output_add_text(const struct output *o, struct strbuf *out);

/* The part of the output that was dropped. */
struct output_gap {
    uint64_t n_bytes, n_lines;             /* dropped; no bytes: nothing was */
    uint64_t after_line;                   /* the line of the text before the gap */
    uint64_t n_total_bytes, n_total_lines; /* of all that came */
};
struct output_gap output_find_gap(const struct output *o);

/* Appends bytes as text: marks for NULs, U+FFFD for bytes that are not UTF-8, and only the last
 * state of lines that were overwritten with \r (progress). Slow if many bytes are bad: above
 * OUTPUT_SHORT_BYTES it is work for a worker. */
void output_add_clean(struct strbuf *out, struct str bytes);
#define OUTPUT_SHORT_BYTES ((size_t)64 << 10)

/* --- progress --- */

/* Shows a person the newest output of a running command, a few times a second. */
struct shell_progress { /* zeroed except for its context */
    const struct tool_context *context;
    char newest[4096]; /* not shown yet; older bytes are dropped */
    size_t n;
    uint64_t next_ms; /* do not show before */
};

/* Shows it at once if nothing was shown recently. */
void progress_add(struct shell_progress *p, struct str bytes, uint64_t now_ms);
/* How long to wait before showing; UINT64_MAX: there is nothing to show. */
uint64_t progress_wait_ms(const struct shell_progress *p, uint64_t now_ms);
void progress_show(struct shell_progress *p, uint64_t now_ms);

#endif
