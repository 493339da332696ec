/* fs.c - reads with a cap, writes without half-written files. */
#include "sys/fs.h"

#include "sys/auto_fd.h"
#include "sys/locked_file.h"
#include "sys/spot.h"
#include "sys/temp_file.h"
#include "sys/xattrs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP 65536

/* --- reading --- */

static struct err *read_some(int fd, const char *path, size_t n, struct strbuf *out, size_t *ret_n)
{
    char *at = strbuf_reserve(out, n);
    ssize_t got;

    if (!at)
        return strbuf_check(out, path);
    do
        got = read(fd, at, n);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_errno(ERR_STORAGE, errno, "cannot read %s", path);
    strbuf_grew(out, (size_t)got);
    *ret_n = (size_t)got;
    return NULL;
}

static size_t room_in(const struct strbuf *out)
{
    return (out->max_bytes ? out->max_bytes : FS_READ_MAX_BYTES) - out->n;
}

/* The last step must be able to see the end of a file that just fits. */
static size_t next_step(const struct strbuf *out)
{
    return MIN((size_t)READ_STEP, room_in(out));
}

static struct err *too_large(const char *path, size_t max)
{
    return err_new(ERR_VALIDATION, "%s is larger than its limit of %zu bytes", path, max);
}

static struct err *check_end(int fd, const char *path, const struct strbuf *out)
{
    char byte;
    ssize_t n = read(fd, &byte, 1);

    return n == 0 ? NULL : too_large(path, out->n);
}

static struct err *read_all(int fd, const char *path, struct strbuf *out)
{
    size_t n = 1;

    while (n) {
        size_t step = next_step(out);

        if (step == 0)
            return check_end(fd, path, out);
        TRY(read_some(fd, path, step, out, &n));
    }
    return NULL;
}

static const char *kind_of(mode_t mode)
{
    return S_ISFIFO(mode) ? "a FIFO" : S_ISSOCK(mode) ? "a socket" : "a device";
}

struct err *fs_read_fd(int fd, const char *shown, struct strbuf *out)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot read %s", shown);
    if (S_ISDIR(st.st_mode))
        return err_errno(ERR_STORAGE, EISDIR, "cannot read %s", shown);
    if (!S_ISREG(st.st_mode))
        return err_new(ERR_STORAGE, "cannot read %s: it is %s, not a file", shown,
                       kind_of(st.st_mode));
    if (st.st_size > 0 && (uint64_t)st.st_size > room_in(out))
        return too_large(shown, out->n + room_in(out));
    return read_all(fd, shown, out);
}

struct err *fs_open_error(int error, const char *shown)
{
    if (error == ENXIO) /* the error of open() for a socket */
        return err_new(ERR_STORAGE, "cannot read %s: it is a socket, not a file", shown);
    return err_errno(ERR_STORAGE, error, "cannot read %s", shown);
}

struct err *fs_read(const char *path, struct strbuf *out, bool *ret_exists)
{
    AUTO_FD fd = locked_file_openat(AT_FDCWD, path, FS_READ_FLAGS);

    if (ret_exists)
        *ret_exists = fd >= 0;
    if (fd < 0 && ret_exists && (errno == ENOENT || errno == ENOTDIR))
        return NULL;
    return fd < 0 ? fs_open_error(errno, path) : fs_read_fd(fd, path, out);
}

struct err *fs_read_stream(const char *path, struct strbuf *out)
{
    AUTO_FD fd = locked_file_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

    return fd < 0 ? fs_open_error(errno, path) : read_all(fd, path, out);
}

struct err *fs_read_range(const char *path, uint64_t from, size_t n, struct strbuf *out)
{
    AUTO_FD fd = locked_file_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(ERR_STORAGE, errno, "cannot read %s", path);
    if (from > INT64_MAX || lseek(fd, (off_t)from, SEEK_SET) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot read %s at byte %llu", path,
                         (unsigned long long)from);
    while (n) {
        size_t got;

        TRY(read_some(fd, path, MIN(n, (size_t)READ_STEP), out, &got));
        if (got == 0)
            break;
        n -= got;
    }
    return NULL;
}

/* --- writing --- */

static struct err *write_all(int fd, const char *path, struct str bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(ERR_STORAGE, errno, "cannot write %s", path);
        bytes = str_skip(bytes, (size_t)n);
    }
    return NULL;
}

/* A rename is durable when its directory is. */
static struct err *sync_dir(const struct spot *p)
{
    AUTO_FD fd = openat(p->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
        return err_errno(ERR_STORAGE, errno, "cannot make the directory of %s durable", p->shown);
    return NULL;
}

/* A file to be replaced; its descriptor is O_PATH, or -1 if there is none. */
struct replaced {
    int fd;
    struct stat stat;
};

/* Sets only what differs: a confined keel may not be allowed to. The access list goes before the
 * mode, which then holds its mask. */
static struct err *set_attributes(int fd, const char *path, unsigned mode,
                                  const struct replaced *replaced)
{
    const struct stat *like = replaced->fd >= 0 ? &replaced->stat : NULL;
    struct stat st;

    if (like && !xattrs_inherit(replaced->fd, fd))
        return err_errno(ERR_STORAGE, errno, "cannot keep the extended attributes of %s", path);
    if (fstat(fd, &st) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot stat %s", path);
    if (like && (like->st_uid != st.st_uid || like->st_gid != st.st_gid) &&
        fchown(fd, like->st_uid, like->st_gid) < 0 && errno != EPERM)
        return err_errno(ERR_STORAGE, errno, "cannot keep the owner of %s", path);
    if (like)
        mode = like->st_mode & 07777;
    if ((st.st_mode & 07777) != mode && fchmod(fd, mode) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot set the mode of %s", path);
    return NULL;
}

/* Writes and syncs a new file for the spot, which still needs its name. */
static struct err *write_temp(const struct spot *p, struct str bytes, unsigned mode,
                              const struct replaced *replaced, struct temp_file *t)
{
    if (temp_file_open(t, p->dir_fd, p->name) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot write beside %s", p->shown);
    TRY(write_all(t->fd, p->shown, bytes));
    TRY(set_attributes(t->fd, p->shown, mode, replaced));
    if (fsync(t->fd) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot make %s durable", p->shown);
    return NULL;
}

struct err *fs_write_atomic_at(const struct spot *p, struct str bytes, unsigned mode)
{
    AUTO(temp_file) struct temp_file t = TEMP_FILE_NONE;
    AUTO_FD fd = openat(p->dir_fd, p->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct replaced replaced = {.fd = fd};

    if (fd >= 0 && (fstat(fd, &replaced.stat) < 0 || !S_ISREG(replaced.stat.st_mode)))
        replaced.fd = -1;
    TRY(write_temp(p, bytes, mode, &replaced, &t));
    if (temp_file_replace(&t) < 0)
        return err_errno(ERR_STORAGE, errno, "cannot replace %s", p->shown);
    return sync_dir(p);
}

struct err *fs_create_at(const struct spot *p, struct str bytes, unsigned mode, bool *ret_created)
{
    AUTO(temp_file) struct temp_file t = TEMP_FILE_NONE;

    TRY(write_temp(p, bytes, mode, &(struct replaced){.fd = -1}, &t));
    *ret_created = temp_file_create(&t) == 0;
    if (!*ret_created && errno != EEXIST)
        return err_errno(ERR_STORAGE, errno, "cannot create %s", p->shown);
    return *ret_created ? sync_dir(p) : NULL;
}

/* Finds the spot of a path, through links. */
static struct err *spot_of(struct arena *a, const char *path, const char *shown,
                           struct spot *ret_spot)
{
    const char *slash = strrchr(path, '/');
    const char *dir = slash ? arena_cstr(a, str_make(path, (size_t)(slash - path))) : ".";
    int fd = open(*dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return err_errno(ERR_STORAGE, errno, "cannot write %s", shown);
    *ret_spot = (struct spot){.shown = shown, .name = slash ? slash + 1 : path, .dir_fd = fd};
    return NULL;
}

struct err *fs_write_atomic(const char *path, struct str bytes, unsigned mode)
{
    AUTO(arena) struct arena a = {0};
    AUTO(spot) struct spot p = SPOT_NONE;
    AUTO_FREE char *real = realpath(path, NULL);

    TRY(spot_of(&a, real ? real : path, path, &p));
    return fs_write_atomic_at(&p, bytes, mode);
}

struct err *fs_create(const char *path, struct str bytes, unsigned mode, bool *ret_created)
{
    AUTO(arena) struct arena a = {0};
    AUTO(spot) struct spot p = SPOT_NONE;

    TRY(spot_of(&a, path, path, &p));
    return fs_create_at(&p, bytes, mode, ret_created);
}

struct err *fs_make_dirs(const char *path, unsigned mode)
{
    AUTO_FREE char *partial = NULL;

    if (fs_is_dir(path))
        return NULL;
    partial = mem_strdup(path);
    for (char *c = partial + (*partial != 0);; c++) {
        char was = *c;

        if (was && was != '/')
            continue;
        *c = 0;
        if (mkdir(partial, mode) < 0 && errno != EEXIST)
            return err_errno(ERR_STORAGE, errno, "cannot create the directory %s", partial);
        if (!was)
            break;
        *c = was;
    }
    if (!fs_is_dir(path))
        return err_new(ERR_STORAGE, "%s exists and is not a directory", path);
    return NULL;
}

struct err *fs_remove(const char *path)
{
    if (unlink(path) < 0 && errno != ENOENT)
        return err_errno(ERR_STORAGE, errno, "cannot remove %s", path);
    return NULL;
}

bool fs_exists(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0;
}

struct err *fs_check_entry(const char *dir)
{
    struct stat st;
    bool is_known;

    if (faccessat(AT_FDCWD, dir, X_OK, AT_EACCESS) == 0 || errno != EACCES)
        return NULL;
    is_known = stat(dir, &st) == 0;
    if (is_known && st.st_uid == geteuid())
        return err_hint(err_new(ERR_VALIDATION,
                                "cannot enter the directory %s: its permissions are %03o", dir,
                                (unsigned)st.st_mode & 07777),
                        "chmod u+rwx '%s' opens it; if a command that keel ran has closed it, keel "
                        "session rewind restores it",
                        dir);
    return err_hint(
        err_new(ERR_VALIDATION, "cannot enter the directory %s: %s", dir,
                is_known ? "it belongs to another user" : "a directory above it is closed to you"),
        "use another directory, or ask its owner for access");
}

bool fs_is_dir(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

bool fs_entry_may_be_plain(const struct dirent *entry)
{
    if (entry->d_type != DT_REG && entry->d_type != DT_DIR && entry->d_type != DT_UNKNOWN)
        return false;
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

/* --- paths --- */

const char *fs_resolve(struct arena *a, const char *path)
{
    size_t n = strlen(path);
    char *head = n < PATH_MAX ? arena_cstr(a, str_make(path, n)) : NULL;
    AUTO_FREE char *here = NULL;

    while (head && n != STR_NONE && n > 0) {
        AUTO_FREE char *real = NULL;

        head[n] = '\0';
        real = realpath(head, NULL);
        if (real)
            return path[n] ? fs_join(a, real, path + n + 1) : arena_cstr(a, str_of(real));
        n = str_rfind_char(str_make(path, n), '/');
    }
    if (path[0] != '/' && n == STR_NONE)
        here = realpath(".", NULL);
    return here ? fs_join(a, here, path) : path;
}

const char *fs_join(struct arena *a, const char *dir, const char *name)
{
    size_t n = strlen(dir), n_name = strlen(name);
    bool has_slash = n && dir[n - 1] == '/';
    char *path = arena_alloc(a, n + !has_slash + n_name + 1);

    memcpy(path, dir, n);
    path[n] = '/';
    memcpy(path + n + !has_slash, name, n_name + 1);
    return path;
}
