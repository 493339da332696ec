/* open_below.c - opens what lies below a directory. */
#include "sys/open_below.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_STEP = 4000 }; /* bytes of a path; the kernel takes 4095 */

static int open_step(int dir, const char *path, int flags)
{
    struct open_how how = {
        .flags = (unsigned)(flags | O_CLOEXEC),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };

    return (int)syscall(SYS_openat2, dir, *path ? path : ".", &how, sizeof how);
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
