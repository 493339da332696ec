/* walk.c - walks a tree of directories with a few threads.
 *
 * Directories that wait are on a stack; each thread takes one, reads it and puts what it finds
 * there. A directory is opened from its parent's descriptor, so that nobody can move the walk
 * elsewhere by putting a link in its way. Parents stay open while children wait, up to a number;
 * beyond it the way is opened anew from the nearest one that is. Names are handled in batches: a
 * thread that reads a long directory gives batches to threads that have nothing to do. */
#include "sys/walk.h"

#include "sys/walk_rules.h"
#include "sys/work.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define MAX_THREADS 64
#define MAX_DEPTH 4096   /* whatever the caller says */
#define MAX_KEPT_OPEN 64 /* directories that stay open for their children */
#define POLL_NS (20 * 1000 * 1000)
#define READ_BYTES (32 << 10)
#define BATCH_ENTRIES 64
#define BATCH_BYTES 4096

/* A directory. It lives as long as something below it waits. */
struct dir {
    atomic_uint n_refs;
    struct dir *parent;       /* NULL: the root */
    struct dir *next;         /* on the stack */
    struct walk_rules *rules; /* set once it is open, like fd */
    int fd;                   /* -1: not kept open */
    unsigned depth;
    size_t name_at; /* in path */
    struct str path;
    char path_text[];
};

struct walk_batch {
    struct walk_batch *next;
    struct dir *dir;
    size_t n, n_bytes;
    unsigned char types[BATCH_ENTRIES];
    uint16_t at[BATCH_ENTRIES];
    char names[BATCH_BYTES];
};

struct tree_walk {
    const struct walk_options *options;
    const struct walk_visitor *visitor;
    size_t max_entries;
    unsigned max_depth;
    struct strbuf prefix; /* the path from the top of the rules to the root */
    struct walk_rules *rules_above;

    atomic_bool is_over;
    atomic_bool has_ignored, was_cut, is_too_deep;
    atomic_size_t n_entries, n_unreadable;
    atomic_int n_kept_open;
    atomic_uint n_idle;

    pthread_mutex_t lock; /* for what follows */
    pthread_cond_t work_came, thread_ended;
    struct dir *dirs;
    struct walk_batch *batches;
    unsigned n_running;
};

struct walker {
    struct tree_walk *walk;
    void *thread;            /* the visitor's */
    struct strbuf path;      /* prefix, directory, name */
    size_t n_dir;            /* bytes of the first two */
    struct dir *found;       /* directories that go to the stack next */
    struct walk_batch batch; /* being filled */
    char entries[READ_BYTES] __attribute__((aligned(8)));
};

/* --- directories --- */

static struct dir *dir_new(struct dir *parent, struct str path, size_t name_at)
{
    struct dir *d = mem_alloc(sizeof *d + path.n + 1);

    atomic_init(&d->n_refs, 1);
    if (parent) {
        atomic_fetch_add(&parent->n_refs, 1);
        d->parent = parent;
        d->depth = parent->depth + 1;
    }
    d->fd = -1;
    if (path.n)
        memcpy(d->path_text, path.p, path.n);
    d->path = str_make(d->path_text, path.n);
    d->name_at = name_at;
    return d;
}

static void dir_unref(struct tree_walk *w, struct dir *d)
{
    while (d && atomic_fetch_sub(&d->n_refs, 1) == 1) {
        struct dir *parent = d->parent;

        if (d->fd >= 0) {
            close(d->fd);
            atomic_fetch_sub(&w->n_kept_open, 1);
        }
        walk_rules_unref(d->rules);
        mem_free(d);
        d = parent;
    }
}

/* Opens it from the nearest open directory above it; recurses at most MAX_DEPTH times. */
static int dir_open(const struct dir *d)
{
    const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    int parent_fd = d->parent->fd, fd, error;

    if (parent_fd >= 0)
        return openat(parent_fd, d->path_text + d->name_at, flags);
    parent_fd = dir_open(d->parent);
    if (parent_fd < 0)
        return -1;
    fd = openat(parent_fd, d->path_text + d->name_at, flags);
    error = errno;
    close(parent_fd);
    errno = error;
    return fd;
}

/* --- the stack --- */

static void stop(struct tree_walk *w)
{
    atomic_store(&w->is_over, true);
    pthread_mutex_lock(&w->lock);
    pthread_cond_broadcast(&w->work_came);
    pthread_mutex_unlock(&w->lock);
}

static void wake_idle(struct tree_walk *w, size_t n_items)
{
    if (n_items > 1)
        pthread_cond_broadcast(&w->work_came);
    else
        pthread_cond_signal(&w->work_came);
}

static void push_found(struct walker *t)
{
    struct tree_walk *w = t->walk;
    struct dir *last = t->found;
    size_t n = 1;

    if (!last)
        return;
    for (; last->next; last = last->next)
        n++;
    pthread_mutex_lock(&w->lock);
    last->next = w->dirs;
    w->dirs = TAKE(t->found);
    if (atomic_load(&w->n_idle))
        wake_idle(w, n);
    pthread_mutex_unlock(&w->lock);
}

/* Gives the batch to an idle thread; false if there is none. */
static bool hand_over(struct walker *t)
{
    struct tree_walk *w = t->walk;
    struct walk_batch *b;

    if (t->batch.dir->fd < 0 || !atomic_load(&w->n_idle))
        return false;
    b = mem_copy(&t->batch, sizeof t->batch);
    atomic_fetch_add(&b->dir->n_refs, 1);
    pthread_mutex_lock(&w->lock);
    b->next = w->batches;
    w->batches = b;
    wake_idle(w, 1);
    pthread_mutex_unlock(&w->lock);
    return true;
}

/* Waits for work; false when no more will come. */
static bool take_work(struct tree_walk *w, struct dir **ret_dir, struct walk_batch **ret_batch)
{
    *ret_dir = NULL;
    *ret_batch = NULL;
    pthread_mutex_lock(&w->lock);
    while (!w->dirs && !w->batches && !atomic_load(&w->is_over)) {
        if (atomic_fetch_add(&w->n_idle, 1) + 1 == w->n_running) { /* none can be added */
            atomic_store(&w->is_over, true);
            pthread_cond_broadcast(&w->work_came);
        } else {
            pthread_cond_wait(&w->work_came, &w->lock);
        }
        atomic_fetch_sub(&w->n_idle, 1);
    }
    if (atomic_load(&w->is_over)) {
        pthread_mutex_unlock(&w->lock);
        return false;
    }
    if (w->batches) {
        *ret_batch = w->batches;
        w->batches = w->batches->next;
    } else {
        *ret_dir = w->dirs;
        w->dirs = w->dirs->next;
        (*ret_dir)->next = NULL;
    }
    pthread_mutex_unlock(&w->lock);
    return true;
}

/* --- entries --- */

static unsigned char find_type(int dir_fd, const char *name)
{
    struct stat st;

    if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return DT_UNKNOWN;
    return IFTODT(st.st_mode);
}

static bool is_wanted(const struct walker *t, const struct walk_entry *entry,
                      const struct walk_rules *rules)
{
    const struct walk_options *options = t->walk->options;
    enum ignore_verdict verdict = walk_rules_check(rules, strbuf_str(&t->path), entry->is_dir);

    if (entry->name[0] == '.' && !options->hidden && verdict != IGNORE_TAKEN_BACK)
        return false;
    if (options->is_left_out && options->is_left_out(options->self, entry->path, entry->is_dir))
        return false;
    if (verdict == IGNORE_YES && !atomic_load(&t->walk->has_ignored))
        atomic_store(&t->walk->has_ignored, true);
    return verdict != IGNORE_YES;
}

/* Counts it, unless there are too many. */
static bool count_entry(struct tree_walk *w)
{
    if (atomic_fetch_add(&w->n_entries, 1) < w->max_entries)
        return true;
    atomic_fetch_sub(&w->n_entries, 1);
    atomic_store(&w->was_cut, true);
    stop(w);
    return false;
}

static void note_dir(struct walker *t, struct dir *parent, const struct walk_entry *entry)
{
    struct dir *d;

    if (parent->depth >= t->walk->max_depth) {
        atomic_store(&t->walk->is_too_deep, true);
        return;
    }
    d = dir_new(parent, entry->path, (size_t)(entry->name - entry->path.p));
    d->next = t->found;
    t->found = d;
}

static void handle_entry(struct walker *t, struct dir *d, int dir_fd, const char *name,
                         unsigned char type)
{
    struct tree_walk *w = t->walk;
    struct walk_entry entry = {.dir_fd = dir_fd, .is_over = &w->is_over};

    if (type == DT_UNKNOWN)
        type = find_type(dir_fd, name);
    if (type == DT_UNKNOWN) /* gone by now */
        return;
    strbuf_cut(&t->path, t->n_dir);
    strbuf_add_cstr(&t->path, name);
    entry.path = str_skip(strbuf_str(&t->path), w->prefix.n);
    entry.name = t->path.p + t->n_dir;
    entry.is_dir = type == DT_DIR;
    entry.is_link = type == DT_LNK;
    entry.is_file = type == DT_REG;
    if (!is_wanted(t, &entry, d->rules) || !count_entry(w))
        return;
    if (!w->visitor->visit(w->visitor->self, t->thread, &entry))
        stop(w);
    else if (entry.is_dir)
        note_dir(t, d, &entry);
}

static void handle_batch(struct walker *t, const struct walk_batch *b, int dir_fd)
{
    strbuf_cut(&t->path, t->walk->prefix.n);
    strbuf_add(&t->path, b->dir->path);
    if (b->dir->path.n)
        strbuf_add_char(&t->path, '/');
    t->n_dir = t->path.n;
    for (size_t i = 0; i < b->n && !atomic_load(&t->walk->is_over); i++)
        handle_entry(t, b->dir, dir_fd, b->names + b->at[i], b->types[i]);
    push_found(t);
}

/* --- reading a directory --- */

static void empty_batch(struct walker *t, int dir_fd)
{
    if (!hand_over(t))
        handle_batch(t, &t->batch, dir_fd);
    t->batch.n = t->batch.n_bytes = 0;
}

static void add_to_batch(struct walker *t, int dir_fd, const struct dirent64 *entry)
{
    struct walk_batch *b = &t->batch;
    size_t n = strlen(entry->d_name) + 1;

    if (n > BATCH_BYTES) /* no file system has such names */
        return;
    if (b->n == BATCH_ENTRIES || b->n_bytes + n > BATCH_BYTES)
        empty_batch(t, dir_fd);
    b->types[b->n] = entry->d_type;
    b->at[b->n++] = (uint16_t)b->n_bytes;
    memcpy(b->names + b->n_bytes, entry->d_name, n);
    b->n_bytes += n;
}

static bool is_never_wanted(const char *name)
{
    return name[0] == '.' && (!strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, ".git"));
}

static void read_entries(struct walker *t, struct dir *d, int fd)
{
    ssize_t n;

    t->batch.dir = d;
    while (!atomic_load(&t->walk->is_over) && (n = getdents64(fd, t->entries, READ_BYTES)) != 0) {
        if (n < 0) {
            atomic_fetch_add(&t->walk->n_unreadable, errno != ENOENT);
            break;
        }
        for (ssize_t at = 0; at < n;) {
            const struct dirent64 *entry = (const void *)(t->entries + at);

            if (!is_never_wanted(entry->d_name))
                add_to_batch(t, fd, entry);
            at += entry->d_reclen;
        }
    }
    empty_batch(t, fd);
}

static struct walk_rules *enter_rules(struct walker *t, const struct dir *d, int fd)
{
    struct tree_walk *w = t->walk;
    struct str base;

    if (w->options->no_ignore)
        return NULL;
    strbuf_cut(&t->path, w->prefix.n);
    strbuf_add(&t->path, d->path);
    base = strbuf_str(&t->path);
    if (str_ends(base, S("/"))) /* the root: nothing follows the prefix */
        base.n--;
    return walk_rules_enter(d->parent ? d->parent->rules : w->rules_above, fd, base);
}

/* It existed when its parent was read. That it is gone or replaced by now is not worth
 * reporting. */
static bool is_race(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP;
}

static void read_dir(struct walker *t, struct dir *d)
{
    struct tree_walk *w = t->walk;
    bool is_kept = d->fd >= 0;
    int fd = is_kept ? d->fd : dir_open(d);

    if (fd < 0) {
        atomic_fetch_add(&w->n_unreadable, !is_race(errno));
        return;
    }
    if (!is_kept && atomic_fetch_add(&w->n_kept_open, 1) < MAX_KEPT_OPEN) {
        is_kept = true;
        d->fd = fd;
    } else if (!is_kept) {
        atomic_fetch_sub(&w->n_kept_open, 1);
    }
    d->rules = enter_rules(t, d, fd);
    read_entries(t, d, fd);
    if (!is_kept)
        close(fd);
}

/* --- threads --- */

static void walker_work(struct walker *t)
{
    struct dir *d;
    struct walk_batch *b;

    while (take_work(t->walk, &d, &b)) {
        if (b) {
            handle_batch(t, b, b->dir->fd);
            dir_unref(t->walk, b->dir);
            mem_free(b);
        } else {
            read_dir(t, d);
            dir_unref(t->walk, d);
        }
    }
}

static void *walker_run(void *arg)
{
    struct tree_walk *w = arg;
    const struct walk_visitor *visitor = w->visitor;
    struct walker *t = mem_alloc(sizeof *t);

    t->walk = w;
    strbuf_add(&t->path, strbuf_str(&w->prefix));
    if (visitor->begin_thread)
        t->thread = visitor->begin_thread(visitor->self);
    walker_work(t);
    if (visitor->end_thread)
        visitor->end_thread(visitor->self, t->thread);
    strbuf_done(&t->path);
    mem_free(t);

    pthread_mutex_lock(&w->lock);
    w->n_running--;
    pthread_cond_signal(&w->thread_ended);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static unsigned count_threads(const struct walk_options *options)
{
    cpu_set_t cpus;

    if (options->n_threads)
        return MIN(options->n_threads, MAX_THREADS);
    if (sched_getaffinity(0, sizeof cpus, &cpus) < 0)
        return 1;
    return (unsigned)MIN(CPU_COUNT(&cpus), 8);
}

/* Starts them with all signals blocked: handlers belong to the threads that set them. */
static unsigned start_threads(struct tree_walk *w, pthread_t *threads, unsigned n_wanted)
{
    sigset_t all, before;
    unsigned n = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_lock(&w->lock); /* none looks for work before n_running is right */
    while (n < n_wanted && pthread_create(&threads[n], NULL, walker_run, w) == 0)
        n++;
    w->n_running = n;
    pthread_mutex_unlock(&w->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return n;
}

/* work_cancelled() knows only the calling thread, so that one does nothing but check and wait. */
static bool wait_for_threads(struct tree_walk *w)
{
    bool was_cancelled = false;

    pthread_mutex_lock(&w->lock);
    while (w->n_running) {
        struct timespec until;

        if (!was_cancelled && work_cancelled()) {
            was_cancelled = true;
            atomic_store(&w->is_over, true);
            pthread_cond_broadcast(&w->work_came);
        }
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += POLL_NS;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&w->thread_ended, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return was_cancelled;
}

/* --- the walk --- */

static void walk_init(struct tree_walk *w, const struct walk_options *options,
                      const struct walk_visitor *visitor)
{
    pthread_condattr_t monotonic;

    *w = (struct tree_walk){.options = options, .visitor = visitor};
    w->max_entries = options->max_entries ? options->max_entries : 10 * 1000 * 1000;
    w->max_depth = options->max_depth ? MIN(options->max_depth, MAX_DEPTH) : 256;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->work_came, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&w->thread_ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Also what an early end left on the stack. */
static void walk_done(struct tree_walk *w)
{
    while (w->batches) {
        struct walk_batch *b = w->batches;

        w->batches = b->next;
        dir_unref(w, b->dir);
        mem_free(b);
    }
    while (w->dirs) {
        struct dir *d = w->dirs;

        w->dirs = d->next;
        dir_unref(w, d);
    }
    walk_rules_unref(w->rules_above);
    strbuf_done(&w->prefix);
    pthread_cond_destroy(&w->thread_ended);
    pthread_cond_destroy(&w->work_came);
    pthread_mutex_destroy(&w->lock);
}
DEFINE_AUTO_VAL(tree_walk, walk_done)

static struct err *open_root(struct tree_walk *w)
{
    const struct walk_options *o = w->options;
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    int fd = o->has_root_fd ? openat(o->root_fd, ".", flags) : open(o->root, flags);

    if (fd < 0)
        return err_hint(err_errno(ERR_VALIDATION, errno, "cannot search the directory %s", o->root),
                        "name a directory that exists and may be read");
    if (!o->no_ignore)
        w->rules_above = walk_rules_above(o->root, o->has_root_fd, &w->prefix);
    w->dirs = dir_new(NULL, S(""), 0);
    w->dirs->fd = fd;
    atomic_fetch_add(&w->n_kept_open, 1);
    return NULL;
}

struct err *walk_run(const struct walk_options *options, const struct walk_visitor *visitor,
                     struct walk_report *ret_report)
{
    pthread_t threads[MAX_THREADS];
    AUTO(tree_walk) struct tree_walk w;
    struct walk_report report = {0};
    unsigned n_threads;

    walk_init(&w, options, visitor);
    TRY(open_root(&w));
    n_threads = start_threads(&w, threads, count_threads(options));
    if (n_threads == 0)
        return err_hint(err_new(ERR_INTERNAL, "cannot start a thread to search %s", options->root),
                        "the system's limit of threads or memory is reached");
    report.was_cancelled = wait_for_threads(&w);
    for (unsigned i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);

    report.n_entries = atomic_load(&w.n_entries);
    report.n_unreadable = atomic_load(&w.n_unreadable);
    report.has_ignored = atomic_load(&w.has_ignored);
    report.was_cut = atomic_load(&w.was_cut);
    report.is_too_deep = atomic_load(&w.is_too_deep);
    report.max_depth = w.max_depth;
    *ret_report = report;
    return NULL;
}
