/* proc_clone.c - starts a supervisor as init of a new pid namespace, if keel itself may.
 *
 * That saves the process that would otherwise make the namespace and wait for its init: a fork, an
 * exit and two changes of process for every command. posix_spawn() has no flag for it, so its work
 * is done here. The child runs in keel's memory, on a stack of its own, while this thread waits,
 * and with every signal blocked, so that no handler of keel's runs in it. keel-exec unblocks them
 * for the command. */
#include "sys/proc_internal.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { STACK_BYTES = 32 << 10 };

struct cloned_child {
    const struct proc_spec *spec;
    const struct child_fds *fds;
    const char *program;
    const char *const *argv;
    int error; /* why it did not become the program */
};

/* A command must not ignore what keel ignores; handlers end with execve(). */
static void reset_signals(void)
{
    struct sigaction normal = {.sa_handler = SIG_DFL};

    for (int signal = 1; signal < NSIG; signal++)
        sigaction(signal, &normal, NULL);
}

static bool take_fds(const struct child_fds *c)
{
    for (int fd = 0; fd < c->n; fd++)
        if (dup2(c->fd[fd], fd) < 0)
            return false;
    return close_range((unsigned)c->n, ~0u, 0) == 0;
}

/* The policy says where a confined command starts. */
static bool enter_cwd(const struct proc_spec *spec)
{
    return spec->confinement || !spec->cwd || chdir(spec->cwd) == 0;
}

/* Shares memory with its parent: changes nothing but its stack and the error. */
__attribute__((no_sanitize_address)) static int become_program(void *arg)
{
    static const char *const empty[] = {NULL};
    struct cloned_child *c = arg;
    const char *const *environment = c->spec->environment ? c->spec->environment : empty;

    reset_signals();
    if (setsid() >= 0 && take_fds(c->fds) && enter_cwd(c->spec))
        execve(c->program, (char *const *)c->argv, (char *const *)environment);
    c->error = errno;
    _exit(127);
}

int proc_clone_init(const struct proc_spec *spec, const struct child_fds *c, const char *program,
                    const char *const *argv, pid_t *ret_pid)
{
    struct cloned_child child = {spec, c, program, argv, 0};
    AUTO_FREE char *stack = mem_alloc(STACK_BYTES);
    sigset_t all, old;
    pid_t pid;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pid = clone(become_program, stack + STACK_BYTES,
                CLONE_VM | CLONE_VFORK | CLONE_NEWPID | SIGCHLD, &child);
    if (pid < 0)
        child.error = errno;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (pid > 0 && child.error)
        waitpid(pid, NULL, 0);
    if (!child.error)
        *ret_pid = pid;
    return child.error;
}
