/* file_tree.c - walks the workspace and looks at every file. */
#include "snapshot/file_tree.h"

#include "sys/fs.h"
#include "sys/leftover.h"
#include "sys/walk.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* --- the list --- */

struct file_tree *file_tree_new(void)
{
    struct file_tree *t = mem_alloc(sizeof *t);

    t->n_refs = 1;
    return t;
}

struct file_tree *file_tree_ref(struct file_tree *t)
{
    t->n_refs++;
    return t;
}

void file_tree_unref(struct file_tree *t)
{
    if (!t || --t->n_refs)
        return;
    for (size_t i = 0; i < t->n_arenas; i++)
        arena_done(&t->arenas[i]);
    mem_free(t->arenas);
    mem_free(t->files);
    mem_free(t);
}

static void reserve(struct file_tree *t, size_t n_more)
{
    if (t->n + n_more <= t->room)
        return;
    t->room = MAX(t->n + n_more, 2 * t->room);
    t->files = mem_resize(t->files, t->room * sizeof *t->files);
}

/* The tree takes over the arena and what is in it. */
static void take_arena(struct file_tree *t, struct arena *a)
{
    t->arenas = mem_resize(t->arenas, (t->n_arenas + 1) * sizeof *t->arenas);
    t->arenas[t->n_arenas++] = *a;
    *a = (struct arena){0};
}

void file_tree_add(struct file_tree *t, const struct file_state *f)
{
    struct arena none = {0};

    if (t->n_arenas == 0)
        take_arena(t, &none);
    reserve(t, 1);
    t->files[t->n] = *f;
    t->files[t->n++].path = arena_cstr(&t->arenas[0], str_of(f->path));
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct file_state *)a)->path, ((const struct file_state *)b)->path);
}

void file_tree_sort(struct file_tree *t)
{
    if (t->n)
        qsort(t->files, t->n, sizeof *t->files, by_path);
}

struct file_state *file_tree_find(const struct file_tree *t, const char *path)
{
    struct file_state key = {.path = path};

    return t->n ? bsearch(&key, t->files, t->n, sizeof *t->files, by_path) : NULL;
}

/* --- the walk --- */

/* What all threads of a walk share. */
struct taking {
    struct file_tree *tree;
    pthread_mutex_t lock; /* for the tree */
    const char *root;
    struct str left_out; /* relative to the root; empty: nothing */
    const struct path_filter *own;
};

/* What one thread has found. */
struct found {
    struct arena arena;
    struct file_state *files;
    size_t n, room;
};

static void *begin_thread(void *self)
{
    return mem_alloc(sizeof(struct found));
}

static void end_thread(void *self, void *thread)
{
    struct taking *t = self;
    struct found *f = thread;

    pthread_mutex_lock(&t->lock);
    reserve(t->tree, f->n);
    if (f->n)
        memcpy(t->tree->files + t->tree->n, f->files, f->n * sizeof *f->files);
    t->tree->n += f->n;
    take_arena(t->tree, &f->arena);
    pthread_mutex_unlock(&t->lock);
    mem_free(f->files);
    mem_free(f);
}

static bool visit(void *self, void *thread, const struct walk_entry *entry)
{
    const struct taking *t = self;
    struct found *f = thread;
    struct file_state *state;

    if (f->n == f->room) {
        f->room = MAX(2 * f->room, (size_t)256);
        f->files = mem_resize(f->files, f->room * sizeof *f->files);
    }
    state = &f->files[f->n];
    *state = (struct file_state){0};
    if (!state_look_at(entry->dir_fd, entry->name, state) || state->kind == IMAGE_NONE)
        return true; /* gone by now */
    state->path = fs_join(&f->arena, t->root, entry->path.p);
    f->n++;
    return true;
}

static bool is_own(const struct taking *t, struct str path, bool is_dir)
{
    AUTO(strbuf) struct strbuf absolute = {0};

    if (!t->own)
        return false;
    strbuf_addf(&absolute, "%s/%" STR_FMT, strcmp(t->root, "/") == 0 ? "" : t->root, STR_ARG(path));
    return t->own->is_hidden(t->own->self, strbuf_str(&absolute), is_dir);
}

static bool is_left_out(void *self, struct str path, bool is_dir)
{
    const struct taking *t = self;

    return (is_dir && t->left_out.n && str_eq(path, t->left_out)) || leftover_has_name(path) ||
           is_own(t, path, is_dir);
}

static struct str below(const char *root, const char *path)
{
    size_t n = strlen(root);

    if (!path || strncmp(path, root, n) != 0 || path[n] != '/')
        return (struct str){0};
    return str_of(path + n + 1);
}

static struct err *walk_root(struct file_tree *t, const char *root,
                             const struct file_tree_scope *scope, size_t max_entries)
{
    struct taking taking = {.tree = t,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .root = root,
                            .left_out = below(root, scope->left_out),
                            .own = scope->own};
    struct walk_options options = {.root = root,
                                   .hidden = true,
                                   .max_entries = max_entries,
                                   .is_left_out = is_left_out,
                                   .self = &taking};
    struct walk_visitor visitor = {begin_thread, end_thread, visit, &taking};
    struct walk_report report;

    TRY(walk_run(&options, &visitor, &report));
    t->was_cut |= report.was_cut;
    t->is_too_deep |= report.is_too_deep;
    if (report.was_cancelled)
        return err_new(ERR_CANCELLED, "the files of %s were not saved to the end", root);
    return NULL;
}

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The clock by which the kernel stamps files: what is changed from now on has no earlier stamp. */
static int64_t file_clock_ns(void)
{
    return now_ns(CLOCK_REALTIME_COARSE);
}

/* The clock that stamps files goes in ticks: a file that was made before the walk may have the
 * stamp of one that is made after it, as long as the tick lasts. */
void file_tree_settle(struct file_tree *t)
{
    const struct timespec moment = {.tv_nsec = 1000000};

    while ((t->ready_ns = file_clock_ns()) <= t->began_ns)
        nanosleep(&moment, NULL);
}

struct err *file_tree_take(const struct file_tree_scope *scope,
                           const struct file_tree_limits *limits, struct file_tree **ret_tree)
{
    AUTO(file_tree) struct file_tree *t = file_tree_new();

    t->taken_ns = file_clock_ns();
    t->began_ns = now_ns(CLOCK_REALTIME);
    for (size_t i = 0; i < scope->n_roots && !t->was_cut; i++) {
        size_t n_left = limits->max_files > t->n ? limits->max_files - t->n : 1;

        if (fs_is_dir(scope->roots[i]))
            TRY(walk_root(t, scope->roots[i], scope, n_left));
    }
    file_tree_sort(t);
    *ret_tree = TAKE(t);
    return NULL;
}

/* --- what is known --- */

/* Might it have been changed after its content was read, without a new stamp? */
static bool is_racy(const struct file_state *f, int64_t taken_ns, int64_t racy_ns)
{
    return MAX(f->stamp.ctime_ns, f->stamp.mtime_ns) >= taken_ns - racy_ns;
}

void file_tree_reuse(struct file_tree *t, const struct file_tree *known,
                     const struct file_tree_limits *limits)
{
    size_t k = 0;

    for (size_t i = 0; known && i < t->n; i++) {
        struct file_state *f = &t->files[i];
        const struct file_state *old;

        while (k < known->n && strcmp(known->files[k].path, f->path) < 0)
            k++;
        old = k < known->n && strcmp(known->files[k].path, f->path) == 0 ? &known->files[k] : NULL;
        if (!old || !old->is_known || f->is_known || old->kind != f->kind ||
            !stamp_eq(&old->stamp, &f->stamp) || is_racy(f, known->taken_ns, limits->racy_ns))
            continue;
        memcpy(f->digest, old->digest, sizeof f->digest);
        f->is_known = true;
        f->is_saved = old->is_saved;
    }
}
