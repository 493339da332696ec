/* dir_watch.c - keeps directories known: asks those that nobody reports, reads those that changed.
 */
#include "sys/dir_watch_internal.h"

#include "sys/open_below.h"
#include "sys/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 10000000, /* that are read in one update */
    /* Times of files advance with the kernel's tick, of 10 ms at most. */
    TICK_NS = 20000000,
    FEW_TO_ASK = 256,
    MANY_TO_READ = 64, /* that are worth some threads */
    PREFETCH_AT_ONCE = 256,
    FEW_EVENT_BYTES = 4096,
};

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

static void close_kept(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

void dir_forget_fds(struct dir_watch *w)
{
    close_kept(&w->above_fd);
    close_kept(&w->last_fd);
    w->above = w->last = NULL;
}

static bool unlock(const struct dir_watch *w, int path_fd)
{
    return w->unlocker && w->unlocker->unlock(w->unlocker->self, path_fd);
}

/* One step down; what may not be searched is unlocked. */
static int open_in(const struct dir_watch *w, int dir, const char *name)
{
    const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int fd = openat(dir, name, flags);

    return fd < 0 && errno == EACCES && unlock(w, dir) ? openat(dir, name, flags) : fd;
}

/* From the root down, directory by directory: something on the way is locked. */
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

static bool is_it(const struct watched_dir *d, const struct stat *st)
{
    return d->device == st->st_dev && d->inode == st->st_ino;
}

/* The directory that `d` is in; stays open for the next one in it. -1 and errno. */
static int open_above(struct dir_watch *w, const struct watched_dir *d)
{
    struct stat st;

    if (w->above == d->above)
        return w->above_fd;
    close_kept(&w->above_fd);
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
    if (fstat(w->above_fd, &st) < 0 || !is_it(d->above, &st)) {
        close_kept(&w->above_fd);
        errno = ENOENT;
        return -1;
    }
    w->above = d->above;
    return w->above_fd;
}

/* One may be readable, but not to be searched: what is in it is out of reach all the same. */
bool dir_may_search(const struct stat *st)
{
    return geteuid() == 0 || st->st_uid != geteuid() || st->st_mode & S_IXUSR;
}

/* -1 and errno, which is EACCES where it cannot be searched. */
static int open_readable(int dir, const char *name, struct stat *ret_stat)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && (fstat(fd, ret_stat) < 0 || !dir_may_search(ret_stat))) {
        close_kept(&fd);
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
    int above = d->above ? open_above(w, d) : -1, fd, path_fd, error;

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

/* So close to now that a change which comes yet may get the same time. */
bool dir_is_young(const struct timespec *changed)
{
    int64_t granule_ns = changed->tv_nsec ? TICK_NS : 2000000000; /* some file systems count in s */
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - changed->tv_sec) * 1000000000 + (now.tv_nsec - changed->tv_nsec) <
           granule_ns;
}

static bool is_as_it_was(const struct watched_dir *d, const struct stat *st)
{
    return is_it(d, st) && d->changed.tv_sec == st->st_ctim.tv_sec &&
           d->changed.tv_nsec == st->st_ctim.tv_nsec;
}

/* --- one directory --- */

static void note_change(struct dir_watch *w, struct watched_dir *d)
{
    d->last_change = w->next_version;
    w->has_changed = true;
}

/* What the readers find in one directory, until it is compared with what they had. */
struct dir_reading {
    struct dir_find *finds[DIR_WATCH_MAX_READERS];
    size_t n[DIR_WATCH_MAX_READERS], room[DIR_WATCH_MAX_READERS];
};

static void dir_reading_done(struct dir_reading *r)
{
    for (int i = 0; i < DIR_WATCH_MAX_READERS; i++) {
        for (size_t j = 0; j < r->n[i]; j++)
            mem_free(r->finds[i][j].name);
        mem_free(r->finds[i]);
    }
}
DEFINE_AUTO_VAL(dir_reading, dir_reading_done)

static void add_find(struct dir_reading *r, int reader, const char *name, unsigned meaning)
{
    if (r->n[reader] == r->room[reader]) {
        r->room[reader] = MAX((size_t)4, r->room[reader] * 2);
        r->finds[reader] = mem_resize(r->finds[reader], r->room[reader] * sizeof *r->finds[reader]);
    }
    r->finds[reader][r->n[reader]++] = (struct dir_find){meaning, mem_strdup(name)};
}

/* Bits of the readers that judge nothing in it. */
static unsigned char judge_entry(const struct dir_watch *w, const struct watched_dir *d,
                                 struct dir_reading *r, const char *name)
{
    unsigned char closed = d->closed;

    for (int i = 0; i < DIR_WATCH_MAX_READERS; i++) {
        const struct dir_judge *judge = &w->judges[i];
        unsigned meaning;

        if (!judge->judge || d->closed & 1 << i)
            continue;
        meaning = judge->judge(judge->self, d, name);
        if (meaning)
            add_find(r, i, name, meaning);
        if (meaning & judge->closing)
            closed |= (unsigned char)(1 << i);
    }
    return closed;
}

static bool is_directory(int fd, const struct dirent64 *entry)
{
    struct stat st;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* Another one of the same name shows by its number; so does a mount point, which is read in vain.
 */
static void take_child(struct dir_watch *w, struct watched_dir *d, const struct dirent64 *entry,
                       unsigned char closed)
{
    struct watched_dir *child = dir_node_find(w, d, entry->d_name);

    if (!child) {
        child = dir_node_add(w, d, entry->d_name);
        note_change(w, d);
    } else if (child->inode != entry->d_ino) {
        dir_node_read_later(w, child);
    }
    child->is_seen = true;
    child->closed = closed;
}

static struct err *too_much(const struct dir_watch *w, const char *what, int limit)
{
    return err_hint(err_new(ERR_SANDBOX, "%s holds more than %d %s", w->root_path, limit, what),
                    "commands run only where keel can look for what is to be kept from them: start "
                    "it in a smaller directory, and give deny rules directories that are smaller");
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* `fd` is for file systems that do not say what an entry is; -1: this one does. */
static struct err *take_entries(struct dir_watch *w, struct watched_dir *d, int fd,
                                struct str entries, struct dir_reading *r)
{
    for (size_t at = 0; at < entries.n;) {
        const struct dirent64 *entry = (const struct dirent64 *)(entries.p + at);
        unsigned char closed;

        at += entry->d_reclen;
        if (is_dots(entry->d_name))
            continue;
        if (++w->n_entries > MAX_ENTRIES)
            return too_much(w, "files", MAX_ENTRIES);
        closed = judge_entry(w, d, r, entry->d_name);
        if (is_directory(fd, entry))
            take_child(w, d, entry, closed);
    }
    return w->n_dirs > DIR_WATCH_MAX_DIRS ? too_much(w, "directories", DIR_WATCH_MAX_DIRS) : NULL;
}

static struct err *read_entries(struct dir_watch *w, struct watched_dir *d, int fd,
                                struct dir_reading *r)
{
    ssize_t n;

    while ((n = syscall(SYS_getdents64, fd, w->buffer, DIR_BUFFER_BYTES)) > 0)
        TRY(take_entries(w, d, fd, str_make(w->buffer, (size_t)n), r));
    /* One that goes away meanwhile is at its end; /proc says so in its own way. */
    if (n < 0 && errno != ENOENT && errno != EINVAL)
        return err_errno(ERR_SANDBOX, errno, "cannot read a directory in %s", w->root_path);
    return NULL;
}

static bool are_same(const struct dir_finds *had, const struct dir_find *now, size_t n)
{
    if ((had ? had->n : 0) != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (had->items[i].meaning != now[i].meaning || strcmp(had->items[i].name, now[i].name) != 0)
            return false;
    return true;
}

static void keep_finds(struct dir_watch *w, struct watched_dir *d, struct dir_reading *r, int i)
{
    struct dir_finds *f = dir_finds_of(d, i);

    if (are_same(f, r->finds[i], r->n[i]))
        return;
    note_change(w, d);
    dir_finds_free(f);
    if (r->n[i] == 0)
        return;
    f = mem_alloc(sizeof *f + r->n[i] * sizeof f->items[0]);
    f->dir = d;
    f->reader = i;
    f->n = r->n[i];
    memcpy(f->items, r->finds[i], f->n * sizeof f->items[0]);
    r->n[i] = 0; /* the names are f's */
    f->next = w->finds[i];
    f->back = &w->finds[i];
    if (f->next)
        f->next->back = &f->next;
    w->finds[i] = f;
    f->beside = d->finds;
    d->finds = f;
}

static void drop_unseen(struct dir_watch *w, struct watched_dir *d)
{
    struct watched_dir *next;

    for (struct watched_dir *child = d->first; child; child = next) {
        next = child->after;
        if (child->is_seen) {
            child->is_seen = false;
            continue;
        }
        dir_node_remove(w, child);
        note_change(w, d);
    }
}

/* Another directory in its place: nothing that was known counts. */
static void become(struct dir_watch *w, struct watched_dir *d, const struct stat *st)
{
    if (d->was_read && !is_it(d, st)) {
        dir_node_empty(w, d);
        dir_events_unwatch(w, d);
        d->since = w->next_version;
        d->was_read = false;
    }
    if (!d->was_read || !is_as_it_was(d, st))
        note_change(w, d);
    if (!d->was_read)
        dir_log_add(w, d, NULL);
    d->device = st->st_dev;
    d->inode = st->st_ino;
    d->changed = st->st_ctim;
    d->is_young = dir_is_young(&st->st_ctim);
    d->shut = DIR_IS_OPEN;
}

static void keep_reading(struct dir_watch *w, struct watched_dir *d, struct dir_reading *r)
{
    for (int i = 0; i < DIR_WATCH_MAX_READERS; i++)
        keep_finds(w, d, r, i);
    drop_unseen(w, d);
    d->was_read = true;
}

static struct err *read_opened(struct dir_watch *w, struct watched_dir *d, int fd,
                               const struct stat *st)
{
    AUTO(dir_reading) struct dir_reading r = {0};

    w->n_read++;
    become(w, d, st);
    dir_events_watch(w, d, fd);
    TRY(read_entries(w, d, fd, &r));
    keep_reading(w, d, &r);
    return NULL;
}

/* For want of descriptors or memory: what is there is not known. */
static bool is_passing(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* A command of the same user can open such a directory, or make something in it. */
static bool is_ours_to_open(int dir, const char *name)
{
    struct stat st;

    return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           (st.st_uid == geteuid() || faccessat(dir, name, W_OK | X_OK, AT_EACCESS) == 0);
}

static struct err *cannot_read(struct dir_watch *w, struct watched_dir *d, int error)
{
    AUTO(strbuf) struct strbuf path = {0};

    watched_dir_path(d, &path);
    return err_errno(ERR_SANDBOX, error, "cannot look into %s%s%s", w->root_path, path.n ? "/" : "",
                     strbuf_cstr(&path));
}

/* It cannot be opened. What is not there any more goes; what is shut keeps what was known of it. */
static struct err *note_failure(struct dir_watch *w, struct watched_dir *d, int error)
{
    int above;

    if (is_passing(error)) {
        dir_node_read_later(w, d);
        return cannot_read(w, d, error);
    }
    if (!d->above) {
        dir_node_read_later(w, d);
        return cannot_read(w, d, error);
    }
    if (error == ENOENT || error == ENOTDIR || error == ELOOP) {
        if (!d->above
                 ->is_to_be_read) /* a command moves things about: the next update looks again */
            w->must_ask_all = d->above->is_young = true;
        note_change(w, d->above);
        dir_node_remove(w, d);
        return NULL;
    }
    above = open_above(w, d);
    if (d->shut != DIR_IS_SHUT && above >= 0 && is_ours_to_open(above, d->name)) {
        d->shut = DIR_IS_SHUT;
        note_change(w, d);
    }
    d->changed = (struct timespec){0}; /* to be asked again */
    return NULL;
}

static struct err *read_dir(struct dir_watch *w, struct watched_dir *d)
{
    struct stat st;
    struct err *e;
    int fd;

    if (d->depth > DIR_WATCH_MAX_DEPTH) {
        if (d->shut != DIR_IS_TOO_DEEP)
            note_change(w, d);
        d->shut = DIR_IS_TOO_DEEP;
        return NULL;
    }
    fd = dir_open(w, d, &st);
    if (fd < 0)
        return note_failure(w, d, errno);
    e = read_opened(w, d, fd, &st);
    close_kept(&w->last_fd);
    w->last_fd = fd;
    w->last = d;
    if (e)
        dir_node_read_later(w, d);
    return e;
}

/* --- many at a time --- */

/* Does every entry say what it is? */
static bool has_types(const struct dir_prefetch *p)
{
    for (size_t at = 0; at < p->n;) {
        const struct dirent64 *entry = (const struct dirent64 *)(p->bytes + at);

        if (entry->d_type == DT_UNKNOWN)
            return false;
        at += entry->d_reclen;
    }
    return true;
}

static struct err *take_prefetched(struct dir_watch *w, struct dir_prefetch *p)
{
    AUTO(dir_reading) struct dir_reading r = {0};
    struct watched_dir *d = p->dir;

    if (!p->is_whole || d->depth > DIR_WATCH_MAX_DEPTH || !has_types(p))
        return read_dir(w, d);
    w->n_read++;
    become(w, d, &p->st);
    TRY(take_entries(w, d, -1, str_make(p->bytes, p->n), &r));
    keep_reading(w, d, &r);
    return NULL;
}

/* The next ones of the list. They stay marked, so that none is freed meanwhile. */
static size_t collect(struct dir_watch *w, struct dir_prefetch *items)
{
    struct watched_dir *d;
    size_t n = 0;

    while (n < PREFETCH_AT_ONCE && (d = dir_node_next_to_read(w))) {
        struct strbuf path = {0};

        watched_dir_path(d, &path);
        d->is_to_be_read = true;
        items[n++] =
            (struct dir_prefetch){.dir = d, .path = path.n ? strbuf_take(&path) : mem_strdup("")};
        strbuf_done(&path);
    }
    return n;
}

/* What is not done, after an error, is done by the next update. */
static struct err *read_many(struct dir_watch *w)
{
    AUTO_FREE struct dir_prefetch *items = mem_alloc(PREFETCH_AT_ONCE * sizeof *items);
    size_t n = collect(w, items);
    struct err *e = NULL;

    dir_prefetch(w, items, n);
    for (size_t i = 0; i < n; i++) {
        struct watched_dir *d = items[i].dir;

        d->is_to_be_read = false;
        if (d->is_gone)
            dir_node_release(d);
        else if (e)
            dir_node_read_later(w, d);
        else
            e = take_prefetched(w, &items[i]);
        mem_free(items[i].path);
        mem_free(items[i].bytes);
    }
    return e;
}

/* Before anything is watched: what is read then counts from its time on, whoever reads it. */
static bool may_prefetch(const struct dir_watch *w)
{
    return w->events_fd < 0 && !w->unlocker && w->to_read && w->to_read->next_to_read &&
           w->n_dirs > MANY_TO_READ;
}

/* --- all of them --- */

/* Directories come before those in them, and are gone with them. */
static void ask(struct dir_watch *w, struct watched_dir *d)
{
    int above = d->above ? open_above(w, d) : w->root_fd;
    struct stat st;

    w->n_asked++;
    if (above < 0 ||
        fstatat(above, d->name, &st, AT_SYMLINK_NOFOLLOW | (d->above ? 0 : AT_EMPTY_PATH)) < 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            dir_node_read_later(w, d);
        return;
    }
    if (d->is_young || !is_as_it_was(d, &st))
        dir_node_read_later(w, d);
}

static void ask_all(struct dir_watch *w)
{
    bool is_each = w->must_ask_all;

    w->must_ask_all = false;
    for (struct watched_dir *d = w->oldest; d; d = d->newer)
        if (d->watch < 0 || is_each)
            ask(w, d);
    w->is_log_broken = true;
}

/* The root by its name: a person may have put another in its place. */
static struct err *find_root(struct dir_watch *w)
{
    struct stat st;

    if (stat(w->root_path, &st) < 0 || !S_ISDIR(st.st_mode)) {
        int error = errno;

        if (w->root)
            dir_node_remove(w, w->root), w->has_changed = true;
        close_kept(&w->root_fd);
        if (error == EACCES)
            return err_errno(ERR_SANDBOX, error, "cannot open %s", w->root_path);
        return NULL;
    }
    if (w->root && w->root_fd >= 0 && w->root->was_read && is_it(w->root, &st))
        return NULL;
    if (w->root && w->root->was_read)
        dir_node_remove(w, w->root), w->has_changed = true;
    close_kept(&w->root_fd);
    w->root_fd = open(w->root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (w->root_fd < 0)
        return err_errno(ERR_SANDBOX, errno, "cannot open %s", w->root_path);
    if (!w->root)
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
    if (w->must_ask_all || w->n_watched < w->n_dirs)
        ask_all(w);
    while (w->to_read) {
        if (work_cancelled())
            return err_new(ERR_CANCELLED, "interrupted");
        if (may_prefetch(w)) {
            TRY(read_many(w));
            continue;
        }
        d = dir_node_next_to_read(w);
        if (d)
            TRY(read_dir(w, d));
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

/* --- readers --- */

static int find_reader(const struct dir_watch *w, const struct dir_judge *judge)
{
    for (int i = 0; i < DIR_WATCH_MAX_READERS; i++)
        if (w->n_users[i] && w->judges[i].judge == judge->judge &&
            w->judges[i].self == judge->self && w->judges[i].closing == judge->closing)
            return i;
    return -1;
}

static int take_reader(struct dir_watch *w, const struct dir_judge *judge)
{
    int reader = 0;

    while (reader < DIR_WATCH_MAX_READERS && w->n_users[reader])
        reader++;
    if (reader == DIR_WATCH_MAX_READERS)
        return -1;
    w->judges[reader] = *judge;
    for (struct watched_dir *d = w->newest; d; d = d->older)
        dir_node_read_later(w, d);
    return reader;
}

int dir_watch_add_reader(struct dir_watch *w, const struct dir_judge *judge)
{
    int reader;

    pthread_mutex_lock(&w->lock);
    reader = find_reader(w, judge);
    if (reader < 0)
        reader = take_reader(w, judge);
    if (reader >= 0)
        w->n_users[reader]++;
    pthread_mutex_unlock(&w->lock);
    return reader;
}

void dir_watch_remove_reader(struct dir_watch *w, int reader)
{
    pthread_mutex_lock(&w->lock);
    if (--w->n_users[reader] == 0) {
        w->judges[reader] = (struct dir_judge){0};
        while (w->finds[reader])
            dir_finds_free(w->finds[reader]);
    }
    pthread_mutex_unlock(&w->lock);
}

void dir_watch_each(struct dir_watch *w, int reader,
                    void (*found)(void *self, const struct watched_dir *dir, const char *name,
                                  unsigned meaning),
                    void *self)
{
    pthread_mutex_lock(&w->lock);
    for (const struct dir_finds *f = w->finds[reader]; f; f = f->next)
        for (size_t i = 0; i < f->n; i++)
            found(self, f->dir, f->items[i].name, f->items[i].meaning);
    pthread_mutex_unlock(&w->lock);
}

void dir_watch_each_shut(struct dir_watch *w,
                         void (*found)(void *self, const struct watched_dir *dir,
                                       enum dir_shut why),
                         void *self)
{
    pthread_mutex_lock(&w->lock);
    for (const struct watched_dir *d = w->oldest; d; d = d->newer)
        if (d->shut)
            found(self, d, d->shut);
    pthread_mutex_unlock(&w->lock);
}

void dir_watch_each_changed(struct dir_watch *w, uint64_t since,
                            void (*found)(void *self, const struct watched_dir *dir), void *self)
{
    pthread_mutex_lock(&w->lock);
    for (const struct watched_dir *d = w->oldest; d; d = d->newer)
        if (d->last_change > since)
            found(self, d);
    pthread_mutex_unlock(&w->lock);
}

bool dir_watch_find(struct dir_watch *w, ino_t inode, struct strbuf *path)
{
    struct watched_dir *d;

    pthread_mutex_lock(&w->lock);
    for (d = w->oldest; d && (d->inode != inode || !d->above); d = d->newer)
        continue;
    if (d)
        watched_dir_path(d, path);
    pthread_mutex_unlock(&w->lock);
    return d != NULL;
}

/* --- its life --- */

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
    close_kept(&w->root_fd);
    mem_free(w->buffer);
    pthread_mutex_destroy(&w->lock);
    mem_free(w->root_path);
    mem_free(w);
}

/* --- several --- */

struct dir_watches {
    pthread_mutex_t lock;
    struct dir_watch **items;
    size_t n;
};

struct dir_watches *dir_watches_new(void)
{
    struct dir_watches *all = mem_alloc(sizeof *all);

    pthread_mutex_init(&all->lock, NULL);
    return all;
}

static void drop_unused(struct dir_watches *all, const char *wanted)
{
    size_t n = 0;

    for (size_t i = 0; i < all->n; i++)
        if (__atomic_load_n(&all->items[i]->n_refs, __ATOMIC_ACQUIRE) == 1 &&
            (!wanted || strcmp(all->items[i]->root_path, wanted) != 0))
            dir_watch_unref(all->items[i]);
        else
            all->items[n++] = all->items[i];
    all->n = n;
}

struct dir_watch *dir_watches_get(struct dir_watches *all, const char *root)
{
    struct dir_watch *w = NULL;

    pthread_mutex_lock(&all->lock);
    drop_unused(all, root);
    for (size_t i = 0; i < all->n && !w; i++)
        if (strcmp(all->items[i]->root_path, root) == 0)
            w = all->items[i];
    if (!w) {
        w = dir_watch_new(root);
        all->items = mem_resize(all->items, (all->n + 1) * sizeof(struct dir_watch *));
        all->items[all->n++] = w;
    }
    w = dir_watch_ref(w);
    pthread_mutex_unlock(&all->lock);
    return w;
}

void dir_watches_free(struct dir_watches *all)
{
    if (!all)
        return;
    for (size_t i = 0; i < all->n; i++)
        dir_watch_unref(all->items[i]);
    mem_free(all->items);
    pthread_mutex_destroy(&all->lock);
    mem_free(all);
}
