/* dir_open.c - opens watched directories by descriptor, through no link, and checks whether they
 * are unchanged. */
#include "sys/dir_watch_internal.h"

#include "sys/open_below.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Times of files advance with the kernel's tick, of 10 ms at most. */
enum { TICK_NS = 20000000 };

/* --- paths --- */

static size_t path_length(const struct watched_dir *d)
{
    size_t n = 0;

    for (; d->above; d = d->above)
        n += strlen(d->name) + (d->above->above != NULL);
    return n;
}

void watched_dir_path(const struct watched_dir *d, struct strbuf *path)
{
    size_t n = path_length(d);
    char *at = strbuf_reserve(path, n);

    if (!at)
        return;
    strbuf_grew(path, n);
    for (at += n; d->above; d = d->above) {
        size_t n_name = strlen(d->name);

        at -= n_name;
        memcpy(at, d->name, n_name);
        if (d->above->above)
            *--at = '/';
    }
}

dev_t watched_dir_device(const struct watched_dir *d)
{
    return d->device;
}

ino_t watched_dir_inode(const struct watched_dir *d)
{
    return d->inode;
}

uint64_t watched_dir_since(const struct watched_dir *d)
{
    return d->since;
}

uint64_t watched_dir_changed(const struct watched_dir *d)
{
    return d->last_change;
}

/* --- opening --- */

void dir_close_kept(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void dir_forget_fds(struct dir_watch *w)
{
    dir_close_kept(&w->above_fd);
    dir_close_kept(&w->last_fd);
    w->above = w->last = NULL;
}

static bool unlock(const struct dir_watch *w, int path_fd)
{
    return w->unlocker && w->unlocker->unlock(w->unlocker->self, path_fd);
}

/* One step down. Unlocks a directory that may not be searched. */
static int open_in(const struct dir_watch *w, int dir, const char *name)
{
    const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);

    return fd < 0 && errno == EACCES && unlock(w, dir) ? openat(dir, name, flags) : fd;
}

/* From the root down, directory by directory, because one on the way is locked. */
static int open_by_steps(const struct dir_watch *w, const struct watched_dir *d)
{
    const struct watched_dir **way = mem_alloc((d->depth + 1u) * sizeof *way);
    int fd = fcntl(w->root_fd, F_DUPFD_CLOEXEC, 0);
    size_t n = 0;

    for (; d->above; d = d->above)
        way[n++] = d;
    while (fd >= 0 && n > 0) {
        int next = open_in(w, fd, way[--n]->name), error = errno;

        close(fd);
        errno = error;
        fd = next;
    }
    mem_free(way);
    return fd;
}

static int open_path_fd(const struct dir_watch *w, const struct watched_dir *d)
{
    AUTO(strbuf) struct strbuf path = {0};
    int fd;

    watched_dir_path(d, &path);
    fd = open_below(w->root_fd, strbuf_cstr(&path), O_PATH | O_DIRECTORY);
    return fd < 0 && errno == EACCES && w->unlocker ? open_by_steps(w, d) : fd;
}

bool dir_is_it(const struct watched_dir *d, const struct stat *st)
{
    return d->device == st->st_dev && d->inode == st->st_ino;
}

/* Opens the parent of `d` and keeps it open for the next directory in it. -1 and errno. */
int dir_open_above(struct dir_watch *w, const struct watched_dir *d)
{
    struct stat st;

    if (w->above == d->above)
        return w->above_fd;
    dir_close_kept(&w->above_fd);
    w->above = NULL;
    if (w->last == d->above) {
        w->above_fd = w->last_fd;
        w->last_fd = -1;
        w->last = NULL;
    } else {
        w->above_fd = open_path_fd(w, d->above);
    }
    if (w->above_fd < 0)
        return -1;
    if (fstat(w->above_fd, &st) < 0 || !dir_is_it(d->above, &st)) {
        dir_close_kept(&w->above_fd);
        errno = ENOENT;
        return -1;
    }
    w->above = d->above;
    return w->above_fd;
}

/* A directory may be readable but not searchable: its content is out of reach. */
bool dir_may_search(const struct stat *st)
{
    return geteuid() == 0 || st->st_uid != geteuid() || st->st_mode & S_IXUSR;
}

/* -1 and errno, which is EACCES if it cannot be searched. */
static int open_readable(int dir, const char *name, struct stat *ret_stat)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && (fstat(fd, ret_stat) < 0 || !dir_may_search(ret_stat))) {
        dir_close_kept(&fd);
        errno = EACCES;
    }
    return fd;
}

static int unlock_and_open(const struct dir_watch *w, int path_fd, struct stat *ret_stat)
{
    int fd = open_readable(path_fd, ".", ret_stat);

    return fd < 0 && errno == EACCES && unlock(w, path_fd) ? open_readable(path_fd, ".", ret_stat)
                                                           : fd;
}

int dir_open(struct dir_watch *w, struct watched_dir *d, struct stat *ret_stat)
{
    int above = d->above ? dir_open_above(w, d) : -1, fd, path_fd, error;

    if (!d->above)
        return unlock_and_open(w, w->root_fd, ret_stat);
    if (above < 0)
        return -1;
    fd = open_readable(above, d->name, ret_stat);
    if (fd >= 0 || errno != EACCES || !w->unlocker)
        return fd;
    path_fd = open_in(w, above, d->name);
    if (path_fd < 0)
        return -1;
    fd = unlock_and_open(w, path_fd, ret_stat);
    error = errno;
    close(path_fd);
    errno = error;
    return fd;
}

/* --- times --- */

/* So close to now that a later change may get the same time. */
bool dir_is_young(const struct timespec *changed)
{
    int64_t granule_ns =
        changed->tv_nsec ? TICK_NS : 2000000000; /* some file systems count in seconds */
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - changed->tv_sec) * 1000000000 + (now.tv_nsec - changed->tv_nsec) <
           granule_ns;
}

bool dir_is_as_it_was(const struct watched_dir *d, const struct stat *st)
{
    return dir_is_it(d, st) && d->changed.tv_sec == st->st_ctim.tv_sec &&
           d->changed.tv_nsec == st->st_ctim.tv_nsec;
}
