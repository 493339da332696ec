/* processes.c - reads processes and their threads from /proc. */
#include "exec/processes.h"

#include "exec/exec.h"
#include "exec/kernel.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool each_number(int dir, bool (*visit)(void *self, int dir, const char *name, int number),
                 void *self)
{
    _Alignas(struct kernel_dirent) char buffer[4096];
    int number;
    ssize_t n;

    while ((n = kernel_getdents(dir, buffer, sizeof buffer)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct kernel_dirent *entry = (const struct kernel_dirent *)(buffer + at);

            if (parse_number(entry->d_name, &number) && !visit(self, dir, entry->d_name, number))
                return false;
            at += entry->d_reclen;
        }
    return n == 0;
}

int open_entry(int dir, const char *name, const char *file, int flags)
{
    char path[64];
    size_t n_name = strlen(name), n_file = strlen(file);

    if (n_name + n_file + 2 > sizeof path)
        return -1;
    memcpy(path, name, n_name);
    path[n_name] = '/';
    memcpy(path + n_name + 1, file, n_file + 1);
    return openat(dir, path, flags | O_CLOEXEC);
}

ssize_t read_entry(int dir, const char *name, const char *file, char *text, size_t size)
{
    int fd = open_entry(dir, name, file, O_RDONLY);
    size_t n_all = 0;
    ssize_t n = -1;

    if (fd < 0)
        return -1;
    while (n_all < size - 1 && (n = read(fd, text + n_all, size - 1 - n_all)) > 0)
        n_all += (size_t)n;
    close(fd);
    text[n_all] = 0;
    return n < 0 ? -1 : (ssize_t)n_all;
}

/* The text after the label, at the beginning of a line; NULL: none. */
static const char *find_line(const char *text, const char *label)
{
    const char *at = strstr(text, label);

    return at ? at + strlen(label) : NULL;
}

bool task_look(int tasks, const char *tid, struct task_state *ret)
{
    static char status[16384];
    const char *state, *given_up, *taken;

    if (read_entry(tasks, tid, "status", status, sizeof status) < 0)
        return false;
    state = find_line(status, "\nState:\t");
    given_up = find_line(status, "\nvoluntary_ctxt_switches:\t");
    taken = find_line(status, "\nnonvoluntary_ctxt_switches:\t");
    if (!state || !given_up || !taken)
        return false;
    *ret = (struct task_state){*state, strtoul(given_up, NULL, 10) + strtoul(taken, NULL, 10)};
    return true;
}
