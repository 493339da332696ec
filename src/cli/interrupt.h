/* interrupt.h - a command's work, as a task that the person can interrupt.
 *
 * The first SIGINT, SIGTERM, SIGQUIT or SIGHUP cancels the task, which unwinds and cleans up; a
 * second one ends the program on the spot, unless it is a SIGHUP. A terminal that is closed may
 * send several SIGHUPs, so these never do. A signal that was ignored when keel was started stays
 * ignored. Signals are the program's business: the library never touches them. */
#ifndef KEEL_CLI_INTERRUPT_H
#define KEEL_CLI_INTERRUPT_H

#include "sys/loop.h"

/* Runs fn on a loop of its own. ERR_CANCELLED: a signal came before it ended. clock NULL: the
 * machine's. */
MUST_USE struct err *cli_run_task(const struct clock *clock, task_fn fn, void *arg);

/* The program's exit status, from what its command gives: that of an interrupted one names the
 * signal, as a shell would (130, 143, 131, 129). */
int cli_exit_status(int status);

/* For reads and writes that block the loop's thread: waits until fd is ready for `events` of
 * poll(2). False: a signal that ends keel came first. Then output gets one more second in all,
 * because its reader may only be slow. */
bool cli_wait_ready(int fd, short events);

#endif
