/* open_below.c - opening what lies below a directory. */
#include "sandbox/guard/open_below.h"

#include "sys/open_below.h"
#include "sys/unlock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_quietly(int fd)
{
    int error = errno;

    close(fd);
    errno = error;
}

/* Whether a directory may be searched, its "." tells. */
static void unlock_for_search(int dir, struct unlocks *unlocks)
{
    struct stat st;

    if (fstatat(dir, ".", &st, 0) < 0 && errno == EACCES)
        unlocks_add(unlocks, dir);
}

/* Name by name. O_PATH; -1 and errno. */
static int open_by_steps(int root, const char *path, struct unlocks *unlocks)
{
    int dir = fcntl(root, F_DUPFD_CLOEXEC, 0);
    char name[NAME_MAX + 1];

    while (dir >= 0 && *path) {
        size_t n = strcspn(path, "/");
        int next = -1;

        unlock_for_search(dir, unlocks);
        if (n <= NAME_MAX) {
            memcpy(name, path, n);
            name[n] = 0;
            next = openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        } else {
            errno = ENAMETOOLONG;
        }
        close_quietly(dir);
        dir = next;
        path += n + (path[n] == '/');
    }
    return dir;
}

static int open_searchable(int root, const char *path, struct unlocks *unlocks)
{
    int dir = open_below(root, path, O_PATH | O_DIRECTORY);

    if (dir < 0 && errno == EACCES && unlocks)
        dir = open_by_steps(root, path, unlocks);
    if (dir >= 0 && unlocks)
        unlock_for_search(dir, unlocks);
    return dir;
}

int below_open_dir(int root, const char *path, struct unlocks *unlocks)
{
    int dir = open_below(root, path, O_RDONLY | O_DIRECTORY), fd;

    if (dir >= 0 || errno != EACCES || !unlocks)
        return dir;
    dir = open_searchable(root, path, unlocks);
    if (dir < 0)
        return -1;
    fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == EACCES && unlocks_add(unlocks, dir))
        fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    close_quietly(dir);
    return fd;
}

int below_open_parent(int root, const char *path, const char **ret_name, struct unlocks *unlocks)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *parent = str_dup(str_make(path, slash ? (size_t)(slash - path) : 0));

    *ret_name = slash ? slash + 1 : path;
    return open_searchable(root, parent, unlocks);
}

struct str below_first_link(int root, const char *path)
{
    AUTO_FREE char *partial = mem_strdup(path);
    struct stat st;

    for (size_t n = strcspn(path, "/"); path[n]; n += 1 + strcspn(path + n + 1, "/")) {
        partial[n] = 0;
        if (fstatat(root, partial, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(st.st_mode))
            return str_make(path, n);
        partial[n] = '/';
    }
    return str_of(path);
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
