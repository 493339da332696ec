/* sandbox_stdio.h - what a command in the sandbox gets as its standard input and output.
 *
 * Pipes, terminals and devices are handed on as they are. A file or a directory is not: whoever
 * holds a descriptor of it can change its mode and times, and walk from a directory to others. So
 * files are copied through pipes, and directories are left out. */
#ifndef KEEL_CLI_SANDBOX_STDIO_H
#define KEEL_CLI_SANDBOX_STDIO_H

#include "sys/proc.h"

/* Says in the spec what is handed on and what becomes a pipe. */
void sandbox_stdio_choose(struct proc_spec *spec);
/* Copies until the command has ended and its output with it. */
MUST_USE struct err *sandbox_stdio_follow(struct proc *p, const struct proc_spec *spec,
                                          struct proc_status *ret_status);

#endif
