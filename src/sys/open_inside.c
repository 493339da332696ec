/* open_inside.c - opens below a directory, in one step or part by part. */
#include "sys/open_inside.h"

#include "sys/auto_fd.h"
#include "sys/locked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>

/* A path with ".." is looked at again when somebody moves directories meanwhile. */
#define MAX_TRIES 64

static int open_at_once(int dir_fd, const char *path, int flags)
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
static int open_by_parts(int dir_fd, const char *path, int flags)
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
    fd = open_at_once(dir_fd, path, flags);
    if (fd < 0 && (errno == ENOSYS || errno == EPERM))
        fd = open_by_parts(dir_fd, path, flags);
    return locked_file_check(fd);
}
