/* below.c - opening what lies below a directory. */
#include "sandbox/below.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

int below_open_dir(int root, const char *path)
{
    struct open_how how = {
        .flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC,
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };

    return (int)syscall(SYS_openat2, root, *path ? path : ".", &how, sizeof how);
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
