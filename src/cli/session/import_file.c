/* import_file.c - bytes for an import, and a place for what it reads. */
#include "cli/session/import_file.h"

#include "sys/env.h"
#include "sys/locked_file.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_STEP ((size_t)256 << 10)

struct file_call {
    struct import_file *file;
    int from; /* that is copied */
    uint64_t at;
    size_t n;
    struct strbuf *out;
    struct str bytes;
    bool is_plain, is_over;
};

static struct err *cannot_read(const struct import_file *f)
{
    return err_errno(ERR_VALIDATION, errno, "cannot read %s",
                     f->is_stdin ? "standard input" : f->path);
}

/* --- files without a name --- */

static struct err *make_unnamed(void *arg)
{
    struct file_call *c = arg;
    const char *const places[] = {env_find(NULL, "TMPDIR"), "/var/tmp", "/tmp"};
    FILE *file;

    for (size_t i = 0; i < ARRAY_LEN(places) && c->file->fd < 0; i++)
        if (places[i])
            c->file->fd = open(places[i], O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (c->file->fd >= 0)
        return NULL;
    file = tmpfile(); /* where the file system has no such files */
    if (file) {
        c->file->fd = fcntl(fileno(file), F_DUPFD_CLOEXEC, 3);
        fclose(file);
    }
    return c->file->fd >= 0 ? NULL : err_errno(ERR_STORAGE, errno, "cannot make a temporary file");
}

struct err *import_file_new(struct import_file *f)
{
    struct file_call c = {.file = f};

    *f = IMPORT_FILE_NONE;
    f->path = "a temporary file";
    return work_run(make_unnamed, &c);
}

static struct err *write_bytes(void *arg)
{
    struct file_call *c = arg;
    struct import_file *f = c->file;

    while (c->bytes.n) {
        ssize_t n = pwrite(f->fd, c->bytes.p, c->bytes.n, (off_t)f->n_bytes);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_hint(err_errno(ERR_STORAGE, errno, "cannot write a temporary file"),
                            "TMPDIR may name a directory with more room");
        f->n_bytes += (uint64_t)n;
        c->bytes = str_skip(c->bytes, (size_t)n);
    }
    return NULL;
}

struct err *import_file_write(void *self, struct str bytes)
{
    struct file_call c = {.file = self, .bytes = bytes};

    return work_run(write_bytes, &c);
}

/* --- pipes --- */

static struct err *copy_some(void *arg)
{
    struct file_call *c = arg;
    AUTO_FREE char *bytes = mem_alloc(PIPE_STEP);
    ssize_t n = read(c->from, bytes, PIPE_STEP);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return NULL;
    if (n < 0)
        return cannot_read(c->file);
    c->is_over = n == 0;
    c->bytes = str_make(bytes, (size_t)n);
    return write_bytes(c);
}

static struct err *copy_pipe(struct import_file *f, int from)
{
    struct file_call c = {.file = f, .from = from};

    TRY(work_run(make_unnamed, &c));
    while (!c.is_over) {
        TRY(task_wait_fd(from, TASK_FD_READ, NULL));
        TRY(work_run(copy_some, &c));
        if (f->progress)
            progress_count(f->progress, f->n_bytes >> 20, "MB");
    }
    return NULL;
}

/* --- all files --- */

/* A pipe is opened without waiting for its writer: to wait for bytes can be interrupted. */
static struct err *open_path(void *arg)
{
    struct file_call *c = arg;
    struct import_file *f = c->file;
    struct stat st;
    off_t at;

    c->from = STDIN_FILENO;
    if (!f->is_stdin)
        c->from =
            locked_file_openat(AT_FDCWD, f->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (c->from < 0 || fstat(c->from, &st) < 0)
        return cannot_read(f);
    if (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(c->from)))
        return err_new(ERR_VALIDATION, "cannot read %s: it is a device",
                       f->is_stdin ? "standard input" : f->path);
    at = S_ISREG(st.st_mode) && st.st_size > 0 ? lseek(c->from, 0, SEEK_CUR) : -1;
    c->is_plain = at >= 0;
    if (c->is_plain) {
        f->start = (uint64_t)at;
        f->n_bytes = (uint64_t)MAX(st.st_size - at, (off_t)0);
    }
    return NULL;
}

struct err *import_file_open(struct import_file *f, const char *path, struct progress *progress)
{
    struct file_call c = {.file = f, .from = -1};
    struct err *e;

    *f = IMPORT_FILE_NONE;
    f->path = path;
    f->is_stdin = strcmp(path, "-") == 0;
    f->progress = progress;
    e = work_run(open_path, &c);
    if (!e && c.is_plain) {
        f->fd = c.from;
        return NULL;
    }
    if (!e)
        e = copy_pipe(f, c.from);
    if (c.from >= 0 && !f->is_stdin)
        close(c.from);
    return e;
}

void import_file_done(struct import_file *f)
{
    if (f->fd > STDIN_FILENO)
        close(f->fd);
    *f = IMPORT_FILE_NONE;
}

static struct err *read_bytes(void *arg)
{
    struct file_call *c = arg;
    char *at = strbuf_reserve(c->out, c->n);
    ssize_t n;

    if (!at)
        return strbuf_check(c->out, c->file->path);
    do
        n = pread(c->file->fd, at, c->n, (off_t)(c->file->start + c->at));
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return cannot_read(c->file);
    strbuf_grew(c->out, (size_t)n);
    return NULL;
}

struct err *import_file_read(void *self, uint64_t from, size_t n, struct strbuf *out)
{
    struct import_file *f = self;
    struct file_call c = {.file = f, .at = from, .out = out};

    if (f->progress)
        progress_count(f->progress, from >> 20, "MB");
    if (from >= f->n_bytes)
        return NULL;
    c.n = (size_t)MIN((uint64_t)n, f->n_bytes - from);
    return work_run(read_bytes, &c);
}
