/* unreported.c - compares changes with announcements. */
#include "snapshot/unreported.h"

#include "snapshot/plain.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_ENTRIES 500000 /* of a walk */
#define MAX_CHANGED 100000 /* that are checked */

/* --- marks --- */

void change_marks_done(struct change_marks *m)
{
    for (size_t i = 0; i < m->n; i++)
        dir_watch_unref(m->items[i].watch);
    mem_free(m->items);
    *m = (struct change_marks){0};
}

/* Only if the kernel reports all directories: otherwise there is no log. */
static struct dir_watch *find_watch(struct dir_watches *watches, const char *root)
{
    AUTO(dir_watch) struct dir_watch *w = watches ? dir_watches_get(watches, root) : NULL;
    struct err *e;

    if (!w || dir_watch_n_dirs(w) == 0 || dir_watch_n_watched(w) < dir_watch_n_dirs(w))
        return NULL;
    e = dir_watch_update(w, NULL);
    if (!e)
        return TAKE(w);
    err_ignore(e, "then the times of files are read");
    return NULL;
}

void change_marks_take(struct change_marks *m, const struct coverage *c,
                       struct dir_watches *watches)
{
    change_marks_done(m);
    m->n = c->n_roots;
    m->items = mem_alloc((m->n + 1) * sizeof *m->items);
    for (size_t i = 0; i < m->n; i++) {
        struct dir_watch *w = find_watch(watches, c->roots[i]);

        m->items[i] = (struct change_mark){w, w ? dir_watch_mark(w) : 0};
    }
}

bool change_marks_are_quick(const struct coverage *c, struct dir_watches *watches)
{
    for (size_t i = 0; i < c->n_roots && watches; i++) {
        AUTO(dir_watch) struct dir_watch *w = dir_watches_get(watches, c->roots[i]);

        if (dir_watch_n_dirs(w) && !dir_watch_is_quick(w))
            return false;
    }
    return true;
}

bool unreported_is_quick(const struct change_marks *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (!m->items[i].watch || !dir_watch_is_quick(m->items[i].watch))
            return false;
    return true;
}

/* --- changes --- */

/* The changes of one root. */
struct change_list {
    const struct unreported_query *query;
    const char *root;
    pthread_mutex_t lock;
    struct path_table changed; /* files and directories */
    struct path_table emptied; /* directories that only had changes of names */
    bool was_cut;
};

static void note_path(struct change_list *l, struct path_table *t, struct str path)
{
    if (t->n < MAX_CHANGED)
        path_table_put(t, path);
    else
        l->was_cut = true;
}

/* From the log of a watch. */
static void note_logged(void *self, const struct watched_dir *dir, const char *name)
{
    struct change_list *l = self;
    AUTO(strbuf) struct strbuf relative = {0}, path = {0};

    watched_dir_path(dir, &relative);
    add_walked_path(&path, l->root, strbuf_str(&relative));
    if (name)
        strbuf_addf(&path, "/%s", name);
    note_path(l, name ? &l->changed : &l->emptied, strbuf_str(&path));
}

/* From a walk: by the times of files. */
static int64_t ns_of(struct timespec t)
{
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool visit_entry(void *self, void *thread, const struct walk_entry *entry)
{
    struct change_list *l = self;
    AUTO(strbuf) struct strbuf path = {0};
    struct stat st;
    bool has_names;

    if (fstatat(entry->dir_fd, entry->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        ns_of(st.st_ctim) <= l->query->since_ns)
        return true;
    add_walked_path(&path, l->root, entry->path);
    has_names = S_ISDIR(st.st_mode) && ns_of(st.st_mtim) > l->query->since_ns;
    pthread_mutex_lock(&l->lock);
    note_path(l, has_names ? &l->emptied : &l->changed, strbuf_str(&path));
    pthread_mutex_unlock(&l->lock);
    return true;
}

static bool is_left_out(void *self, struct str relative, bool is_dir)
{
    const struct change_list *l = self;
    AUTO(strbuf) struct strbuf path = {0};

    if (!is_dir)
        return false;
    add_walked_path(&path, l->root, relative);
    return !l->query->is_covered_dir(l->query->self, strbuf_str(&path));
}

static struct err *walk_root(struct change_list *l)
{
    struct walk_options options = {.root = l->root,
                                   .hidden = true,
                                   .no_ignore = true,
                                   .max_entries = MAX_ENTRIES,
                                   .is_left_out = is_left_out,
                                   .self = l};
    struct walk_visitor visitor = {.visit = visit_entry, .self = l};
    struct walk_report report;
    struct stat st;

    TRY(walk_run(&options, &visitor, &report));
    l->was_cut |= report.was_cut;
    if (stat(l->root, &st) == 0 && ns_of(st.st_mtim) > l->query->since_ns)
        note_path(l, &l->emptied, str_of(l->root));
    return report.was_cancelled ? err_new(ERR_CANCELLED, "interrupted") : NULL;
}

static struct err *list_changes(struct change_list *l, const struct change_mark *mark)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    unsigned mode;
    struct err *e;

    if (mark->watch) {
        e = dir_watch_update(mark->watch, NULL);
        if (!e && dir_watch_changes(mark->watch, mark->mark, note_logged, l))
            return NULL;
        err_ignore(e, "then the times of files are read");
    }
    unlocks_open(&unlocks, l->root, &mode);
    return fs_is_dir(l->root) ? walk_root(l) : NULL;
}

/* --- unannounced changes --- */

/* A directory that keel's user may not enter is unlocked to look at it, and locked again. */
static bool is_shut(const struct stat *st)
{
    return S_ISDIR(st->st_mode) && st->st_uid == geteuid() && geteuid() != 0 &&
           (st->st_mode & S_IRWXU) != S_IRWXU;
}

static bool look_at(const char *path, struct stat *ret_stat)
{
    AUTO(unlocks) struct unlocks unlocks = {0};
    const char *name;

    if (fstatat(AT_FDCWD, path, ret_stat, AT_SYMLINK_NOFOLLOW) == 0)
        return true;
    if (errno != EACCES)
        return false;
    AUTO_FD dir_fd = plain_open_parent(path, &unlocks, &name);
    return dir_fd >= 0 && fstatat(dir_fd, name, ret_stat, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_strange(const struct unreported_query *q, struct str path)
{
    struct stat st = {0};
    bool is_there = look_at(path.p, &st);

    return !(is_there && is_shut(&st)) && q->is_strange(q->self, path, is_there ? &st : NULL);
}

static void add_found(struct unreported *found, struct arena *a, struct str path)
{
    if (found->n++ < UNREPORTED_MAX)
        found->paths[found->n - 1] = arena_cstr(a, path);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void compare(const struct change_list *l, struct arena *a, struct unreported *found)
{
    const struct unreported_query *q = l->query;

    for (size_t i = 0; i < l->changed.room; i++)
        if (l->changed.slots[i].path.p && is_strange(q, l->changed.slots[i].path))
            add_found(found, a, l->changed.slots[i].path);
    for (size_t i = 0; i < l->emptied.room; i++)
        if (l->emptied.slots[i].path.p && q->is_strange_dir(q->self, l->emptied.slots[i].path))
            add_found(found, a, l->emptied.slots[i].path);
    found->was_cut |= l->was_cut;
}

struct err *unreported_find(const struct unreported_query *q, struct arena *a,
                            struct unreported *ret_found)
{
    struct err *e = NULL;

    *ret_found = (struct unreported){.paths = ARENA_ARRAY(a, UNREPORTED_MAX, const char *)};
    for (size_t i = 0; i < q->marks->n && !e; i++) {
        struct change_list l = {
            .query = q, .root = q->coverage->roots[i], .lock = PTHREAD_MUTEX_INITIALIZER};

        e = list_changes(&l, &q->marks->items[i]);
        if (!e)
            compare(&l, a, ret_found);
        path_table_done(&l.changed);
        path_table_done(&l.emptied);
    }
    qsort(ret_found->paths, MIN(ret_found->n, (size_t)UNREPORTED_MAX), sizeof(char *), by_text);
    return e;
}
