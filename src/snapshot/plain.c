/* plain.c - the directory that a path is in. */
#include "snapshot/plain.h"

#include "sys/open_plain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

int plain_open_parent(const char *path, const char **ret_name)
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
    return open_plain(n ? dir : "/", O_PATH | O_DIRECTORY);
}

bool plain_is_absent(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP;
}
