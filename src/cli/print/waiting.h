/* waiting.h - what a run waits for, in one line of the terminal: "running Bash  make: 12 s".
 *
 * A subscriber to events. The line appears when nothing was printed for a second, and is wiped by
 * the next output. Nothing where standard error is not a terminal. In a task. */
#ifndef KEEL_CLI_PRINT_WAITING_H
#define KEEL_CLI_PRINT_WAITING_H

#include "port/event.h"
#include "sys/task.h"

struct run_status {
    struct str model; /* borrowed */
    bool is_on;
    struct strbuf what;
    uint64_t since_ms;
    struct group ticker;
};

void run_status_begin(struct run_status *s, struct str model);
void run_status_event(void *self, const struct event *e);
void run_status_end(struct run_status *s);

#endif
