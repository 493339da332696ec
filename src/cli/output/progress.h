/* progress.h - what takes long, in one line of the terminal: "exporting: 42 %", or "running Bash
 * make: 12 s" in a run.
 *
 * The line appears on standard error when nothing was printed for a second, is rewritten a few
 * times a second, and is wiped by the next output. There is none where standard error is not a
 * terminal. All but progress_make_room() are called in a task. */
#ifndef KEEL_CLI_OUTPUT_PROGRESS_H
#define KEEL_CLI_OUTPUT_PROGRESS_H

#include "port/event.h"
#include "sys/task.h"

/* --- a long command --- */

struct progress {
    const char *what; /* "exporting" */
    bool is_on, is_shown;
    uint64_t began_ms, shown_ms;
    unsigned n_calls;
};

/* `prints`: the command prints meanwhile, so there is no line where standard output is the
 * terminal, too. */
void progress_begin(struct progress *p, const char *what, bool prints);
void progress_part(struct progress *p, uint64_t n, uint64_t n_all);  /* "exporting: 42 %" */
void progress_count(struct progress *p, uint64_t n, const char *of); /* "rebuilding: 7 sessions" */
void progress_end(struct progress *p); /* wipes the line; it may appear again */

/* Runs fn, which prints nothing: "reading: 3 s" meanwhile, also where output goes to the terminal.
 */
MUST_USE struct err *progress_around(const char *what, task_fn fn, void *arg);

/* --- a run --- */

/* What the run waits for. A subscriber to its events. */
struct run_progress {
    struct str model; /* borrowed */
    bool is_on;
    struct strbuf what;
    uint64_t since_ms;
    struct group ticker;
};

void run_progress_begin(struct run_progress *r, struct str model);
void run_progress_event(void *self, const struct event *e);
void run_progress_end(struct run_progress *r);

/* --- for the outbox --- */

/* `text` is about to be written to `fd`: wipes the line if that is the terminal. */
void progress_make_room(int fd, struct str text);

#endif
