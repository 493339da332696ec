/* tree.c - finds all descendants through /proc, for a supervisor that is neither init of a
 * namespace nor enclosed (landlock_enclose()).
 *
 * A process is a descendant if its parent is this process or a descendant. /proc lists pids in
 * ascending order and children usually follow their parents, so one sweep finds nearly all of them;
 * sweeps are repeated until one finds no new ones, for pids that wrapped around and for processes
 * that forked meanwhile. A process that forks faster than the sweep escapes it, but not the signal
 * to its process group, which the kernel sends to all members at once; and if it changes its group
 * too, not a later sweep. A process that gained privileges cannot be signalled. */
#include "exec/exec.h"
#include "exec/kernel.h"
#include "exec/processes.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { MAX_SWEEPS = 16 };

struct kin {
    pid_t parent, group; /* 0 if the process is gone */
};

/* Reads the number at `*text`, and moves past it and the following space; 0: none. */
static pid_t next_number(char **text)
{
    char *start = *text, *end = strchr(start, ' ');
    pid_t number;

    if (!end)
        return 0;
    *end = 0;
    *text = end + 1;
    return parse_number(start, &number) ? number : 0;
}

static struct kin kin_of(int proc, const char *pid)
{
    char stat[512], *at;
    struct kin kin = {0};
    ssize_t n = read_entry(proc, pid, "stat", stat, sizeof stat);

    if (n <= 0)
        return kin;
    /* "PID (NAME) STATE PARENT GROUP ..."; the name may contain anything, also parentheses. */
    at = strrchr(stat, ')');
    if (!at || stat + n - at < 5)
        return kin;
    at += 4;
    kin.parent = next_number(&at);
    kin.group = next_number(&at);
    return kin;
}

/* A kernel without pidfds has only the number. */
static void send_signal(pid_t pid, int pidfd, int signal)
{
    if (pidfd >= 0)
        kernel_pidfd_signal(pidfd, signal);
    else
        kill(pid, signal);
}

/* If one member is a descendant, all are: the command began a session, which no other process can
 * enter. The number is not reused while a group has it. TERM goes to each process once. */
static void kill_group(pid_t group, int signal)
{
    if (signal == SIGKILL && group > 1 && group != getpgrp())
        kill(-group, SIGKILL);
}

/* Signals the process if it is a new descendant. The pidfd is opened before its parent is read: if
 * the pid is reused in between, the signal goes to the dead process and is lost. */
static bool visit(struct pid_set *set, int proc, const char *name, int signal)
{
    struct kin kin;
    bool is_ours;
    int pidfd;
    pid_t pid;

    if (!parse_number(name, &pid) || pid <= 0 || pid >= MAX_PIDS || pid_set_has(set, pid))
        return false;
    pidfd = kernel_pidfd_open(pid);
    kin = kin_of(proc, name);
    is_ours = kin.parent == getpid() || pid_set_has(set, kin.parent);
    if (is_ours) {
        pid_set_add(set, pid);
        send_signal(pid, pidfd, signal);
        kill_group(kin.group, signal);
    }
    if (pidfd >= 0)
        close(pidfd);
    return is_ours;
}

/* Returns the number of new descendants. */
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

static bool holds_others(const struct pid_set *set, const struct pid_set *than)
{
    for (size_t i = 0; i < sizeof set->bits; i++)
        if (set->bits[i] & ~than->bits[i])
            return true;
    return false;
}

bool tree_signal(int signal)
{
    static struct pid_set sets[2];
    static unsigned n_calls;
    struct pid_set *set = &sets[n_calls % 2], *before = &sets[(n_calls + 1) % 2];
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (proc < 0)
        return false;
    n_calls++;
    memset(set, 0, sizeof *set);
    for (int i = 0; i < MAX_SWEEPS && sweep(set, proc, signal) > 0; i++)
        continue;
    close(proc);
    return holds_others(set, before);
}
