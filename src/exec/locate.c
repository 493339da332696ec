/* locate.c - opens the places of a policy: from a directory that is held open, through no link, and
 * only if a place is the one that keel has seen.
 *
 * A command that still runs may replace a directory by a link between any two steps. So everything
 * is done with the descriptor that was compared, never with the name. */
#include "exec/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FLAGS = O_PATH | O_NOFOLLOW | O_CLOEXEC };

static int close_with(int fd, int error)
{
    close(fd);
    errno = error;
    return -1;
}

/* Opens the next name of the path below `dir`, which is closed. Only the last one may be a link. */
static int open_part(int dir, const char *path, size_t n, bool is_last)
{
    char name[NAME_MAX + 1];
    struct stat st;
    int fd;

    if (n > NAME_MAX)
        return close_with(dir, ENAMETOOLONG);
    memcpy(name, path, n);
    name[n] = 0;
    fd = openat(dir, name, FLAGS);
    close_with(dir, errno);
    if (fd < 0 || is_last)
        return fd;
    if (fstat(fd, &st) < 0)
        return close_with(fd, errno);
    return S_ISLNK(st.st_mode) ? close_with(fd, ELOOP) : fd;
}

/* Without openat2(), as in a sandbox of keel. */
static int open_by_parts(int dir, const char *path)
{
    int fd = fcntl(dir, F_DUPFD_CLOEXEC, 0);

    while (fd >= 0 && *path) {
        const char *slash = strchr(path, '/');
        size_t n = slash ? (size_t)(slash - path) : strlen(path);

        fd = open_part(fd, path, n, !slash);
        path += slash ? n + 1 : n;
    }
    return fd;
}

int open_below(int dir, const char *path)
{
    struct open_how how = {
        .flags = FLAGS, .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, dir, *path ? path : ".", &how, sizeof how);

    return fd < 0 && (errno == ENOSYS || errno == EPERM) ? open_by_parts(dir, path) : fd;
}

static bool is_of_path(int error)
{
    return error == ENOENT || error == ENOTDIR || error == EACCES || error == ELOOP ||
           error == EAGAIN || error == EXDEV;
}

/* Nothing could be opened: is that allowed? ENOENT: yes. */
static int judge_absence(const struct policy_item *item, int error)
{
    if (!is_of_path(error))
        return error;
    switch (item->expect) {
    case POLICY_ANY: /* gone, or out of the user's reach */
        return error == ELOOP ? ESTALE : ENOENT;
    case POLICY_ABSENT:
        return error == EACCES || error == EAGAIN ? ESTALE : ENOENT;
    }
    return ESTALE;
}

static bool is_expected(const struct policy_item *item, const struct stat *st)
{
    return item->expect != POLICY_ABSENT &&
           (item->expect != POLICY_THIS ||
            (st->st_dev == item->device && st->st_ino == item->inode));
}

static int compare(const struct policy_item *item, int fd, struct stat *ret_st)
{
    if (fd < 0) {
        errno = judge_absence(item, errno);
        return -1;
    }
    if (fstat(fd, ret_st) < 0)
        return close_with(fd, errno);
    return is_expected(item, ret_st) ? fd : close_with(fd, ESTALE);
}

/* --- directories on the way --- */

enum { MAX_DIRS = sizeof((struct root_fds *)0)->dirs / sizeof((struct root_fds *)0)->dirs[0] };

static const char *path_of(const struct policy_item *item)
{
    return item->text + item->at;
}

static void leave_dir(struct root_fds *roots)
{
    close_with(roots->dirs[--roots->n_dirs].fd, errno);
}

void locate_anew(struct root_fds *roots)
{
    while (roots->n_dirs > 0)
        leave_dir(roots);
}

/* Is the item in the deepest open directory? */
static bool is_inside(const struct root_fds *roots, const struct policy_item *item)
{
    size_t n = roots->dirs[roots->n_dirs - 1].n_bytes;

    return item->root == roots->dirs_of->root &&
           strncmp(path_of(item), path_of(roots->dirs_of), n) == 0 && path_of(item)[n] == '/';
}

/* Opens one directory; or the rest of the way, if no more are kept. */
static int open_dir(const struct root_fds *roots, int above, const char *path, size_t n)
{
    bool is_last = roots->n_dirs == MAX_DIRS - 1;
    char name[PATH_MAX];
    struct stat st;
    int fd;

    if (n >= sizeof name) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(name, path, n);
    name[n] = 0;
    if (is_last)
        return open_below(above, name);
    fd = openat(above, name, FLAGS | O_DIRECTORY);
    if (fd < 0 && errno == ENOTDIR)
        errno = fstatat(above, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode)
                    ? ELOOP
                    : ENOTDIR;
    return fd;
}

/* Opens the directory of the item and finds its name there; -1 and errno. */
static int open_above(struct root_fds *roots, const struct policy_item *item, const char **ret_name)
{
    const char *path = path_of(item), *last = strrchr(path, '/');
    size_t at = 0;
    int fd = roots->fd[item->root];

    /* The last one may have skipped some on the way, and there is no room for more. */
    while (roots->n_dirs > 0 && (roots->n_dirs == MAX_DIRS || !is_inside(roots, item)))
        leave_dir(roots);
    if (roots->n_dirs > 0) {
        fd = roots->dirs[roots->n_dirs - 1].fd;
        at = roots->dirs[roots->n_dirs - 1].n_bytes + 1;
    }
    roots->dirs_of = item;
    while (last && path + at <= last) {
        const char *end = roots->n_dirs == MAX_DIRS - 1 ? last : strchr(path + at, '/');

        fd = open_dir(roots, fd, path + at, (size_t)(end - path) - at);
        if (fd < 0)
            return -1;
        at = (size_t)(end - path) + 1;
        roots->dirs[roots->n_dirs].fd = fd;
        roots->dirs[roots->n_dirs].is_watched = false;
        roots->dirs[roots->n_dirs++].n_bytes = at - 1;
    }
    *ret_name = path[at] ? path + at : ".";
    return fd;
}

/* --- one item --- */

int locate(struct root_fds *roots, const struct policy_item *item, struct stat *ret_st)
{
    const char *name;
    int dir;

    if (item->expect == POLICY_ABSENT) /* there is nothing to open */
        return locate_name(roots, item, ret_st, NULL);
    dir = open_above(roots, item, &name);
    return compare(item, dir < 0 ? -1 : openat(dir, name, FLAGS), ret_st);
}

int locate_now(struct root_fds *roots, const struct policy_item *item, struct stat *ret_st)
{
    const char *name;
    int dir = open_above(roots, item, &name);
    int fd = dir < 0 ? -1 : openat(dir, name, FLAGS);

    return fd < 0 || fstat(fd, ret_st) == 0 ? fd : close_with(fd, errno);
}

int locate_name(struct root_fds *roots, const struct policy_item *item, struct stat *ret_st,
                const char **ret_name)
{
    const char *name = NULL;
    int dir = open_above(roots, item, &name);

    if (dir < 0 || fstatat(dir, name, ret_st, AT_SYMLINK_NOFOLLOW) < 0) {
        errno = judge_absence(item, errno);
        return -1;
    }
    if (ret_name)
        *ret_name = name;
    if (is_expected(item, ret_st))
        return dir;
    errno = ESTALE;
    return -1;
}

int locate_source(const struct root_fds *roots, const struct policy_item *item, struct stat *ret_st)
{
    return compare(item, open_below(roots->fd[0], item->text + 1), ret_st);
}

struct fault fault_of_item(int error, unsigned index)
{
    return (struct fault){error, error == ESTALE ? EXEC_STEP_CHANGED : EXEC_STEP_ITEM, index};
}

/* --- roots --- */

bool roots_begin(struct root_fds *roots)
{
    roots->fd[0] = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    roots->n = 1;
    return roots->fd[0] >= 0;
}

struct fault roots_open(const struct policy_header *p, struct root_fds *roots)
{
    unsigned i = 0;
    struct stat st;

    if (!roots_begin(roots))
        return (struct fault){errno, EXEC_STEP_POLICY, 0};
    policy_each(item, p)
    {
        if (policy_is_root(item->kind)) {
            int fd = locate_source(roots, item, &st);

            if (fd < 0)
                return fault_of_item(errno, i);
            roots->fd[roots->n++] = fd;
        }
        i++;
    }
    return (struct fault){0};
}

void roots_close(struct root_fds *roots)
{
    locate_anew(roots);
    while (roots->n > 0) {
        int fd = roots->fd[--roots->n];

        if (fd >= 0)
            close(fd);
    }
}

/* --- the working directory --- */

static struct fault enter(struct root_fds *roots, const struct policy_item *item, unsigned index)
{
    struct stat st;
    int fd = locate(roots, item, &st);

    if (fd < 0 && errno == ESTALE)
        return fault_of_item(ESTALE, index);
    if (fd < 0 || fchdir(fd) < 0)
        return (struct fault){errno, EXEC_STEP_CWD, index};
    close(fd);
    return (struct fault){0};
}

struct fault cwd_enter(const struct policy_header *p, struct root_fds *roots)
{
    struct fault fault = {0};
    unsigned i = 0;

    policy_each(item, p)
    {
        if (item->kind == POLICY_CWD) {
            locate_anew(roots);
            fault = enter(roots, item, i);
            locate_anew(roots);
            return fault;
        }
        i++;
    }
    return (struct fault){chdir("/") < 0 ? errno : 0, EXEC_STEP_CWD, 0};
}
