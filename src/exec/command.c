/* command.c - forks, and turns the child into the command. */
#include "exec/exec.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct fault failed(int error)
{
    return (struct fault){error, EXEC_STEP_NONE, 0};
}

/* Builds the walls that the command builds around itself. From here on it can do nothing but
 * execve(). */
static struct fault confine(const struct policy_header *p, struct root_fds *roots, int rules_fd)
{
    struct fault fault = privileges_drop(/* keep_files= */ geteuid() == 0);
    int landlock_abi = 0;

    if (!fault.error)
        fault = landlock_confine(p, roots, rules_fd, &landlock_abi);
    if (!fault.error)
        fault = seccomp_confine(p, landlock_abi);
    return fault;
}

/* Renames the variables that were kept from this program to their own names. */
static void release_variables(void)
{
    static const char prefix[] = EXEC_KEPT_VARIABLE;

    for (char **entry = environ; *entry; entry++)
        if (strncmp(*entry, prefix, sizeof prefix - 1) == 0)
            *entry += sizeof prefix - 1;
}

/* All signals are blocked: only keel decides, or its end. */
static bool may_start(const struct options *o)
{
    struct exec_record record;

    return !o->is_held || (recv(o->control, &record, sizeof record, 0) == (ssize_t)sizeof record &&
                           record.version == EXEC_PROTOCOL_VERSION && record.kind == EXEC_START);
}

/* Returns only on failure. The command gets a session of its own, so that its signals do not reach
 * the supervisor, nor those of the supervisor's terminal the command. */
static struct fault become_command(const struct options *o, struct exec_place *place,
                                   pid_t supervisor)
{
    struct fault fault = {0};
    sigset_t none;

    if (setsid() < 0)
        return failed(errno);
    if (o->tty && ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0)
        return failed(errno);
    if (place->mode == EXEC_MODE_SUBREAPER) {
        /* If KILL ends the supervisor, the command dies too, but its children stay. In a namespace
         * all of them die with init. */
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        if (getppid() != supervisor)
            return failed(ESRCH);
    }
    if (place->policy) {
        if (place->own_user_namespace)
            limits_set_for_command();
        fault = confine(place->policy, &place->roots, o->rules_fd);
    } else if (place->own_user_namespace) {
        fault = privileges_drop(/* keep_files= */ false);
    }
    if (fault.error)
        return fault;
    if (o->has_notices)
        notices_begin(o->control);
    if (!may_start(o))
        return failed(ECANCELED);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    release_variables();
    execve(o->program, o->argv, environ);
    return failed(errno);
}

enum { STACK_BYTES = 64 << 10 };

struct birth {
    const struct options *options;
    struct exec_place *place;
    pid_t supervisor;
    struct fault fault; /* why it did not become the command */
};

/* Its stack is unknown to sanitizers. */
__attribute__((no_sanitize_address)) static int run_child(void *arg)
{
    struct birth *b = arg;

    b->fault = become_command(b->options, b->place, b->supervisor);
    _exit(EXIT_CANNOT_RUN);
}

/* The child shares this memory, and has a stack of its own in it, until it executes the command or
 * ends; this process waits until then. So no page tables are copied, and the child can leave its
 * error here. Not vfork(): some C libraries implement it as fork(). */
struct fault command_start(const struct options *o, struct exec_place *place, pid_t *ret_pid)
{
    _Alignas(16) static char stack[STACK_BYTES];
    struct birth b = {.options = o, .place = place, .supervisor = getpid()};
    pid_t pid = clone(run_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, &b);

    if (pid < 0)
        b.fault = failed(errno);
    else if (b.fault.error)
        waitpid(pid, NULL, 0);
    *ret_pid = pid;
    return b.fault;
}
