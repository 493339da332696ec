/* new_file.c - a temporary file that takes its place at the end, or the file itself. */
#include "sys/new_file.h"

#include "sys/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static struct err *failure(const struct new_file *f)
{
    return err_errno(ERR_STORAGE, errno, "cannot write %s", f->path);
}

/* The path is absolute, or has no slash at all. */
static int open_dir(const char *path, const char **ret_name)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *dir = slash ? str_dup(str_make(path, (size_t)(slash - path))) : NULL;

    *ret_name = slash ? slash + 1 : path;
    return open(!slash ? "." : *dir ? dir : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static struct err *open_temp(struct new_file *f, unsigned mode)
{
    const char *name;

    f->dir_fd = open_dir(f->path, &name);
    if (f->dir_fd < 0 || temp_file_open(&f->temp, f->dir_fd, name) < 0 ||
        fchmod(f->temp.fd, mode) < 0)
        return failure(f);
    return NULL;
}

struct err *new_file_begin(struct new_file *f, const char *path, unsigned mode)
{
    AUTO(arena) struct arena a = {0};
    struct stat st;

    *f = NEW_FILE_NONE;
    f->path = mem_strdup(fs_resolve(&a, path));
    f->is_temp = stat(f->path, &st) < 0 || S_ISREG(st.st_mode);
    if (f->is_temp)
        return open_temp(f, mode);
    f->fd = open(f->path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return f->fd < 0 ? failure(f) : NULL;
}

struct err *new_file_add(struct new_file *f, struct str bytes)
{
    int fd = f->is_temp ? f->temp.fd : f->fd;

    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failure(f);
        bytes = str_skip(bytes, (size_t)n);
    }
    return NULL;
}

struct err *new_file_end(struct new_file *f)
{
    if (!f->is_temp)
        return NULL;
    if (fsync(f->temp.fd) < 0 || temp_file_replace(&f->temp) < 0 || fsync(f->dir_fd) < 0)
        return failure(f);
    return NULL;
}

void new_file_done(struct new_file *f)
{
    temp_file_done(&f->temp);
    if (f->dir_fd >= 0)
        close(f->dir_fd);
    if (f->fd >= 0)
        close(f->fd);
    mem_free(f->path);
    *f = NEW_FILE_NONE;
}
