/* progress.h - how far a long command is, in one line of the terminal.
 *
 * Nothing is printed in the first second, nor where standard error is not a terminal, nor where the
 * command's own output comes there meanwhile. The line is rewritten a few times a second and wiped
 * at the end. In a task. */
#ifndef KEEL_CLI_OUTPUT_PROGRESS_H
#define KEEL_CLI_OUTPUT_PROGRESS_H

#include "base/str.h"
#include "sys/task.h"

struct progress {
    const char *what; /* "exporting" */
    bool is_on, is_shown;
    uint64_t began_ms, told_ms;
    unsigned n_calls;
};

/* `prints`: the command prints meanwhile, so that a line would be in the way where standard output
 * is the terminal, too. */
void progress_begin(struct progress *p, const char *what, bool prints);
void progress_part(struct progress *p, uint64_t n, uint64_t n_all);  /* "exporting: 42 %" */
void progress_count(struct progress *p, uint64_t n, const char *of); /* "rebuilding: 7 sessions" */
void progress_end(struct progress *p); /* wipes the line; it may appear again */

/* Runs fn, which prints nothing: "reading: 3 s" meanwhile, also where output goes to the terminal.
 */
MUST_USE struct err *progress_around(const char *what, task_fn fn, void *arg);

#endif
