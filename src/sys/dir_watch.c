/* dir_watch.c - keeps directories known: asks those that the kernel does not report, and has the
 * changed ones read. */
#include "sys/dir_watch_internal.h"

#include "sys/open_below.h"
#include "sys/work.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum {
    FEW_TO_ASK = 256,
    FEW_EVENT_BYTES = 4096,
};

/* --- the whole tree --- */

/* Parents come before their children, and are removed with them. */
static void ask(struct dir_watch *w, struct watched_dir *d)
{
    int above = d->above ? dir_open_above(w, d) : w->root_fd;
    struct stat st;

    w->n_asked++;
    if (above < 0 ||
        fstatat(above, d->name, &st, AT_SYMLINK_NOFOLLOW | (d->above ? 0 : AT_EMPTY_PATH)) < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            dir_node_read_later(w, d);
        return;
    }
    if (d->is_young || !dir_is_as_it_was(d, &st))
        dir_node_read_later(w, d);
}

/* Through no link: a command that can write above the root may have replaced it with one, and keel
 * would change what that leads to. */
static int open_root(const struct dir_watch *w, struct stat *ret_stat)
{
    int top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), error;
    int fd = top >= 0 ? open_below(top, w->root_path + 1, O_PATH | O_DIRECTORY) : -1;

    error = errno;
    dir_close_kept(&top);
    if (fd >= 0 && fstat(fd, ret_stat) < 0)
        dir_close_kept(&fd);
    errno = error;
    return fd;
}

/* Finds the root by its name: a person may have replaced it. */
static struct err *find_root(struct dir_watch *w)
{
    struct stat st;
    int fd = open_root(w, &st), error = errno;

    if (fd < 0 && error != ENOENT && error != ENOTDIR && error != ELOOP)
        return err_errno(ERR_SANDBOX, error, "cannot open %s", w->root_path);
    if (fd >= 0 && w->root && w->root_fd >= 0 && w->root->was_read && dir_is_it(w->root, &st)) {
        close(fd);
        return NULL;
    }
    if (w->root && (fd < 0 || w->root->was_read))
        dir_node_remove(w, w->root), w->has_changed = true;
    dir_close_kept(&w->root_fd);
    w->root_fd = fd;
    if (fd >= 0 && !w->root)
        w->root = dir_node_add(w, NULL, "");
    return NULL;
}

static struct err *update(struct dir_watch *w)
{
    struct watched_dir *d;

    TRY(find_root(w));
    if (!w->root)
        return NULL;
    dir_events_read(w);
    if (w->must_ask_all || w->n_watched < w->n_dirs) {
        bool is_each = w->must_ask_all;

        w->must_ask_all = false;
        for (d = w->oldest; d; d = d->newer)
            if (d->watch < 0 || is_each)
                ask(w, d);
        w->is_log_broken = true;
    }
    while (w->to_read) {
        if (work_cancelled())
            return err_new(ERR_CANCELLED, "interrupted");
        if (dir_may_prefetch(w)) {
            TRY(dir_read_many(w));
            continue;
        }
        d = dir_node_next_to_read(w);
        if (d)
            TRY(dir_read(w, d));
    }
    return NULL;
}

struct err *dir_watch_update(struct dir_watch *w, const struct dir_unlocker *unlocker)
{
    struct err *e;

    pthread_mutex_lock(&w->lock);
    w->n_entries = w->n_read = w->n_asked = 0;
    w->next_version = w->version + 1;
    w->log_update = dir_watch_mark(w);
    w->has_changed = false;
    w->unlocker = unlocker;
    if (!w->buffer)
        w->buffer = mem_alloc(DIR_BUFFER_BYTES);
    e = update(w);
    w->unlocker = NULL;
    dir_forget_fds(w);
    if (w->has_changed)
        w->version = w->next_version;
    if (w->is_log_broken && !e) {
        w->log_whole = dir_watch_mark(w);
        w->is_log_broken = w->n_watched < w->n_dirs;
    }
    pthread_mutex_unlock(&w->lock);
    return e;
}

/* --- life cycle --- */

uint64_t dir_watch_version(const struct dir_watch *w)
{
    return w->version;
}

size_t dir_watch_n_dirs(const struct dir_watch *w)
{
    return w->n_dirs;
}

size_t dir_watch_n_read(const struct dir_watch *w)
{
    return w->n_read;
}

size_t dir_watch_n_asked(const struct dir_watch *w)
{
    return w->n_asked;
}

size_t dir_watch_n_watched(struct dir_watch *w)
{
    size_t n;

    pthread_mutex_lock(&w->lock);
    n = w->n_watched;
    pthread_mutex_unlock(&w->lock);
    return n;
}

static bool is_quick(const struct dir_watch *w)
{
    int n_bytes = 0;

    if (w->n_dirs == 0 || w->to_read || w->must_ask_all || w->n_dirs - w->n_watched > FEW_TO_ASK)
        return false;
    return w->events_fd < 0 ||
           (ioctl(w->events_fd, FIONREAD, &n_bytes) == 0 && n_bytes <= FEW_EVENT_BYTES);
}

bool dir_watch_is_quick(struct dir_watch *w)
{
    bool answer = false;

    if (pthread_mutex_trylock(&w->lock) != 0)
        return false;
    answer = is_quick(w);
    pthread_mutex_unlock(&w->lock);
    return answer;
}

bool dir_watch_is_whole(struct dir_watch *w)
{
    bool answer;

    pthread_mutex_lock(&w->lock);
    answer = w->root && !w->to_read;
    pthread_mutex_unlock(&w->lock);
    return answer;
}

const char *dir_watch_root(const struct dir_watch *w)
{
    return w->root_path;
}

int dir_watch_root_fd(const struct dir_watch *w)
{
    return w->root_fd;
}

struct dir_watch *dir_watch_new(const char *root)
{
    struct dir_watch *w = mem_alloc(sizeof *w);

    w->n_refs = 1;
    w->root_path = mem_strdup(root);
    w->root_fd = w->above_fd = w->last_fd = -1;
    pthread_mutex_init(&w->lock, NULL);
    dir_events_init(w);
    return w;
}

struct dir_watch *dir_watch_ref(struct dir_watch *w)
{
    __atomic_add_fetch(&w->n_refs, 1, __ATOMIC_RELAXED);
    return w;
}

void dir_watch_unref(struct dir_watch *w)
{
    if (!w || __atomic_sub_fetch(&w->n_refs, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    dir_events_done(w);
    dir_nodes_done(w);
    dir_close_kept(&w->root_fd);
    mem_free(w->buffer);
    pthread_mutex_destroy(&w->lock);
    mem_free(w->root_path);
    mem_free(w);
}
