/* plain.c - opens the directory of a path. */
#include "snapshot/plain.h"

#include "sys/auto_fd.h"
#include "sys/open_plain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#define DIR_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* Opens one name of the path; `dir` is closed. */
static int step_down(int dir, const char *name, struct unlocks *unlocks)
{
    int fd = openat(dir, name, DIR_FLAGS), error;

    if (fd < 0 && errno == EACCES && unlocks_add(unlocks, dir))
        fd = openat(dir, name, DIR_FLAGS);
    error = errno;
    close(dir);
    errno = error;
    return fd;
}

/* Name by name, because something on the way is locked. */
static int open_by_steps(char *dir, struct unlocks *unlocks)
{
    int fd = open("/", DIR_FLAGS);
    char *rest = dir, *name;

    while (fd >= 0 && (name = strsep(&rest, "/")))
        if (*name)
            fd = step_down(fd, name, unlocks);
    return fd;
}

static int open_dir(char *dir, int access, struct unlocks *unlocks)
{
    int fd = open_plain(*dir ? dir : "/", O_PATH | O_DIRECTORY);

    if (!unlocks)
        return fd;
    if (fd < 0 && errno == EACCES)
        fd = open_by_steps(dir, unlocks);
    if (fd >= 0 && geteuid() != 0 && faccessat(fd, ".", access, AT_EACCESS) < 0)
        unlocks_add(unlocks, fd);
    return fd;
}

static int open_parent(const char *path, int access, struct unlocks *unlocks, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash ? (size_t)(slash - path) : 0;
    char dir[PATH_MAX];

    if (!slash || n >= sizeof dir || !slash[1]) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(dir, path, n);
    dir[n] = '\0';
    *ret_name = slash + 1;
    return open_dir(dir, access, unlocks);
}

int plain_open_parent(const char *path, struct unlocks *unlocks, const char **ret_name)
{
    return open_parent(path, X_OK, unlocks, ret_name);
}

int plain_open_writable(const char *path, struct unlocks *unlocks, const char **ret_name)
{
    return open_parent(path, W_OK | X_OK, unlocks, ret_name);
}

DIR *plain_open_list(const char *path, struct unlocks *unlocks)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    const char *name;
    AUTO_FD parent = plain_open_parent(path, unlocks, &name);
    AUTO_FD path_fd = parent < 0 ? -1 : openat(parent, name, flags | O_PATH);
    int fd = path_fd < 0 ? -1 : openat(path_fd, ".", flags);
    DIR *list;

    if (path_fd >= 0 && fd < 0 && errno == EACCES && unlocks_add(unlocks, path_fd))
        fd = openat(path_fd, ".", flags);
    list = fd < 0 ? NULL : fdopendir(fd);
    if (!list)
        close_fd(&fd);
    return list;
}

void plain_unlock(struct unlocks *unlocks, int dir_fd, const char *name)
{
    AUTO_FD fd = -1;

    if (faccessat(dir_fd, name, R_OK | X_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW) == 0)
        return;
    fd = openat(dir_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        unlocks_add(unlocks, fd);
}

bool plain_is_absent(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP;
}
