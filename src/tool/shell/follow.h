/* follow.h - follows a running command to its end: its output, and how it ends.
 *
 * When the command itself has ended, everything it left behind is ended too. */
#ifndef KEEL_TOOL_SHELL_FOLLOW_H
#define KEEL_TOOL_SHELL_FOLLOW_H

#include "sys/proc.h"
#include "tool/shell/output.h"

struct follow {
    struct proc *proc;
    uint64_t timeout_ms; /* then it is ended; 0: never */
    void (*on_output)(void *self, struct str bytes);
    void *self;
    struct shell_progress *progress; /* NULL: nothing is shown */
    bool (*may_stay)(void *self);    /* called when its time is over; NULL: it is ended */

    /* results */
    bool has_status, timed_out, was_stopped;
    bool stays; /* its time is over, and it keeps running: another follow_run() may continue */
    struct proc_status status;

    /* private */
    char *chunk;
    struct waker waker;
    bool is_waiting;
};

/* Waits until the process tree is gone and its output read, or until it stays. After an error it
 * may still run. */
MUST_USE struct err *follow_run(struct follow *f);
/* Makes another task's follow_run() end the command, even one that has not begun. Does not wait. */
void follow_stop(struct follow *f);

void follow_add_signal(struct strbuf *out, int signal); /* "SIGKILL", "signal 35" */

#endif
