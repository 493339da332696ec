/* dir_events.c - reads the kernel's reports of directories, and keeps the log of them. */
#include "sys/dir_watch_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    MAX_LOG = 32768,
    DEFAULT_MAX_WATCHES = 8192,
    SETTLE_AT_ONCE = 32, /* directories, before others may have the lock */
    /* magic.h has no names for these. */
    MAGIC_XFS = 0x58465342,
    MAGIC_ZFS = 0x2fc12fc1,
    MAGIC_JFS = 0x3153464a,
    MAGIC_NTFS3 = 0x7366746e,
};
#define MAGIC_BCACHEFS 0xca451a4eu

/* --- the log --- */

static uint64_t mark_now(const struct dir_watch *w)
{
    return w->log_start + w->n_log;
}

static void drop_from_log(struct dir_watch *w, size_t n)
{
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        w->log[i].dir->n_logged--;
        dir_node_release(w->log[i].dir);
        mem_free(w->log[i].name);
    }
    w->n_log -= n;
    w->log_start += n;
    memmove(w->log, w->log + n, w->n_log * sizeof *w->log);
}

/* By this update: readers may have marks at its beginning. */
static bool is_logged_last(const struct dir_watch *w, const struct watched_dir *d, const char *name)
{
    const struct dir_change *last = w->n_log ? &w->log[w->n_log - 1] : NULL;

    if (mark_now(w) <= w->log_update || last->dir != d)
        return false;
    return name && last->name ? strcmp(name, last->name) == 0 : !last->name;
}

void dir_log_add(struct dir_watch *w, struct watched_dir *d, const char *name)
{
    if (!w->follows_files || w->events_fd < 0 || is_logged_last(w, d, name))
        return;
    if (w->n_log == MAX_LOG) {
        drop_from_log(w, MAX_LOG / 2);
        w->log_whole = MAX(w->log_whole, w->log_start);
    }
    w->log = mem_grow(w->log, w->n_log, &w->log_room, sizeof *w->log);
    d->n_logged++;
    w->log[w->n_log++] = (struct dir_change){d, name ? mem_strdup(name) : NULL};
}

void dir_watch_follow_files(struct dir_watch *w)
{
    pthread_mutex_lock(&w->lock);
    w->follows_files = true;
    w->is_log_broken = true;
    pthread_mutex_unlock(&w->lock);
}

uint64_t dir_watch_mark(const struct dir_watch *w)
{
    return mark_now(w);
}

bool dir_watch_changes(struct dir_watch *w, uint64_t mark,
                       void (*changed)(void *self, const struct watched_dir *dir, const char *name),
                       void *self)
{
    bool is_known;

    pthread_mutex_lock(&w->lock);
    is_known = w->follows_files && w->events_fd >= 0 && mark >= w->log_whole &&
               mark >= w->log_start && !w->is_log_broken;
    for (uint64_t at = mark; is_known && at < mark_now(w); at++) {
        const struct dir_change *change = &w->log[at - w->log_start];

        if (!change->dir->is_gone)
            changed(self, change->dir, change->name);
    }
    pthread_mutex_unlock(&w->lock);
    return is_known;
}

/* --- watches --- */

static size_t read_limit(void)
{
    FILE *f = fopen("/proc/sys/fs/inotify/max_user_watches", "re");
    unsigned long limit = 0;

    if (f && fscanf(f, "%lu", &limit) != 1)
        limit = 0;
    if (f)
        fclose(f);
    /* The user's editor wants some, too. */
    return (limit ? limit : DEFAULT_MAX_WATCHES) / 2;
}

/* On other file systems changes may come from another machine, without this kernel's knowledge. */
static bool is_local(long type)
{
    static const unsigned local[] = {
        EXT4_SUPER_MAGIC, MAGIC_XFS,        BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
        RAMFS_MAGIC,      F2FS_SUPER_MAGIC, MAGIC_ZFS,         OVERLAYFS_SUPER_MAGIC,
        MAGIC_JFS,        MAGIC_NTFS3,      MAGIC_BCACHEFS,    NILFS_SUPER_MAGIC,
    };

    for (size_t i = 0; i < ARRAY_LEN(local); i++)
        if ((unsigned)type == local[i])
            return true;
    return false;
}

static bool is_reported(struct dir_watch *w, dev_t device, int fd)
{
    struct dir_device *found = NULL;
    struct statfs fs;

    for (size_t i = 0; i < w->n_devices && !found; i++)
        if (w->devices[i].device == device)
            found = &w->devices[i];
    if (found)
        return found->is_reported;
    if (w->n_devices == ARRAY_LEN(w->devices) || fstatfs(fd, &fs) < 0)
        return false;
    w->devices[w->n_devices++] = (struct dir_device){device, is_local(fs.f_type)};
    return w->devices[w->n_devices - 1].is_reported;
}

void dir_events_watch(struct dir_watch *w, struct watched_dir *d, int fd)
{
    uint32_t mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB | IN_ONLYDIR;
    char path[32];
    int watch;

    if (w->events_fd < 0 || d->watch >= 0 || w->n_watched >= w->max_watches ||
        !is_reported(w, d->device, fd))
        return;
    if (w->follows_files)
        mask |= IN_MODIFY | IN_CLOSE_WRITE;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    watch = inotify_add_watch(w->events_fd, path, mask);
    if (watch >= 0)
        dir_node_set_watch(w, d, watch);
    else if (errno == ENOSPC || errno == ENOMEM)
        w->max_watches = w->n_watched;
}

static struct watched_dir *find_watched(const struct dir_watch *w, int watch)
{
    struct watched_dir *d = w->n_slots ? w->by_watch[(unsigned)watch & (w->n_slots - 1)] : NULL;

    while (d && d->watch != watch)
        d = d->by_watch;
    return d;
}

static struct watched_dir *next_watched(const struct watched_dir *d)
{
    int watch = d->watch;

    do
        d = d->by_watch;
    while (d && d->watch != watch);
    return (struct watched_dir *)(uintptr_t)d;
}

void dir_events_unwatch(struct dir_watch *w, struct watched_dir *d)
{
    int watch = d->watch;

    dir_node_set_watch(w, d, -1);
    if (watch >= 0 && w->events_fd >= 0 && !find_watched(w, watch))
        inotify_rm_watch(w->events_fd, watch); /* fails when the directory itself is gone */
}

/* --- reading --- */

static void note_event(struct dir_watch *w, struct watched_dir *d,
                       const struct inotify_event *event)
{
    const uint32_t entries = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO;
    const char *name = event->len ? event->name : NULL;

    if (event->mask & entries || (event->mask & IN_ATTRIB && !name))
        dir_node_read_later(w, d);
    if (name)
        dir_log_add(w, d, name);
}

static void take_event(struct dir_watch *w, const struct inotify_event *event)
{
    struct watched_dir *d, *next;

    if (event->mask & IN_Q_OVERFLOW) {
        w->must_ask_all = true;
        return;
    }
    for (d = find_watched(w, event->wd); d; d = next) {
        next = next_watched(d);
        if (event->mask & IN_IGNORED) {
            dir_node_set_watch(w, d, -1);
            w->is_log_broken = true;
        } else {
            note_event(w, d, event);
        }
    }
}

/* A mount covers what is below it, and no directory reports it. */
static bool has_new_mounts(const struct dir_watch *w)
{
    struct pollfd mounts = {.fd = w->mounts_fd, .events = POLLPRI};

    return w->mounts_fd < 0 || (poll(&mounts, 1, 0) > 0 && mounts.revents & (POLLPRI | POLLERR));
}

void dir_events_read(struct dir_watch *w)
{
    ssize_t n;

    if (w->events_fd < 0)
        return;
    if (has_new_mounts(w))
        w->must_ask_all = true;
    while ((n = read(w->events_fd, w->buffer, DIR_BUFFER_BYTES)) > 0)
        for (ssize_t at = 0; at < n;) {
            const struct inotify_event *event = (const struct inotify_event *)(w->buffer + at);

            take_event(w, event);
            at += (ssize_t)(sizeof *event + event->len);
        }
}

/* --- beginning to watch --- */

/* The content is known as of the directory's time. If it still has that time, nothing was missed
 * before the watch. */
static void settle_one(struct dir_watch *w, struct watched_dir *d)
{
    struct stat st;
    int fd;

    if (d->watch >= 0 || !d->was_read || d->shut)
        return;
    fd = dir_open(w, d, &st);
    if (fd < 0)
        return;
    dir_events_watch(w, d, fd);
    if (d->watch >= 0 &&
        (d->is_young || fstat(fd, &st) < 0 || st.st_dev != d->device || st.st_ino != d->inode ||
         st.st_ctim.tv_sec != d->changed.tv_sec || st.st_ctim.tv_nsec != d->changed.tv_nsec))
        dir_node_read_later(w, d);
    close(fd);
}

static bool settle_some(struct dir_watch *w)
{
    bool has_more;

    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < SETTLE_AT_ONCE && w->settle_next; i++) {
        struct watched_dir *d = w->settle_next;

        w->settle_next = d->newer;
        w->is_log_broken = true;
        settle_one(w, d);
    }
    has_more = w->settle_next && !w->is_closing && w->n_watched < w->max_watches;
    if (!has_more)
        dir_forget_fds(w);
    pthread_mutex_unlock(&w->lock);
    return has_more;
}

static void *settler_run(void *arg)
{
    struct dir_watch *w = arg;

    while (settle_some(w))
        continue;
    return NULL;
}

static bool open_events(struct dir_watch *w)
{
    w->events_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (w->events_fd < 0)
        return false;
    w->mounts_fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
    w->max_watches = read_limit();
    return true;
}

void dir_watch_settle(struct dir_watch *w)
{
    sigset_t all, before;

    pthread_mutex_lock(&w->lock);
    if (w->has_settler || (w->n_dirs <= DIR_WATCH_FEW && !w->follows_files) || !open_events(w)) {
        pthread_mutex_unlock(&w->lock);
        return;
    }
    w->settle_next = w->oldest;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    w->has_settler = pthread_create(&w->settler, NULL, settler_run, w) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_mutex_unlock(&w->lock);
}

void dir_watch_wait(struct dir_watch *w)
{
    while (w->has_settler && settle_some(w))
        continue;
}

void dir_events_init(struct dir_watch *w)
{
    w->events_fd = w->mounts_fd = -1;
}

void dir_events_done(struct dir_watch *w)
{
    if (w->has_settler) {
        pthread_mutex_lock(&w->lock);
        w->is_closing = true;
        pthread_mutex_unlock(&w->lock);
        pthread_join(w->settler, NULL);
    }
    if (w->events_fd >= 0)
        close(w->events_fd);
    if (w->mounts_fd >= 0)
        close(w->mounts_fd);
    w->events_fd = w->mounts_fd = -1;
    drop_from_log(w, w->n_log);
    mem_free(w->log);
}
