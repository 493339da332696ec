/* command.c - from a fork of the supervisor to the running command. */
#include "exec/exec.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fault failed(int error)
{
    return (struct fault){error, EXEC_STEP_NONE, 0};
}

/* The walls that the command builds around itself. From here on it can do nothing but execve(). */
static struct fault confine(const struct policy_header *p, const struct root_fds *roots)
{
    struct fault fault = privileges_drop(/* keep_files= */ geteuid() == 0);
    int landlock_abi = 0;

    if (!fault.error)
        fault = landlock_confine(p, roots, &landlock_abi);
    if (!fault.error)
        fault = seccomp_confine(p, landlock_abi);
    return fault;
}

/* Gives variables that were kept from this program their names back. */
static void release_variables(void)
{
    static const char prefix[] = EXEC_KEPT_VARIABLE;

    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, prefix, sizeof prefix - 1) == 0)
            *entry += sizeof prefix - 1;
}

/* Returns only when it fails. A session of its own keeps the command's signals away
 * from the supervisor, and the supervisor's terminal, if any, away from the command. */
static struct fault become_command(const struct options *o, const struct place *place,
                                   pid_t supervisor)
{
    struct fault fault = {0};
    sigset_t none;

    if (setsid() < 0)
        return failed(errno);
    if (o->tty && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0)
        return failed(errno);
    if (place->mode == EXEC_MODE_SUBREAPER) {
        /* The best that can be done about a supervisor killed by KILL: the command goes too, but
         * what it started stays. In a namespace all of it dies with init. */
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != supervisor)
            return failed(ESRCH);
    }
    if (place->policy)
        fault = confine(place->policy, &place->roots);
    else if (place->own_user_namespace)
        fault = privileges_drop(/* keep_files= */ false);
    if (fault.error)
        return fault;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    release_variables();
    execve(o->program, o->argv, environ);
    return failed(errno);
}

/* The child has this memory until it executes the command or ends, and we stand still until then:
 * no page tables are copied, and it leaves here why it could not. */
struct fault command_start(const struct options *o, const struct place *place, pid_t *ret_pid)
{
    static struct fault fault;
    pid_t supervisor = getpid(), pid = vfork();

    if (pid == 0) {
        fault = become_command(o, place, supervisor);
        _exit(EXIT_CANNOT_RUN);
    }
    if (pid < 0)
        fault = failed(errno);
    else if (fault.error)
        waitpid(pid, NULL, 0);
    *ret_pid = pid;
    return fault;
}
