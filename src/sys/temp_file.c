/* temp_file.c - uses O_TMPFILE if the file system has it, otherwise a name beside the final one. */
#include "sys/temp_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_NAMES 100

/* --- without a name --- */

static int link_to(const struct temp_file *t, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", t->fd);
    return linkat(AT_FDCWD, path, t->dir_fd, name, AT_SYMLINK_FOLLOW);
}

/* --- with a name --- */

static int make_named(struct temp_file *t)
{
    int fd = -1;

    errno = EEXIST;
    for (unsigned i = 0; i < MAX_NAMES && fd < 0 && errno == EEXIST; i++) {
        leftover_begin(&t->own, t->dir_fd, t->name);
        fd = openat(t->dir_fd, t->own.name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0600);
        if (fd < 0)
            leftover_done(&t->own);
    }
    t->has_name = fd >= 0;
    return fd;
}

/* Its own name is gone, or was never taken. */
static int end_named(struct temp_file *t, int result)
{
    int error = errno;

    if (result == 0)
        t->has_name = false;
    if (!t->has_name)
        leftover_done(&t->own);
    errno = error;
    return result;
}

static int take_own_name(struct temp_file *t)
{
    int result = -1;

    errno = EEXIST;
    for (unsigned i = 0; i < MAX_NAMES && result < 0 && errno == EEXIST; i++) {
        leftover_begin(&t->own, t->dir_fd, t->name);
        result = link_to(t, t->own.name);
        t->has_name = result == 0;
        if (result < 0)
            end_named(t, result);
    }
    return result;
}

/* --- both ways --- */

int temp_file_open(struct temp_file *t, int dir_fd, const char *name)
{
    *t = (struct temp_file){.dir_fd = dir_fd, .name = name};
    t->fd = openat(dir_fd, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (t->fd >= 0 && access("/proc/self/fd", X_OK) < 0) { /* it could never get a name */
        close(t->fd);
        t->fd = -1;
    }
    if (t->fd < 0)
        t->fd = make_named(t);
    return t->fd < 0 ? -1 : 0;
}

/* File systems know one of the two ways to keep an existing file. */
static int rename_if_free(struct temp_file *t)
{
    int result = renameat2(t->dir_fd, t->own.name, t->dir_fd, t->name, RENAME_NOREPLACE);

    if (result == 0 || (errno != EINVAL && errno != ENOSYS))
        return result;
    result = linkat(t->dir_fd, t->own.name, t->dir_fd, t->name, 0);
    if (result == 0)
        unlinkat(t->dir_fd, t->own.name, 0);
    return result;
}

int temp_file_create(struct temp_file *t)
{
    return t->has_name ? end_named(t, rename_if_free(t)) : link_to(t, t->name);
}

int temp_file_replace(struct temp_file *t)
{
    if (!t->has_name && link_to(t, t->name) == 0) /* there is nothing to replace */
        return 0;
    if (!t->has_name && take_own_name(t) < 0)
        return -1;
    return end_named(t, renameat(t->dir_fd, t->own.name, t->dir_fd, t->name));
}

void temp_file_done(struct temp_file *t)
{
    int error = errno;

    if (t->has_name)
        unlinkat(t->dir_fd, t->own.name, 0);
    t->has_name = false;
    leftover_done(&t->own);
    if (t->fd >= 0)
        close(t->fd);
    *t = TEMP_FILE_NONE;
    errno = error;
}
