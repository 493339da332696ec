/* open.c - opens regular files, and nothing else. */
#include "tool/file/open.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

/* --- stamps --- */

static struct file_stamp stamp_of(const struct stat *st)
{
    return (struct file_stamp){
        .mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
        .size = (uint64_t)st->st_size,
        .inode = st->st_ino,
    };
}

bool file_stamp_take(const char *path, struct file_stamp *ret_stamp)
{
    struct stat st;

    if (stat(path, &st) < 0)
        return false;
    *ret_stamp = stamp_of(&st);
    return true;
}

bool file_stamp_eq(const struct file_stamp *a, const struct file_stamp *b)
{
    return a->mtime_ns == b->mtime_ns && a->size == b->size && a->inode == b->inode;
}

/* --- opening --- */

static const char *name_of_type(mode_t mode)
{
    if (S_ISFIFO(mode))
        return "a pipe";
    if (S_ISSOCK(mode))
        return "a socket";
    return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "no regular file";
}

static struct err *check_type(const char *path, mode_t mode)
{
    if (S_ISREG(mode))
        return NULL;
    if (S_ISDIR(mode))
        return err_hint(err_new(ERR_TOOL_FAILED, "%s is a directory, not a file", path),
                        "list it with Glob (pattern \"*\", path \"%s\") or with ls in Bash", path);
    return err_hint(err_new(ERR_TOOL_FAILED, "%s is %s, not a file", path, name_of_type(mode)),
                    "only regular files can be read and written here");
}

static struct err *check_open(const char *path, int fd, struct open_file *ret_file)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(ERR_TOOL_FAILED, errno, "cannot read %s", path);
    TRY(check_type(path, st.st_mode));
    *ret_file = (struct open_file){
        .path = path,
        .fd = fd,
        .mode = st.st_mode & 07777,
        .stamp = stamp_of(&st),
        .n_left = st.st_size ? (uint64_t)st.st_size : OPEN_FILE_MADE_MAX,
        .is_made = st.st_size == 0,
    };
    return NULL;
}

static bool means_absent(int failure)
{
    return failure == ENOENT || failure == ENOTDIR;
}

struct err *open_file_open(const char *path, bool *ret_exists, struct open_file *ret_file)
{
    struct stat st;
    struct err *e;
    int fd;

    *ret_exists = false;
    /* Looked at before it is opened: opening a pipe or a device can do things by itself. */
    if (stat(path, &st) < 0)
        return means_absent(errno) ? NULL
                                   : err_errno(ERR_TOOL_FAILED, errno, "cannot look at %s", path);
    TRY(check_type(path, st.st_mode));
    fd = open(path, OPEN_FLAGS);
    if (fd < 0)
        return means_absent(errno) ? NULL
                                   : err_errno(ERR_TOOL_FAILED, errno, "cannot open %s", path);
    e = check_open(path, fd, ret_file);
    if (e) {
        close(fd);
        return e;
    }
    *ret_exists = true;
    return NULL;
}

void open_file_done(struct open_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

struct err *open_file_read(struct open_file *f, size_t n, struct strbuf *out, bool *ret_at_end)
{
    n = (size_t)MIN((uint64_t)n, f->n_left);
    *ret_at_end = false;
    while (n && !*ret_at_end) {
        char *at = strbuf_reserve(out, n);
        ssize_t got;

        if (!at)
            return strbuf_check(out, f->path);
        got = read(f->fd, at, n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(ERR_TOOL_FAILED, errno, "cannot read %s", f->path);
        strbuf_grew(out, (size_t)got);
        n -= (size_t)got;
        f->n_left -= (uint64_t)got;
        *ret_at_end = got == 0;
    }
    *ret_at_end |= f->n_left == 0;
    return NULL;
}
