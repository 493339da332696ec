/* proc_spawn.c - starts a child, by itself or under its supervisor. */
#include "sys/proc_internal.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/socket.h>

/* --- posix_spawn --- */

/* Preparing a spawn fails only without memory, which is a bug of the caps. */
static void must(int error)
{
    BUG_IF(error != 0);
}

/* The child has default signals and a session of its own: Ctrl-C at keel's terminal does not reach
 * it, and it cannot prompt there. */
static void init_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;

    sigfillset(&all);
    sigemptyset(&none);
    must(posix_spawnattr_init(attributes));
    must(posix_spawnattr_setsigdefault(attributes, &all));
    must(posix_spawnattr_setsigmask(attributes, &none));
    must(posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETSIGMASK));
}

static void init_actions(posix_spawn_file_actions_t *actions, const struct proc_spec *spec,
                         const struct child_fds *c)
{
    must(posix_spawn_file_actions_init(actions));
    if (spec->cwd && !spec->confinement)
        must(posix_spawn_file_actions_addchdir_np(actions, spec->cwd));
    for (int fd = 0; fd < c->n; fd++)
        must(posix_spawn_file_actions_adddup2(actions, c->fd[fd], fd));
    /* A session leader that opens a terminal makes it its controlling one. A supervisor must not
     * have it: the command gets it there. */
    if (c->tty_path[0] && !spec->supervised)
        must(posix_spawn_file_actions_addopen(actions, STDIN_FILENO, c->tty_path, O_RDWR, 0));
    must(posix_spawn_file_actions_addclosefrom_np(actions, c->n));
}

/* posix_spawn and not fork: copying the page tables of a large process takes milliseconds. */
int proc_spawn_program(const struct proc_spec *spec, const struct child_fds *c, const char *program,
                       const char *const *argv, pid_t *ret_pid)
{
    static const char *const empty[] = {NULL};
    const char *const *environment = spec->environment ? spec->environment : empty;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error;

    init_attributes(&attributes);
    init_actions(&actions, spec, c);
    error = posix_spawn(ret_pid, program, &actions, &attributes, (char *const *)argv,
                        (char *const *)environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    return error;
}

/* From here on keel must end and reap the child. */
static struct err *follow(struct proc *p, pid_t pid)
{
    int error;

    p->pid = pid;
    p->pidfd = pidfd_open(pid, 0);
    error = p->pidfd < 0 ? errno : 0;
    if (error && error != ENOSYS)
        return err_errno(ERR_TOOL_FAILED, error, "cannot follow the process of %s", p->name);
    return NULL;
}

/* --- under the supervisor --- */

static struct err *open_control(struct proc *p, struct child_fds *c)
{
    int ends[2];
    AUTO_CLOSE int theirs = -1;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return err_errno(ERR_TOOL_FAILED, errno, "cannot make a control channel for %s", p->name);
    p->control = ends[0];
    theirs = ends[1];
    return child_fds_add(c, theirs);
}

static size_t count(const char *const *argv)
{
    size_t n = 0;

    while (argv[n])
        n++;
    return n;
}

/* keel-exec OPTIONS -- PROGRAM ARGV... */
struct supervisor_argv {
    struct arena arena;
    const char **words;
    size_t n;
};

static void supervisor_argv_done(struct supervisor_argv *v)
{
    arena_done(&v->arena);
}
DEFINE_AUTO_VAL(supervisor_argv, supervisor_argv_done)

static void add_option(struct supervisor_argv *v, const char *option, int64_t value)
{
    v->words[v->n++] = arena_format(&v->arena, "%s%lld", option, (long long)value).p;
}

/* Gives the supervisor a descriptor, and an option that names it. */
static struct err *add_fd(struct supervisor_argv *v, struct child_fds *c, const char *option,
                          int fd)
{
    TRY(child_fds_add(c, fd));
    add_option(v, option, c->n - 1);
    return NULL;
}

static struct err *add_confinement(struct supervisor_argv *v, struct child_fds *c,
                                   const struct proc_confinement *confinement)
{
    TRY(add_fd(v, c, EXEC_OPTION_POLICY, confinement->policy_fd));
    if (confinement->rules_fd >= 0)
        TRY(add_fd(v, c, EXEC_OPTION_RULES, confinement->rules_fd));
    if (confinement->network_fd >= 0)
        TRY(add_fd(v, c, EXEC_OPTION_NETWORK, confinement->network_fd));
    if (confinement->user_fd >= 0)
        TRY(add_fd(v, c, EXEC_OPTION_USER, confinement->user_fd));
    if (confinement->held_fd >= 0)
        TRY(child_fds_add(c, confinement->held_fd));
    if (confinement->wants_notices)
        v->words[v->n++] = EXEC_OPTION_NOTICES;
    return NULL;
}

static struct err *make_supervisor_argv(struct supervisor_argv *v, struct proc *p,
                                        const struct proc_spec *spec, struct child_fds *c,
                                        const char *program)
{
    size_t n_argv = count(spec->argv);

    v->words = ARENA_ARRAY(&v->arena, n_argv + 15, const char *);
    v->words[v->n++] = "keel-exec";
    v->words[v->n++] = EXEC_OPTION_INIT;
    add_option(v, EXEC_OPTION_CONTROL, c->n);
    TRY(open_control(p, c));
    add_option(v, EXEC_OPTION_GRACE, (int64_t)MIN(p->grace_ms, (uint64_t)INT32_MAX));
    if (p->is_pty)
        v->words[v->n++] = EXEC_OPTION_TTY;
    if (spec->before_start)
        v->words[v->n++] = EXEC_OPTION_HELD;
    if (spec->no_namespace)
        v->words[v->n++] = EXEC_OPTION_NO_NAMESPACE;
    if (spec->confinement)
        TRY(add_confinement(v, c, spec->confinement));
    v->words[v->n++] = "--";
    v->words[v->n++] = program;
    memcpy(v->words + v->n, spec->argv, n_argv * sizeof *v->words);
    return NULL;
}

/* If keel may make a pid namespace, it starts the supervisor as its init; otherwise the supervisor
 * makes its own. */
static int spawn_supervisor(const struct proc_spec *spec, const struct child_fds *c,
                            const char *supervisor, const char **argv, pid_t *ret_pid)
{
    if (spec->confinement && spec->confinement->has_namespaces && geteuid() == 0 &&
        proc_clone_init(spec, c, supervisor, argv, ret_pid) == 0)
        return 0;
    argv[1] = argv[0]; /* without EXEC_OPTION_INIT */
    return proc_spawn_program(spec, c, supervisor, argv + 1, ret_pid);
}

static struct err *start_supervised(struct proc *p, const struct proc_spec *spec,
                                    struct child_fds *c, const char *program)
{
    AUTO(supervisor_argv) struct supervisor_argv argv = {0};
    char supervisor[4096];
    pid_t pid;
    int error;

    TRY(proc_find_supervisor(supervisor));
    TRY(make_supervisor_argv(&argv, p, spec, c, program));
    error = spawn_supervisor(spec, c, supervisor, argv.words, &pid);
    if (error == E2BIG)
        return proc_exec_error(spec, program, error);
    if (error)
        return err_hint(err_errno(ERR_TOOL_FAILED, error, "cannot run %s", supervisor),
                        "it supervises every command; reinstall keel if it is damaged");
    return follow(p, pid);
}

struct err *proc_start(struct proc *p, const struct proc_spec *spec, const char *program)
{
    AUTO(child_fds) struct child_fds c = {0};
    bool is_started = false;
    pid_t pid;
    int error;

    BUG_IF(spec->n_extra_fds > CHILD_FDS_MAX - 9);
    BUG_IF((spec->confinement || spec->before_start) && !spec->supervised);
    TRY(proc_open_stdio(p, spec, &c));
    if (spec->confinement && spec->confinement->take_parked)
        TRY(proc_hand_over(p, spec, &c, program, &is_started));
    if (is_started)
        return NULL;
    if (spec->supervised)
        return start_supervised(p, spec, &c, program);
    error = proc_spawn_program(spec, &c, program, spec->argv, &pid);
    return error ? proc_exec_error(spec, program, error) : follow(p, pid);
}
