/* holders.c - finds processes that can reach a file or directory other than by its path.
 *
 * A descriptor that only names a file (O_PATH) is as good as an open one: /proc/self/fd opens it
 * again. For descriptors in the queue of a socket the kernel only reports their number: any of them
 * may be it. A file system in user space could block for ever, so nothing here asks a file system:
 * the kernel knows device and inode. */
#include "exec/exec.h"
#include "exec/kernel.h"
#include "exec/processes.h"
#include "exec/standstill.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
    KCMP_FILES = 2,
    /* The tree is stopped, and keel is not heard, while they are checked one by one. A command with
     * more of them hides something, or may do so. */
    MAX_FDS = 1 << 16,
    MAX_MAPPINGS = 1 << 18,
};

struct holder_search {
    const struct held_place *place;
    size_t n_path;
    pid_t first_tid;            /* of the process being checked; 0: none yet */
    unsigned n_fds, n_mappings; /* checked so far */
    bool is_found;
};

/* --- one way --- */

static bool is_that(const struct holder_search *s, uint64_t device, uint64_t inode)
{
    return inode == s->place->st->st_ino && device == s->place->st->st_dev;
}

/* The place itself or, if it is a hidden directory, a place below it. */
static bool is_path_of(const struct holder_search *s, const char *path)
{
    return strncmp(path, s->place->path, s->n_path) == 0 &&
           (!path[s->n_path] || path[s->n_path] == ' ' || /* " (deleted)" */
            (path[s->n_path] == '/' && s->place->is_hidden));
}

/* Is there a number other than 0 after `label`? */
static bool has_any(const char *text, const char *label)
{
    const char *at = strstr(text, label);

    return at && strtoul(at + strlen(label), NULL, 10) > 0;
}

/* `fds` is /proc/PID/task/TID/fd. */
static bool carries_any(int fds, const char *name, const char *path)
{
    char info[1024];

    return strncmp(path, "socket:", 7) == 0 &&
           (read_entry(fds, "../fdinfo", name, info, sizeof info) < 0 ||
            has_any(info, "\nscm_fds:"));
}

/* Checks a link of /proc to a file. */
static bool leads_to_it(const struct holder_search *s, int dir, const char *name)
{
    static char path[PATH_MAX + 1];
    struct kernel_statx st;
    ssize_t n;

    if (kernel_statx_at(dir, name, &st) < 0)
        return errno != ENOENT;
    if (is_that(s, makedev(st.device_major, st.device_minor), st.inode))
        return true;
    n = readlinkat(dir, name, path, sizeof path - 1);
    if (n < 0 || n == sizeof path - 1)
        return true;
    path[n] = 0;
    return (s->place->is_hidden && is_path_of(s, path)) || carries_any(dir, name, path);
}

/* --- a process --- */

static bool look_at_fd(void *self, int dir, const char *name, int number)
{
    struct holder_search *s = self;

    return !(s->is_found = s->n_fds++ == MAX_FDS || leads_to_it(s, dir, name));
}

/* Threads share their descriptors, unless they asked for their own. */
static bool shares_files(const struct holder_search *s, pid_t tid)
{
    return s->first_tid && syscall(SYS_kcmp, s->first_tid, tid, KCMP_FILES, 0, 0) == 0;
}

static bool has_open(struct holder_search *s, int tasks, const char *tid)
{
    int fds = open_entry(tasks, tid, "fd", O_RDONLY | O_DIRECTORY);

    if (fds < 0 || !each_number(fds, look_at_fd, s))
        s->is_found = true;
    if (fds >= 0)
        close(fds);
    return s->is_found;
}

/* "START-END RIGHTS OFFSET MAJOR:MINOR INODE PATH". Some file systems have another device here than
 * elsewhere; the path is the current one of the file. */
static bool maps_it(const struct holder_search *s, char *line)
{
    char *at = line, *path;
    unsigned long major, minor, inode;

    for (int i = 0; i < 3 && at; i++)
        at = (at = strchr(at, ' ')) ? at + 1 : NULL;
    if (!at)
        return true;
    major = strtoul(at, &at, 16);
    minor = strtoul(at + 1, &at, 16);
    inode = strtoul(at, &at, 10);
    path = strchr(at, '/');
    return is_that(s, makedev(major, minor), inode) || (inode && path && is_path_of(s, path));
}

/* The last line may continue in the next read. */
static size_t look_at_lines(struct holder_search *s, char *text, size_t n)
{
    char *line = text, *end;

    while (!s->is_found && (end = memchr(line, '\n', n - (size_t)(line - text)))) {
        *end = 0;
        s->is_found = s->n_mappings++ == MAX_MAPPINGS || maps_it(s, line);
        line = end + 1;
    }
    n -= (size_t)(line - text);
    memmove(text, line, n);
    return n;
}

static bool has_mapped(struct holder_search *s, int tasks, const char *tid)
{
    static char text[2 * PATH_MAX];
    int fd = open_entry(tasks, tid, "maps", O_RDONLY);
    size_t n_kept = 0;
    ssize_t n = -1;

    while (fd >= 0 && !s->is_found && n_kept < sizeof text &&
           (n = read(fd, text + n_kept, sizeof text - n_kept)) > 0)
        n_kept = look_at_lines(s, text, n_kept + (size_t)n);
    if (fd >= 0)
        close(fd);
    if (n != 0)
        s->is_found = true;
    return s->is_found;
}

static bool is_in_it(struct holder_search *s, int tasks, const char *tid)
{
    static const char *const links[] = {"cwd", "root", "exe", NULL};
    int dir = open_entry(tasks, tid, "", O_PATH | O_DIRECTORY);

    if (dir < 0)
        s->is_found = true;
    for (const char *const *link = links; *link && !s->is_found; link++)
        s->is_found = leads_to_it(s, dir, *link);
    if (dir >= 0)
        close(dir);
    return s->is_found;
}

/* A dead thread has nothing. */
static bool look_at_thread(void *self, int dir, const char *name, int tid)
{
    struct holder_search *s = self;
    struct task_state state;

    if (!task_look(dir, name, &state)) {
        s->is_found = true;
    } else if (state.letter != 'Z' && state.letter != 'X') {
        s->is_found = is_in_it(s, dir, name) || (!s->first_tid && has_mapped(s, dir, name)) ||
                      (!shares_files(s, tid) && has_open(s, dir, name));
        if (!s->first_tid)
            s->first_tid = tid;
    }
    return !s->is_found;
}

static bool look_at_process(void *self, int dir, const char *name, int pid)
{
    struct holder_search *s = self;
    int tasks;

    if (pid == getpid())
        return true;
    s->first_tid = 0;
    tasks = open_entry(dir, name, "task", O_RDONLY | O_DIRECTORY);
    if (tasks < 0 || !each_number(tasks, look_at_thread, s))
        s->is_found = true;
    if (tasks >= 0)
        close(tasks);
    return !s->is_found;
}

bool is_held(const struct held_place *place)
{
    struct holder_search s = {.place = place, .n_path = strlen(place->path)};
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_free = proc >= 0 && each_number(proc, look_at_process, &s);

    if (proc >= 0)
        close(proc);
    return !is_free;
}
