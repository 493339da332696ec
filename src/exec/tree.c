/* tree.c - finding all descendants through /proc, for a supervisor without a namespace.
 *
 * A process is a descendant when its parent is this process or a descendant. /proc lists pids in
 * ascending order and children mostly follow their parents, so one sweep finds nearly all of
 * them; sweeps are repeated until one finds nobody new, for pids that wrapped around and for
 * processes that forked meanwhile. Two limits are the kernel's: a process that gained privileges
 * cannot be signalled, and one that forks faster than the sweep is caught by a later one only. */
#include "exec/exec.h"
#include "exec/kernel.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_PIDS = 1 << 22, /* the kernel's own limit */
    MAX_SWEEPS = 16,
};

/* One bit a pid: the descendants that were found. Pages that are not touched cost nothing. */
struct pid_set {
    unsigned char bits[MAX_PIDS / 8];
};

static bool has(const struct pid_set *set, pid_t pid)
{
    return pid > 0 && pid < MAX_PIDS && (set->bits[pid / 8] >> (pid % 8) & 1);
}

static void add(struct pid_set *set, pid_t pid)
{
    set->bits[pid / 8] |= (unsigned char)(1 << (pid % 8));
}

/* The parent, or 0 when the process is gone. */
static pid_t parent_of(int proc, const char *pid)
{
    static const char file[] = "/stat";
    char path[64], stat[512], *name_end, *end;
    size_t n_pid = strlen(pid);
    ssize_t n;
    pid_t parent;
    int fd;

    if (n_pid + sizeof file > sizeof path)
        return 0;
    memcpy(path, pid, n_pid);
    memcpy(path + n_pid, file, sizeof file);
    fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, stat, sizeof stat - 1);
    close(fd);
    if (n <= 0)
        return 0;
    stat[n] = 0;
    /* "PID (NAME) STATE PARENT ..."; the name may hold anything, parentheses too. */
    name_end = strrchr(stat, ')');
    if (!name_end || stat + n - name_end < 5 || !(end = strchr(name_end + 4, ' ')))
        return 0;
    *end = 0;
    return parse_number(name_end + 4, &parent) ? parent : 0;
}

/* A kernel without pidfds has only the number. */
static void send_signal(pid_t pid, int pidfd, int signal)
{
    if (pidfd >= 0)
        kernel_pidfd_signal(pidfd, signal);
    else
        kill(pid, signal);
}

/* Signals the process when it is a new descendant. The pidfd is opened before its parent is read:
 * should the pid change hands in between, the signal goes to the dead one and is lost. */
static bool visit(struct pid_set *set, int proc, const char *name, int signal)
{
    pid_t pid, parent;
    bool is_ours;
    int pidfd;

    if (!parse_number(name, &pid) || pid <= 0 || pid >= MAX_PIDS || has(set, pid))
        return false;
    pidfd = kernel_pidfd_open(pid);
    parent = parent_of(proc, name);
    is_ours = parent == getpid() || has(set, parent);
    if (is_ours) {
        add(set, pid);
        send_signal(pid, pidfd, signal);
    }
    if (pidfd >= 0)
        close(pidfd);
    return is_ours;
}

/* How many new descendants there were. */
static int sweep(struct pid_set *set, int proc, int signal)
{
    _Alignas(struct kernel_dirent) static char buffer[32768];
    int n_found = 0;
    ssize_t n;

    lseek(proc, 0, SEEK_SET);
    while ((n = kernel_getdents(proc, buffer, sizeof buffer)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct kernel_dirent *entry = (const struct kernel_dirent *)(buffer + at);

            n_found += visit(set, proc, entry->d_name, signal);
            at += entry->d_reclen;
        }
    return n_found;
}

void tree_signal(int signal)
{
    static struct pid_set set;
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (proc < 0)
        return;
    memset(&set, 0, sizeof set);
    for (int i = 0; i < MAX_SWEEPS && sweep(&set, proc, signal) > 0; i++)
        continue;
    close(proc);
}
