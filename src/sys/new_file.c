/* new_file.c - writes beside, then renames. */
#include "sys/new_file.h"

#include "sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err *failure(const struct new_file *f)
{
    return err_errno(ERR_STORAGE, errno, "cannot write %s", f->path);
}

static struct err *open_temp(struct new_file *f, unsigned mode)
{
    size_t room = strlen(f->path) + sizeof ".XXXXXX";

    f->temp = mem_alloc(room);
    snprintf(f->temp, room, "%s.XXXXXX", f->path);
    f->fd = mkostemp(f->temp, O_CLOEXEC);
    if (f->fd < 0) {
        mem_free(TAKE(f->temp));
        return failure(f);
    }
    return fchmod(f->fd, mode) < 0 ? failure(f) : NULL;
}

struct err *new_file_begin(struct new_file *f, const char *path, unsigned mode)
{
    AUTO(arena) struct arena a = {0};
    struct stat st;

    *f = NEW_FILE_NONE;
    f->path = mem_strdup(fs_resolve(&a, path));
    if (stat(f->path, &st) < 0 || S_ISREG(st.st_mode))
        return open_temp(f, mode);
    f->fd = open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return f->fd < 0 ? failure(f) : NULL;
}

struct err *new_file_add(struct new_file *f, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = write(f->fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failure(f);
        bytes = str_skip(bytes, (size_t)n);
    }
    return NULL;
}

static struct err *sync_directory(const struct new_file *f)
{
    AUTO_FREE char *path = mem_strdup(f->path);
    int fd = open(dirname(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool failed = fd < 0 || fsync(fd) < 0;
    int error = errno;

    if (fd >= 0)
        close(fd);
    errno = error;
    return failed ? failure(f) : NULL;
}

struct err *new_file_end(struct new_file *f)
{
    if (!f->temp)
        return NULL;
    if (fsync(f->fd) < 0 || rename(f->temp, f->path) < 0)
        return failure(f);
    mem_free(TAKE(f->temp));
    return sync_directory(f);
}

void new_file_done(struct new_file *f)
{
    if (f->temp)
        unlink(f->temp);
    if (f->fd >= 0)
        close(f->fd);
    mem_free(f->temp);
    mem_free(f->path);
    *f = NEW_FILE_NONE;
}
