/* run.h - a command's work, as a task that the person can interrupt.
 *
 * The first SIGINT or SIGTERM cancels the task, which unwinds and cleans up; the second ends the
 * program on the spot. A signal that was ignored when keel was started stays ignored. Signals are
 * the program's business: the library never touches them. */
#ifndef KEEL_CLI_RUN_H
#define KEEL_CLI_RUN_H

#include "sys/loop.h"

/* Runs fn on a loop of its own; ERR_CANCELLED when it was interrupted. clock NULL: the machine's.
 */
MUST_USE struct err *cli_run(const struct clock *clock, task_fn fn, void *arg);

#endif
