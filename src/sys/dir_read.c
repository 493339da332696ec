/* dir_read.c - reads a new or changed directory: its entries, and what readers find there. */
#include "sys/dir_watch_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

enum {
    MAX_ENTRIES = 10000000, /* read in one update */
    MANY_TO_READ = 64,      /* worth starting threads */
    PREFETCH_AT_ONCE = 256,
};

/* --- one directory --- */

static void note_change(struct dir_watch *w, struct watched_dir *d)
{
    d->last_change = w->next_version;
    w->has_changed = true;
}

/* What the readers find in one directory, before it is compared with their earlier finds. */
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

/* Returns the bits of the readers that judge nothing inside this entry. */
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
        if (meaning) {
            r->finds[i] = mem_grow(r->finds[i], r->n[i], &r->room[i], sizeof *r->finds[i]);
            r->finds[i][r->n[i]++] = (struct dir_find){meaning, mem_strdup(name)};
        }
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

/* Another directory of the same name shows by its number. So does a mount point, which is read in
 * vain. */
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
    return err_hint(
        err_new(ERR_SANDBOX, "%s holds more than %d %s", w->root_path, limit, what),
        "keel runs commands only where it can list the files that it protects from them: start it "
        "in a smaller directory, and name smaller directories in deny rules");
}

static bool is_dots(const char *name)
{
    return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

/* `fd` is for file systems that do not tell the type of an entry; -1: this one does. */
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

/* Another directory in its place: what was known no longer counts. */
static void become(struct dir_watch *w, struct watched_dir *d, const struct stat *st)
{
    if (d->was_read && !dir_is_it(d, st)) {
        dir_node_empty(w, d);
        dir_events_unwatch(w, d);
        d->since = w->next_version;
        d->was_read = false;
    }
    if (!d->was_read || !dir_is_as_it_was(d, st))
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

/* Is it the root, or a mount point of another file system? */
static bool may_be_mount(const struct watched_dir *d, const struct stat *st)
{
    return !d->above || d->above->device != st->st_dev;
}

/* Directories of processes: nothing can be created in them, they change all the time, and not even
 * root may list all of them. */
static bool is_proc(const struct watched_dir *d, int fd, const struct stat *st)
{
    struct statfs fs;

    return may_be_mount(d, st) && fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

static struct err *read_opened(struct dir_watch *w, struct watched_dir *d, int fd,
                               const struct stat *st)
{
    AUTO(dir_reading) struct dir_reading r = {0};

    w->n_read++;
    become(w, d, st);
    dir_events_watch(w, d, fd);
    if (!is_proc(d, fd, st)) {
        ssize_t n;

        while ((n = syscall(SYS_getdents64, fd, w->buffer, DIR_BUFFER_BYTES)) > 0)
            TRY(take_entries(w, d, fd, str_make(w->buffer, (size_t)n), &r));
        /* A directory that disappears meanwhile is at its end; /proc reports it in its own way. */
        if (n < 0 && errno != ENOENT && errno != EINVAL)
            return err_errno(ERR_SANDBOX, errno, "cannot read a directory in %s", w->root_path);
    }
    keep_reading(w, d, &r);
    return NULL;
}

/* Descriptors or memory ran out: the content is unknown. */
static bool is_passing(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* A command of the same user can open such a directory, or create something in it. */
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
    return err_errno(ERR_SANDBOX, error, "cannot read the directory %s%s%s", w->root_path,
                     path.n ? "/" : "", strbuf_cstr(&path));
}

/* The directory cannot be opened. If it is gone, it is removed; if it is shut, what was known of it
 * stays. */
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
        if (!d->above->is_to_be_read) /* something moves: the next update looks again */
            w->must_ask_all = d->above->is_young = true;
        note_change(w, d->above);
        dir_node_remove(w, d);
        return NULL;
    }
    above = dir_open_above(w, d);
    if (d->shut != DIR_IS_SHUT && above >= 0 && is_ours_to_open(above, d->name)) {
        d->shut = DIR_IS_SHUT;
        note_change(w, d);
    }
    d->changed = (struct timespec){0}; /* read again next time */
    return NULL;
}

struct err *dir_read(struct dir_watch *w, struct watched_dir *d)
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
    dir_close_kept(&w->last_fd);
    w->last_fd = fd;
    w->last = d;
    if (e)
        dir_node_read_later(w, d);
    return e;
}

/* --- many at once --- */

/* Does every entry tell its type? */
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

    if (!p->is_whole || d->depth > DIR_WATCH_MAX_DEPTH || !has_types(p) || may_be_mount(d, &p->st))
        return dir_read(w, d);
    w->n_read++;
    become(w, d, &p->st);
    TRY(take_entries(w, d, -1, str_make(p->bytes, p->n), &r));
    keep_reading(w, d, &r);
    return NULL;
}

/* Collects the next ones of the list. They stay marked, so that none is freed meanwhile. */
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

/* After an error, the next update does the rest. */
struct err *dir_read_many(struct dir_watch *w)
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

/* Before anything is watched: what is read counts from its time on, for every reader. */
bool dir_may_prefetch(const struct dir_watch *w)
{
    return w->events_fd < 0 && !w->unlocker && w->to_read && w->to_read->next_to_read &&
           w->n_dirs > MANY_TO_READ;
}
