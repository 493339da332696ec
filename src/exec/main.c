/* main.c - keel-exec: runs one command and leaves nothing behind.
 *
 * keel starts it for every command of a tool, hook or MCP server; protocol.h is their contract. */
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* After the control channel: the policy, rules, two namespaces, and one that is only held open. */
enum { N_OWN_FDS = 5 };

bool parse_number(const char *text, int *ret_value)
{
    int64_t value = 0;

    for (const char *digit = text; *digit; digit++) {
        if (*digit < '0' || *digit > '9')
            return false;
        value = value * 10 + (*digit - '0');
        if (value > INT_MAX)
            return false;
    }
    *ret_value = (int)value;
    return *text;
}

/* The rest of `arg` if it begins with `name`, else NULL. */
static const char *value_of(const char *arg, const char *name)
{
    size_t n = strlen(name);

    return strncmp(arg, name, n) == 0 ? arg + n : NULL;
}

static bool parse_option(const char *arg, struct options *o)
{
    const char *value;

    if ((value = value_of(arg, EXEC_OPTION_CONTROL)))
        return parse_number(value, &o->control) && o->control > STDERR_FILENO;
    if ((value = value_of(arg, EXEC_OPTION_GRACE)))
        return parse_number(value, &o->grace_ms);
    if ((value = value_of(arg, EXEC_OPTION_POLICY)))
        return parse_number(value, &o->policy_fd) && o->policy_fd > STDERR_FILENO;
    if ((value = value_of(arg, EXEC_OPTION_RULES)))
        return parse_number(value, &o->rules_fd);
    if ((value = value_of(arg, EXEC_OPTION_USER)))
        return parse_number(value, &o->user_fd);
    if ((value = value_of(arg, EXEC_OPTION_NETWORK)))
        return parse_number(value, &o->network_fd);
    if (strcmp(arg, EXEC_OPTION_INIT) == 0)
        return o->is_init = true;
    if (strcmp(arg, EXEC_OPTION_HELD) == 0)
        return o->is_held = true;
    if (strcmp(arg, EXEC_OPTION_NOTICES) == 0)
        return o->has_notices = true;
    if (strcmp(arg, EXEC_OPTION_PARKED) == 0)
        return o->is_parked = true;
    if (strcmp(arg, EXEC_OPTION_TTY) == 0)
        return o->tty = true;
    if (strcmp(arg, EXEC_OPTION_NO_NAMESPACE) == 0)
        return o->no_namespace = true;
    return false;
}

static bool parse_options(char **argv, struct options *ret)
{
    *ret = (struct options){.control = -1,
                            .grace_ms = 2000,
                            .policy_fd = -1,
                            .rules_fd = -1,
                            .user_fd = -1,
                            .network_fd = -1};
    for (argv++; *argv && strcmp(*argv, "--") != 0; argv++)
        if (!parse_option(*argv, ret))
            return false;
    if (ret->is_init && getpid() != 1)
        return false;
    if (ret->is_parked)
        return ret->control >= 0 && !*argv && ret->policy_fd < 0;
    if ((ret->is_init || ret->has_notices) && ret->policy_fd < 0)
        return false;
    if (ret->control < 0 || !argv[0] || !argv[1] || !argv[2])
        return false;
    ret->program = argv[1];
    ret->argv = argv + 2;
    return true;
}

void release_fds(int first_kept)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (null < 0 || dup2(null, fd) < 0)
            close(fd);
    for (int fd = STDERR_FILENO + 1; fd < first_kept; fd++)
        close(fd);
    if (null >= first_kept)
        close(null);
}

int exit_code_of(int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

/* Outside the namespace this process only passes on signals, and ends like init. If it is killed,
 * init dies with it, and the namespace with init. */
static int follow_init(const struct options *o, pid_t init)
{
    sigset_t all;
    int status;

    release_fds(o->control + 1);
    sigfillset(&all);
    for (;;) {
        int signal = sigwaitinfo(&all, NULL);

        if (signal == SIGCHLD && waitpid(init, &status, WNOHANG) == init)
            return exit_code_of(status);
        if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT)
            kill(init, signal);
    }
}

/* Without its policy the command must not run. */
static bool read_policy(const struct options *o, struct exec_place *place)
{
    static const struct fault unreadable = {EINVAL, EXEC_STEP_POLICY, 0};

    if (o->policy_fd < 0)
        return true;
    place->policy = policy_open(o->policy_fd);
    if (!place->policy)
        report_fault(o->control, &unreadable);
    close(o->policy_fd);
    return place->policy;
}

/* The first part, before there is a policy. False: the other process of two, which is done, or no
 * command. */
static bool wait_parked(struct options *o, struct exec_place *place)
{
    pid_t init = 0;

    if (!o->no_namespace)
        init = namespace_park(o, place);
    if (init < 0)
        return false; /* a start that is not parked reports why */
    if (init > 0)
        _exit(follow_init(o, init));
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* commands run as the same user */
    return parked_wait(o, place);
}

static bool wants_namespace(const struct options *o, const struct exec_place *place)
{
    return place->policy ? place->policy->flags & POLICY_NAMESPACES : !o->no_namespace;
}

/* Like namespace_fork(). */
static pid_t make_namespaces(const struct options *o, struct exec_place *place,
                             struct fault *ret_fault)
{
    if (!o->is_init && !o->is_parked)
        return namespace_fork(o, place, ret_fault);
    *ret_fault = namespace_enter(o, place);
    return ret_fault->error ? -1 : 0;
}

int main(int argc, char **argv)
{
    static const char usage[] =
        "keel-exec: keel starts this program to run commands; do not run it yourself\n";
    struct exec_place place = {.mode = EXEC_MODE_SUBREAPER};
    struct fault fault;
    struct options o;
    sigset_t all;
    pid_t init = -1;

    if (argc == 2 && strcmp(argv[1], EXEC_OPTION_PROBE) == 0)
        return probe_run(&(struct options){.control = -1, .user_fd = -1, .network_fd = -1});
    if (argc < 1 || !parse_options(argv, &o)) {
        (void)!write(STDERR_FILENO, usage, sizeof usage - 1);
        return EXIT_SUPERVISOR;
    }
    for (int fd = o.control; fd <= o.control + N_OWN_FDS; fd++)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);

    if (o.is_parked && !wait_parked(&o, &place))
        _exit(EXIT_CANNOT_RUN);
    if (!read_policy(&o, &place))
        _exit(EXIT_CANNOT_RUN);
    if (wants_namespace(&o, &place)) {
        init = make_namespaces(&o, &place, &fault);
        if (init > 0)
            _exit(follow_init(&o, init));
        if (init < 0 && place.policy) {
            report_fault(o.control, &fault);
            _exit(EXIT_CANNOT_RUN);
        }
    }
    if (init < 0 && prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) < 0)
        _exit(EXIT_SUPERVISOR);
    /* The command runs as the same user and must not attach to its supervisor. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    _exit(monitor_run(&o, &place));
}
