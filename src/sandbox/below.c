/* below.c - opening what lies below a directory. */
#include "sandbox/below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Part by part, where a filter of system calls has no openat2(): in a sandbox of keel's own. */
static int open_by_parts(int root, const char *path, int flags)
{
    int dir = fcntl(root, F_DUPFD_CLOEXEC, 0), fd, error;
    const char *slash;
    struct stat st;

    while (dir >= 0 && (slash = strchr(path, '/'))) {
        char name[NAME_MAX + 1];

        snprintf(name, sizeof name, "%.*s", (int)(slash - path), path);
        fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && (fstat(fd, &st) < 0 || S_ISLNK(st.st_mode) || strcmp(name, "..") == 0)) {
            close(fd);
            fd = -1;
            errno = ELOOP;
        }
        error = errno;
        close(dir);
        errno = error;
        dir = fd;
        path = slash + 1;
    }
    if (dir < 0)
        return -1;
    fd = openat(dir, *path ? path : ".", flags | O_NOFOLLOW | O_CLOEXEC);
    error = errno;
    close(dir);
    errno = error;
    return fd;
}

int below_open(int root, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };
    int fd = (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);

    return fd < 0 && errno == ENOSYS ? open_by_parts(root, path, flags) : fd;
}

int below_open_dir(int root, const char *path)
{
    return below_open(root, path, O_RDONLY | O_DIRECTORY);
}

int below_open_parent(int root, const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    char parent[4096];

    if (!slash) {
        *ret_name = path;
        return below_open_dir(root, "");
    }
    if ((size_t)(slash - path) >= sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(parent, path, (size_t)(slash - path));
    parent[slash - path] = 0;
    *ret_name = slash + 1;
    return below_open_dir(root, parent);
}

/* "" counts too: two slashes in a row. */
static bool is_dots(const char *name)
{
    return !*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

bool below_has_link(const char *base, const char *path)
{
    size_t n = strlen(path), n_base = strcmp(base, "/") == 0 ? 0 : strlen(base);
    char partial[PATH_MAX], target;

    if (n >= sizeof partial || n <= n_base)
        return true;
    memcpy(partial, path, n + 1);
    for (char *name = partial + n_base + 1, *slash;; name = slash + 1) {
        slash = strchr(name, '/');
        if (slash)
            *slash = 0;
        if (is_dots(name) || readlink(partial, &target, 1) >= 0)
            return true;
        if (errno != EINVAL || !slash)
            return false;
        *slash = '/';
    }
}
