/* locate.c - opens what a policy names: from a directory that is held open, through no link, and
 * only if it is what keel has seen there.
 *
 * A command that still runs may exchange a directory for a link between any two steps. Whatever is
 * done with a place is done with the descriptor that was compared, never with its name. */
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

/* The next name of the path below `dir`, which is closed. A link may be the last one only. */
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

/* Where there is no openat2(), as in a sandbox of keel's own. */
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

/* Nothing could be opened: is that as it should be? ENOENT: yes. */
static int judge_absence(const struct policy_item *item, int error)
{
    if (!is_of_path(error))
        return error;
    switch (item->expect) {
    case POLICY_ANY: /* gone, or out of the user's own reach */
        return error == ELOOP ? ESTALE : ENOENT;
    case POLICY_ABSENT:
        return error == EACCES || error == EAGAIN ? ESTALE : ENOENT;
    }
    return ESTALE;
}

static int compare(const struct policy_item *item, int fd, struct stat *ret_st)
{
    if (item->expect == POLICY_ABSENT)
        return close_with(fd, ESTALE);
    if (fstat(fd, ret_st) < 0)
        return close_with(fd, errno);
    if (item->expect == POLICY_THIS &&
        (ret_st->st_dev != item->device || ret_st->st_ino != item->inode))
        return close_with(fd, ESTALE);
    return fd;
}

int locate_from(int dir, const char *path, const struct policy_item *item, struct stat *ret_st)
{
    int fd = open_below(dir, path);

    if (fd >= 0)
        return compare(item, fd, ret_st);
    errno = judge_absence(item, errno);
    return -1;
}

int locate(const struct root_fds *roots, const struct policy_item *item, struct stat *ret_st)
{
    return locate_from(roots->fd[item->root], item->text + item->at, item, ret_st);
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
            int fd = locate_from(roots->fd[0], item->text + 1, item, &st);

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
    while (roots->n > 0) {
        int fd = roots->fd[--roots->n];

        if (fd >= 0)
            close(fd);
    }
}

/* --- where the command starts --- */

struct fault cwd_enter(const struct policy_header *p, const struct root_fds *roots)
{
    struct stat st;
    unsigned i = 0;
    int fd;

    policy_each(item, p)
    {
        if (item->kind != POLICY_CWD) {
            i++;
            continue;
        }
        fd = locate(roots, item, &st);
        if (fd < 0 && errno == ESTALE)
            return fault_of_item(ESTALE, i);
        if (fd < 0 || fchdir(fd) < 0)
            return (struct fault){errno, EXEC_STEP_CWD, i};
        close(fd);
        return (struct fault){0};
    }
    return (struct fault){chdir("/") < 0 ? errno : 0, EXEC_STEP_CWD, 0};
}
