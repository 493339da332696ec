/* command.c - from a fork of the supervisor to the running command. */
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Gives up every capability and every way to gain one: what the command may do is what its user
 * may do. */
static int drop_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};

    for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
        if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
            return errno;
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
        syscall(SYS_capset, &header, none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return errno;
    return 0;
}

/* Returns only when it fails, with errno. A session of its own keeps the command's signals away
 * from the supervisor, and the supervisor's terminal, if any, away from the command. */
static int become_command(const struct options *o, const struct place *place, pid_t supervisor)
{
    sigset_t none;
    int error;

    if (setsid() < 0)
        return errno;
    if (o->tty && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0)
        return errno;
    if (place->mode == EXEC_MODE_SUBREAPER) {
        /* The best that can be done about a supervisor killed by KILL: the command goes too, but
         * what it started stays. In a namespace all of it dies with init. */
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != supervisor)
            return ESRCH;
    }
    if (place->own_user_namespace && (error = drop_capabilities()))
        return error;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(o->program, o->argv, environ);
    return errno;
}

int command_start(const struct options *o, const struct place *place, pid_t *ret_pid)
{
    pid_t supervisor = getpid(), pid;
    int outcome[2], error = 0;

    if (pipe2(outcome, O_CLOEXEC) < 0)
        return errno;
    pid = fork();
    if (pid == 0) {
        error = become_command(o, place, supervisor);
        (void)!write(outcome[1], &error, sizeof error);
        _exit(EXIT_CANNOT_RUN);
    }
    if (pid < 0)
        error = errno;
    close(outcome[1]);
    /* Exec closes the other end; what comes before that is why there was none. */
    if (pid > 0 && read(outcome[0], &error, sizeof error) == (ssize_t)sizeof error)
        waitpid(pid, NULL, 0);
    close(outcome[0]);
    *ret_pid = pid;
    return error;
}
