/* open_below.c - opens what is below a directory: with openat2(), or name by name. */
#include "sys/open_below.h"

#include "sys/auto_fd.h"
#include "sys/locked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

enum {
    MAX_STEP = 4000, /* bytes of a path; the kernel takes 4095 */
    MAX_TRIES = 64,  /* a path with ".." is tried again when somebody moves directories meanwhile */
};

/* --- through no link --- */

static int close_with(int fd, int error)
{
    close(fd);
    errno = error;
    return -1;
}

/* Name by name, where a filter of system calls has no openat2(): in a sandbox of keel's own. */
static int open_by_names(int root, const char *path, int flags)
{
    int dir = fcntl(root, F_DUPFD_CLOEXEC, 0), fd;
    char name[NAME_MAX + 1];
    struct stat st;

    for (size_t n; dir >= 0 && path[n = strcspn(path, "/")]; path += n + 1) {
        if (n > NAME_MAX)
            return close_with(dir, ENAMETOOLONG);
        memcpy(name, path, n);
        name[n] = 0;
        fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && (fstat(fd, &st) < 0 || S_ISLNK(st.st_mode) || strcmp(name, "..") == 0))
            fd = close_with(fd, ELOOP);
        close_with(dir, errno);
        dir = fd;
    }
    if (dir < 0)
        return -1;
    fd = openat(dir, *path ? path : ".", flags | O_NOFOLLOW | O_CLOEXEC);
    close_with(dir, errno);
    return fd;
}

static int open_step(int dir, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, dir, *path ? path : ".", &how, sizeof how);

    return fd < 0 && errno == ENOSYS ? open_by_names(dir, path, flags) : fd;
}

/* How much of a long path to go at once: up to a slash. */
static size_t step_of(const char *path)
{
    size_t n = MAX_STEP;

    while (n > 0 && path[n] != '/')
        n--;
    return n;
}

int open_below(int root, const char *path, int flags)
{
    int dir = root, fd, error;
    char step[MAX_STEP + 1];

    while (strlen(path) > MAX_STEP) {
        size_t n = step_of(path);

        memcpy(step, path, n);
        step[n] = 0;
        fd = n ? open_step(dir, step, O_PATH | O_DIRECTORY) : -1;
        error = n ? errno : ENAMETOOLONG;
        if (dir != root)
            close(dir);
        errno = error;
        if (fd < 0)
            return -1;
        dir = fd;
        path += n + 1;
    }
    fd = open_step(dir, path, flags);
    error = errno;
    if (dir != root)
        close(dir);
    errno = error;
    return fd;
}

/* --- through links that stay inside --- */

static int open_resolved(int dir_fd, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
    };
    int fd, n_tries = 0;

    do
        fd = (int)syscall(SYS_openat2, dir_fd, path, &how, sizeof how);
    while (fd < 0 && errno == EAGAIN && ++n_tries < MAX_TRIES);
    return fd;
}

/* One name after the other, none of them a link or "..". */
static int open_by_plain_names(int dir_fd, const char *path, int flags)
{
    AUTO_FD above = openat(dir_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *slash;
    char name[NAME_MAX + 1];

    if (*path == '/') {
        errno = EXDEV;
        return -1;
    }
    for (; above >= 0 && (slash = strchr(path, '/')); path = slash + 1) {
        size_t n = (size_t)(slash - path);
        int below;

        if (n == 0)
            continue;
        if (n > NAME_MAX || (n == 2 && memcmp(path, "..", 2) == 0)) {
            errno = n > NAME_MAX ? ENAMETOOLONG : EXDEV;
            return -1;
        }
        memcpy(name, path, n);
        name[n] = 0;
        below = openat(above, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        close(above);
        above = below;
    }
    if (above >= 0 && strcmp(path, "..") == 0) {
        errno = EXDEV;
        return -1;
    }
    return above < 0 ? -1 : openat(above, *path ? path : ".", flags | O_NOFOLLOW | O_CLOEXEC);
}

int open_inside(int dir_fd, const char *path, int flags)
{
    int fd;

    if (locked_file_is_at(dir_fd, path, flags)) {
        errno = EBUSY;
        return -1;
    }
    fd = open_resolved(dir_fd, path, flags);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = open_by_plain_names(dir_fd, path, flags);
    return locked_file_check(fd);
}
