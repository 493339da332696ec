/* namespace.c - a pid namespace around the command, where one may be made.
 *
 * Its init is this program: orphans come to it, nothing inside can hide from kill(-1), and the
 * kernel ends all of it with init. It is used only together with a mount namespace that has its
 * own /proc: with the outer /proc the command would see pids that are not its own, and `ps`,
 * /proc/$$ and every debugger would act on the wrong process. Only /proc is made private; mounts
 * that root makes elsewhere spread as before.
 *
 * Root needs no user namespace. Others get one that maps just their own user and group to
 * themselves, so files and getuid() look as before. The capabilities that it brings are for init
 * alone; command.c drops them. */
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0)
        return false;
    n = write(fd, text, strlen(text));
    close(fd);
    return n == (ssize_t)strlen(text);
}

static bool map_identity(uid_t uid, gid_t gid)
{
    char uids[64], gids[64];

    snprintf(uids, sizeof uids, "%u %u 1", uid, uid);
    snprintf(gids, sizeof gids, "%u %u 1", gid, gid);
    /* Without privileges the kernel takes a group map only once setgroups() is given up. */
    return write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", gids) &&
           write_file("/proc/self/uid_map", uids);
}

static bool mount_proc(void)
{
    return mount(NULL, "/proc", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

static pid_t clone_with(uint64_t flags)
{
    struct clone_args args = {.flags = flags, .exit_signal = SIGCHLD};

    return (pid_t)syscall(SYS_clone3, &args, sizeof args);
}

/* Runs in the new init until all is in place; only then the caller hears that it is ready. */
static void become_init(int ready, bool own_user_namespace, uid_t uid, gid_t gid)
{
    char byte = 0;

    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (own_user_namespace && !map_identity(uid, gid))
        _exit(EXIT_SUPERVISOR);
    /* The write fails when the parent died before its death could signal us. */
    if (!mount_proc() || write(ready, &byte, 1) != 1)
        _exit(EXIT_SUPERVISOR);
}

pid_t namespace_fork(struct place *ret_place)
{
    struct place place = {EXEC_MODE_NAMESPACE, false};
    uid_t uid = geteuid();
    gid_t gid = getegid();
    int ready[2];
    pid_t pid;
    char byte;

    if (pipe2(ready, O_CLOEXEC) < 0)
        return -1;
    pid = clone_with(CLONE_NEWPID | CLONE_NEWNS);
    if (pid < 0 && errno == EPERM && uid != 0) {
        place.own_user_namespace = true;
        pid = clone_with(CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWUSER);
    }
    if (pid == 0) {
        close(ready[0]);
        become_init(ready[1], place.own_user_namespace, uid, gid);
        close(ready[1]);
        *ret_place = place;
        return 0;
    }
    close(ready[1]);
    if (pid > 0 && read(ready[0], &byte, 1) != 1) {
        waitpid(pid, NULL, 0);
        pid = -1;
    }
    close(ready[0]);
    return pid;
}
