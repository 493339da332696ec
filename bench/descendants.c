/* descendants.c - runs a command with its output thrown away and prints what it and all processes
 * that it started took.
 *
 *     bench-descendants time|memory SECONDS COMMAND [ARGUMENT]...
 *
 * After so many seconds all of them are killed. Processes whose parent ends become ours, so that in
 * the end all were waited for and the kernel has added up their processor time. Those that outlive
 * the command have some more time. With "memory" the resident memory of all is added up every few
 * milliseconds; a page that several share counts for each of them. Looking takes time, so "time"
 * does without. */
#include "bench.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_PROCESSES 8192
#define LOOK_MS 5
#define REST_SECONDS 10

struct process {
    int pid, parent;
    long resident_pages;
    bool is_ours;
};

struct table {
    struct process all[MAX_PROCESSES];
    int n;
};

static bool read_process(int pid, struct process *ret_process)
{
    struct process p = {.pid = pid};
    char path[64], line[1024];
    const char *rest;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    if (pid <= 0 || !(file = fopen(path, "r")))
        return false;
    /* a name may hold anything, but nothing after it holds a parenthesis */
    rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    fclose(file);
    if (!rest || sscanf(rest,
                        ") %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
                        "%*s %*s %*s %ld",
                        &p.parent, &p.resident_pages) != 2)
        return false;
    *ret_process = p;
    return true;
}

static const struct process *find_parent(const struct table *t, const struct process *p)
{
    for (int i = 0; i < t->n; i++)
        if (t->all[i].pid == p->parent)
            return &t->all[i];
    return NULL;
}

/* Those that come from us, however far down. */
static void mark_ours(struct table *t)
{
    for (bool is_new = true; is_new;) {
        is_new = false;
        for (int i = 0; i < t->n; i++) {
            struct process *p = &t->all[i];
            const struct process *parent = p->is_ours ? NULL : find_parent(t, p);

            if (!p->is_ours && (p->parent == getpid() || (parent && parent->is_ours)))
                p->is_ours = is_new = true;
        }
    }
}

static void read_table(struct table *t)
{
    DIR *directory = opendir("/proc");
    struct dirent *entry;

    t->n = 0;
    while (directory && t->n < MAX_PROCESSES && (entry = readdir(directory)))
        t->n += read_process(atoi(entry->d_name), &t->all[t->n]);
    if (directory)
        closedir(directory);
    mark_ours(t);
}

/* A child between vfork() and exec() runs in its parent's memory and has none of its own. */
static bool shares_memory(const struct process *p, const struct process *parent)
{
    return parent && parent->is_ours &&
           syscall(SYS_kcmp, p->pid, parent->pid, KCMP_VM, 0UL, 0UL) == 0;
}

static long total_kib(struct table *t)
{
    long n_pages = 0;

    read_table(t);
    for (int i = 0; i < t->n; i++) {
        const struct process *p = &t->all[i];
        struct process now;

        /* read again: what was its parent's memory a moment ago may have become its own */
        if (p->is_ours && !shares_memory(p, find_parent(t, p)) && read_process(p->pid, &now))
            n_pages += now.resident_pages;
    }
    return n_pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static void kill_ours(struct table *t)
{
    read_table(t);
    for (int i = 0; i < t->n; i++)
        if (t->all[i].is_ours)
            kill(t->all[i].pid, SIGKILL);
}

/* Waits until the command ends, or kills it. Returns the most memory that was seen on the way. */
static long wait_for(pid_t pid, struct table *table, double until, bool looks)
{
    struct pollfd process = {.fd = pidfd_open(pid, 0), .events = POLLIN};
    long now, peak = 0;

    while (poll(&process, 1, looks ? LOOK_MS : (int)((until - seconds()) * 1e3)) == 0) {
        if (seconds() >= until) {
            kill_ours(table);
            break;
        }
        if (looks && (now = total_kib(table)) > peak)
            peak = now;
    }
    close(process.fd);
    return peak;
}

/* What the command left behind, with some time to end by itself. */
static void wait_for_rest(struct table *table)
{
    double until = seconds() + REST_SECONDS;
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0) {
        if (pid == 0 && seconds() > until)
            kill_ours(table);
        if (pid == 0)
            poll(NULL, 0, LOOK_MS);
    }
}

static double in_ms(struct timeval t)
{
    return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3;
}

static pid_t start(char **command)
{
    posix_spawn_file_actions_t files;
    pid_t pid;

    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, command[0], &files, NULL, command, environ)) {
        fprintf(stderr, "bench-descendants: cannot run %s\n", command[0]);
        exit(EXIT_FAILURE);
    }
    posix_spawn_file_actions_destroy(&files);
    return pid;
}

int main(int argc, char **argv)
{
    static struct table table;
    struct rusage used;
    double begin, end;
    long peak;
    int status;
    pid_t pid;

    if (argc < 4) {
        fprintf(stderr, "usage: bench-descendants time|memory SECONDS COMMAND [ARGUMENT]...\n");
        return EXIT_FAILURE;
    }
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    begin = seconds();
    pid = start(argv + 3);
    peak = wait_for(pid, &table, begin + atof(argv[2]), strcmp(argv[1], "memory") == 0);
    end = seconds();
    waitpid(pid, &status, 0);
    wait_for_rest(&table);
    getrusage(RUSAGE_CHILDREN, &used);
    printf("{\"wall_ms\":%.4f,\"cpu_ms\":%.3f,\"peak_kib\":%ld}\n", (end - begin) * 1e3,
           in_ms(used.ru_utime) + in_ms(used.ru_stime), peak);
    if (WIFSIGNALED(status))
        fprintf(stderr, "it was ended by signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}
