/* probe.c - asks keel-exec what it can build here. */
#include "sandbox/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct err *read_answer(const char *supervisor, int fd, pid_t pid, struct exec_probe *ret)
{
    ssize_t n;

    do
        n = read(fd, ret, sizeof *ret);
    while (n < 0 && errno == EINTR);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    if (n != (ssize_t)sizeof *ret || ret->version != EXEC_PROTOCOL_VERSION)
        return err_hint(err_new(ERR_CONFIGURATION, "%s does not match this keel", supervisor),
                        "install both from the same version, and check KEEL_EXEC");
    return NULL;
}

static struct err *ask(struct exec_probe *ret)
{
    char supervisor[4096], name[] = "keel-exec", option[] = EXEC_OPTION_PROBE;
    char *argv[] = {name, option, NULL}, *environment[] = {NULL};
    posix_spawn_file_actions_t actions;
    struct err *e = NULL;
    int ends[2], error;
    pid_t pid;

    TRY(proc_find_supervisor(supervisor));
    if (pipe2(ends, O_CLOEXEC) < 0)
        return err_errno(ERR_SANDBOX, errno, "cannot create a pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    error = posix_spawn(&pid, supervisor, &actions, NULL, argv, environment);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error)
        e = err_errno(ERR_SANDBOX, error, "cannot run %s", supervisor);
    else
        e = read_answer(supervisor, ends[0], pid, ret);
    close(ends[0]);
    return e;
}

#define ALLOW_NAMESPACES                                                                           \
    "Allow namespaces for keel: in Docker --security-opt seccomp=unconfined --cap-add SYS_ADMIN, " \
    "on Ubuntu sysctl kernel.apparmor_restrict_unprivileged_userns=0"

const char *sandbox_remedy(bool has_namespaces, int landlock_abi)
{
    if (has_namespaces)
        return "Use a kernel with Landlock (CONFIG_SECURITY_LANDLOCK, and landlock in its lsm= "
               "list)";
    if (landlock_abi < SANDBOX_LANDLOCK_SIGNALS)
        return ALLOW_NAMESPACES "; or use a kernel of 6.12 or later with Landlock";
    return ALLOW_NAMESPACES;
}

static void tell_missing(struct sandbox_probe *p)
{
    if (!p->seccomp)
        snprintf(p->missing, sizeof p->missing,
                 "the kernel cannot filter system calls (CONFIG_SECCOMP_FILTER), so commands do "
                 "not run");
    else if (!p->mount_namespace && p->landlock_abi == 0)
        snprintf(p->missing, sizeof p->missing,
                 "neither namespaces nor Landlock are available, so commands do not run. %s",
                 sandbox_remedy(p->mount_namespace, p->landlock_abi));
}

int sandbox_landlock_version(void)
{
    enum { GET_VERSION = 1 };
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, GET_VERSION);

    return version > 0 ? (int)version : 0;
}

const char *sandbox_weakness_of(bool has_namespaces, int landlock_abi)
{
    if (has_namespaces && landlock_abi == 0)
        return "this kernel has no Landlock, so commands can write to your named pipes (FIFOs) "
               "anywhere";
    if (has_namespaces)
        return NULL;
    if (landlock_abi < SANDBOX_LANDLOCK_SIGNALS)
        return "namespaces are not available, so Landlock alone confines commands: they can signal "
               "your other processes (before Linux 6.12), protected files are restored after a "
               "command instead of being read-only, and names and sizes of hidden files can be "
               "guessed";
    return "namespaces are not available, so Landlock alone confines commands: protected files are "
           "restored after a command instead of being read-only, and names and sizes of hidden "
           "files can be guessed";
}

const char *sandbox_weakness(const struct sandbox *s)
{
    if (s->way == SANDBOX_WITHOUT_NAMESPACES)
        return "namespaces are not available, so Landlock alone confines commands";
    if (s->way == SANDBOX_WITH_NAMESPACES && sandbox_landlock_version() == 0)
        return "without Landlock, commands can write to your named pipes (FIFOs)";
    return NULL;
}

struct err *sandbox_probe(struct sandbox_probe *ret_probe)
{
    struct sandbox_probe p = {0};
    struct exec_probe answer;

    TRY(ask(&answer));
    p.mount_namespace = p.net_namespace = p.pid_namespace = answer.has_namespaces;
    p.user_namespace = answer.has_user_namespace;
    p.landlock_abi = answer.landlock_abi;
    p.seccomp = answer.has_seccomp;
    tell_missing(&p);
    if (!p.missing[0])
        p.weakness = sandbox_weakness_of(p.mount_namespace, p.landlock_abi);
    p.is_complete = !p.missing[0] && !p.weakness;
    if (!answer.has_namespaces)
        snprintf(p.no_namespaces, sizeof p.no_namespaces, "%s: %s", sandbox_step_text(answer.step),
                 strerror(answer.error));
    *ret_probe = p;
    return NULL;
}
