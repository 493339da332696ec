/* new_file.c - writes a temporary file that replaces the file at the end, or the file itself. */
#include "sys/new_file.h"

#include "sys/fs.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct err *failure(const struct new_file *f)
{
    return err_errno(ERR_STORAGE, errno, "cannot write %s", f->path);
}

static struct err *open_temp(struct new_file *f, unsigned mode)
{
    const char *slash = strrchr(f->path, '/'), *name = slash ? slash + 1 : f->path;
    AUTO_FREE char *dir = slash ? str_dup(str_make(f->path, (size_t)(slash - f->path))) : NULL;

    /* The path is absolute, or has no slash at all. */
    f->dir_fd = open(!slash ? "." : *dir ? dir : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->dir_fd < 0 || temp_file_open(&f->temp, f->dir_fd, name) < 0 ||
        fchmod(f->temp.fd, mode) < 0)
        return failure(f);
    return NULL;
}

/* A pipe may have no reader yet, and may never get one. */
static struct err *open_in_place(struct new_file *f, bool is_pipe)
{
    while ((f->fd = open(f->path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)) < 0) {
        if (errno != ENXIO || !is_pipe)
            return failure(f);
        if (work_cancelled())
            return err_new(ERR_CANCELLED, "interrupted");
        nanosleep(&(struct timespec){.tv_nsec = WORK_PAUSE_MS * 1000000L}, NULL);
    }
    return NULL;
}

struct err *new_file_begin(struct new_file *f, const char *path, unsigned mode)
{
    AUTO(arena) struct arena a = {0};
    struct stat st;

    *f = NEW_FILE_NONE;
    f->path = mem_strdup(fs_resolve(&a, path));
    f->is_temp = stat(f->path, &st) < 0 || S_ISREG(st.st_mode);
    return f->is_temp ? open_temp(f, mode) : open_in_place(f, S_ISFIFO(st.st_mode));
}

struct err *new_file_add(struct new_file *f, struct str bytes)
{
    int fd = f->is_temp ? f->temp.fd : f->fd;

    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EAGAIN && !work_wait_fd(fd, POLLOUT))
            return err_new(ERR_CANCELLED, "interrupted");
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
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
