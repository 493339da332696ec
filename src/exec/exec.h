/* exec.h - the parts of keel-exec, the supervisor of one command.
 *
 * It is written to be read in one sitting: main.c reads the options and chooses the mode,
 * namespace.c makes the pid namespace, command.c becomes the command, monitor.c waits and ends the
 * tree, tree.c finds descendants where there is no namespace. Nothing here allocates. */
#ifndef KEEL_EXEC_EXEC_H
#define KEEL_EXEC_EXEC_H

#include "exec/protocol.h"

#include <stdbool.h>
#include <sys/types.h>

enum {
    EXIT_SUPERVISOR = 125, /* keel-exec itself failed */
    EXIT_CANNOT_RUN = 126, /* the command could not be started */
};

struct options {
    int control;
    int grace_ms;
    bool tty, no_namespace;
    const char *program;
    char **argv;
};

/* Where this process stands above the command. */
struct place {
    enum exec_mode mode;
    bool own_user_namespace; /* it gave us capabilities that the command must not have */
};

/* Like fork(), with the child as init of a new pid namespace that has a /proc of its own.
 * -1: this may not be made here, and nothing has changed. */
pid_t namespace_fork(struct place *ret_place);

/* Starts the command and waits until it runs. 0, or errno with nothing left behind. */
int command_start(const struct options *o, const struct place *place, pid_t *ret_pid);

/* Supervises until no descendant is left; gives the exit code. Signals are blocked. */
int monitor_run(const struct options *o, const struct place *place);

/* Lets go of the command's stdio and inherited fds, so that its pipes end when it closes them. */
void release_fds(int first_kept);

/* Signals every descendant of this process, those that forks hide included. */
void tree_signal(int signal);

/* The exit code that a shell would give. */
int exit_code_of(int wait_status);

#endif
