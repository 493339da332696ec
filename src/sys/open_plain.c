/* open_plain.c - opens without following links, in one step or part by part. */
#include "sys/open_plain.h"

#include "sys/locked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DIR_FLAGS (O_PATH | O_DIRECTORY)

/* --- in one step --- */

static int open_at_once(const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };

    return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

/* openat2() does not exist, or a filter refuses it. If EPERM means more, the other way finds
 * out. */
static bool is_unavailable(int error)
{
    return error == ENOSYS || error == EPERM;
}

/* --- part by part --- */

static void close_quietly(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
}

static bool is_link(int dir_fd, const char *name)
{
    struct stat st;

    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
           S_ISLNK(st.st_mode);
}

/* Opens one name; a link is ELOOP whatever the flags are. */
static int open_part(int dir_fd, const char *name, int flags)
{
    int fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 && errno == ENOTDIR) /* a link is not a directory either */
        errno = is_link(dir_fd, name) ? ELOOP : ENOTDIR;
    if (fd < 0 || !(flags & O_PATH) || !is_link(fd, ""))
        return fd;
    close(fd); /* of the link itself */
    errno = ELOOP;
    return -1;
}

/* Copies the first part of the path. False, without an error: it is the last part. */
static bool copy_part(const char *path, char name[NAME_MAX + 1], const char **ret_next, int *error)
{
    size_t n = strcspn(path, "/");

    *ret_next = path + n + strspn(path + n, "/");
    *error = n > NAME_MAX ? ENAMETOOLONG : 0;
    if (**ret_next == '\0' || *error)
        return false;
    memcpy(name, path, n);
    name[n] = '\0';
    return true;
}

/* Opens directory after directory, up to the last part or to a missing one, whose error goes to
 * *ret_error. *path becomes the rest. */
static int go_down(const char **path, int *ret_error)
{
    int fd = open("/", DIR_FLAGS | O_CLOEXEC);
    char name[NAME_MAX + 1];
    const char *next;

    *path += strspn(*path, "/");
    while (fd >= 0 && copy_part(*path, name, &next, ret_error)) {
        int below = open_part(fd, name, DIR_FLAGS);

        if (below < 0 && (errno == ENOENT || errno == ENOTDIR)) {
            *ret_error = errno;
            break;
        }
        close_quietly(fd);
        fd = below;
        *path = next;
    }
    if (**path == '\0')
        *path = ".";
    return fd;
}

static int open_by_parts(const char *path, int flags)
{
    int error, fd, above = go_down(&path, &error);

    if (above < 0)
        return -1;
    if (error) {
        close(above);
        errno = error;
        return -1;
    }
    fd = open_part(above, path, flags);
    close_quietly(above);
    return fd;
}

/* --- either way --- */

int open_plain(const char *path, int flags)
{
    int fd;

    if (locked_file_is_at(AT_FDCWD, path, flags | O_NOFOLLOW)) {
        errno = EBUSY;
        return -1;
    }
    fd = open_at_once(path, flags);
    if (fd < 0 && is_unavailable(errno))
        fd = open_by_parts(path, flags);
    return locked_file_check(fd);
}

int open_plain_above(const char *path, const char **ret_rest)
{
    const char *slash = strrchr(path, '/');
    size_t n = slash == path ? 1 : (size_t)(slash - path);
    char above[PATH_MAX];
    int fd = -1, error;

    if (slash[1] && n < sizeof above) {
        memcpy(above, path, n);
        above[n] = '\0';
        fd = open_at_once(above, DIR_FLAGS);
        if (fd < 0 && errno != ENOENT && errno != ENOTDIR && !is_unavailable(errno))
            return -1;
    }
    if (fd < 0)
        fd = go_down(&path, &error);
    else
        path = slash + 1;
    *ret_rest = path;
    return fd;
}
