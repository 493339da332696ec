/* snapshotter.c - which calls are looked at, and the looks, in a worker. */
#include "snapshot/compare.h"
#include "snapshot/keeper.h"
#include "sys/fs.h"
#include "sys/work.h"

#include <pthread.h>

#define MAX_ONE_FILE ((uint64_t)64 << 20) /* as Write and Edit have it */

struct agent_snapshotter {
    struct snapshotter port;
    struct keeper keeper;
    pthread_mutex_t lock; /* for the keeper: calls run side by side */
    struct snapshot_options options;
    bool was_busy; /* at the last look */
};

struct snapshot {
    char *path; /* of the one file; NULL: there is none */
    struct file_state file;
    struct file_tree *tree; /* NULL: none */
    bool had_git;
};

/* What a worker is given, and gives back. */
struct look {
    struct agent_snapshotter *of;
    struct err *(*run)(struct look *look);
    struct arena *arena;
    struct snapshot *snapshot;
    bool wants_tree;
    bool wants_before; /* what commands in the background have changed since the last look */
    bool is_busy;
    struct snapshot_record *record;
    struct snapshot_changes *changes;
};

static struct err *run_locked(void *arg)
{
    struct look *look = arg;
    struct err *e;

    pthread_mutex_lock(&look->of->lock);
    e = look->run(look);
    pthread_mutex_unlock(&look->of->lock);
    return e;
}

static struct err *run_look(struct look *look)
{
    return task_self() ? work_run(run_locked, look) : run_locked(look);
}

static bool is_busy(const struct agent_snapshotter *s)
{
    return s->options.is_busy && s->options.is_busy(s->options.self);
}

/* --- one file --- */

static struct err *save_file(struct file_state *f, struct blob_store *blobs)
{
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = MAX_ONE_FILE + (1 << 18)};
    char handle[SHA256_HEX_SIZE];

    if (!state_look(f))
        f->why_not = "nobody may look at it";
    if (!state_has_content(f))
        return NULL;
    TRY(state_read(f, MAX_ONE_FILE, NULL, &bytes));
    if (!f->is_known)
        return NULL;
    TRY(blob_put(blobs, strbuf_str(&bytes), handle));
    f->is_saved = true;
    return NULL;
}

static struct err *compare_file(const struct file_state *before, struct arena *a,
                                struct snapshot_changes *changes)
{
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = MAX_ONE_FILE + (1 << 18)};
    struct file_state now = {.path = before->path};

    if (state_look(&now) && state_has_content(&now))
        TRY(state_read(&now, MAX_ONE_FILE, NULL, &bytes));
    if (!state_eq(before, &now))
        pre_images_add(&changes->images, a, state_image(a, before, &now));
    return NULL;
}

/* The tree has seen it too. */
static void drop_image(struct pre_images *list, const char *path)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n; i++)
        if (!str_is(list->items[i].path, path))
            list->items[n++] = list->items[i];
    list->n = n;
}

/* --- before a call --- */

static bool has_git(const struct keeper *k)
{
    AUTO(arena) struct arena a = {0};

    return k->scope.n_roots && fs_exists(fs_join(&a, k->scope.roots[0], ".git"));
}

static struct err *save_tree(struct look *look)
{
    struct keeper *k = &look->of->keeper;
    struct snapshot_record *r = look->record;
    char manifest[SHA256_HEX_SIZE];
    struct str note = {0}, unsaved = {0};

    if (look->wants_before && k->latest)
        TRY(keeper_compare(k, k->latest, /* saves= */ true, look->arena, &r->before, &note,
                           &unsaved));
    TRY(keeper_save(k, look->arena, &look->snapshot->tree, manifest, &r->note, &r->unsaved));
    if (!r->unsaved.n)
        r->unsaved = unsaved;
    if (!r->note.n)
        r->note = note;
    look->snapshot->had_git = has_git(k);
    if (!look->snapshot->tree)
        return NULL;
    r->tree = arena_str(look->arena, str_of(manifest));
    r->tree_base = arena_str(look->arena, str_of(k->base.handle));
    r->taken_ns = look->snapshot->tree->taken_ns;
    r->ready_ns = look->snapshot->tree->ready_ns;
    r->n_files = look->snapshot->tree->n;
    return NULL;
}

static struct err *begin_look(struct look *look)
{
    struct snapshot *x = look->snapshot;
    struct snapshot_record *r = look->record;

    if (x->path) {
        TRY(save_file(&x->file, look->of->keeper.blobs));
        r->has_file = true;
        r->file = state_image(look->arena, &x->file, NULL);
    }
    return look->wants_tree ? save_tree(look) : NULL;
}

static void snapshot_free(struct snapshot *x)
{
    if (!x)
        return;
    file_tree_unref(x->tree);
    mem_free(x->path);
    mem_free(x);
}

static bool wants_tree(const struct agent_snapshotter *s, const struct snapshot_call *call)
{
    const struct tool *t = call->tool;

    if (t->risk == RISK_INSPECT || t->risk == RISK_NETWORK)
        return false;
    if (t->risk == RISK_MODIFY)
        return !call->target;
    return (t->needs & NEEDS_LAUNCHER) &&
           (!s->options.may_write || s->options.may_write(s->options.self, call));
}

static struct err *begin(struct snapshotter *port, const struct snapshot_call *call,
                         struct arena *a, struct snapshot_record *ret_record)
{
    struct agent_snapshotter *s = (struct agent_snapshotter *)port;
    bool wants_file = call->tool->risk == RISK_MODIFY && call->target;
    struct look look = {.of = s, .run = begin_look, .arena = a, .record = ret_record};
    struct err *e;

    look.wants_tree = wants_tree(s, call);
    if (!wants_file && !look.wants_tree)
        return NULL;
    if (s->options.is_off) {
        ret_record->unsaved = S("snapshot.enabled is false");
        return NULL;
    }
    look.is_busy = is_busy(s);
    look.wants_before = s->was_busy;
    look.wants_tree |= look.is_busy || s->was_busy;
    look.snapshot = mem_alloc(sizeof *look.snapshot);
    if (wants_file) {
        look.snapshot->path = mem_strdup(call->target);
        look.snapshot->file.path = look.snapshot->path;
    }
    e = run_look(&look);
    if (!e && look.wants_tree)
        s->was_busy = look.is_busy;
    if (!e && (ret_record->has_file || ret_record->tree.n))
        ret_record->snapshot = TAKE(look.snapshot);
    snapshot_free(look.snapshot);
    return e;
}

/* --- after it --- */

static struct str tell_git_gone(const struct look *look)
{
    const struct keeper *k = &look->of->keeper;

    if (!look->snapshot->had_git || has_git(k))
        return (struct str){0};
    return arena_format(look->arena, "%s/.git is gone, and keel does not save it",
                        k->scope.roots[0]);
}

static struct err *compare_tree(struct look *look)
{
    struct keeper *k = &look->of->keeper;
    struct snapshot_changes *changes = look->changes;
    struct str lost = {0}, git = tell_git_gone(look);

    TRY(keeper_compare(k, look->snapshot->tree, look->is_busy, look->arena, &changes->images, &lost,
                       &changes->unsaved));
    if (!changes->unsaved.n)
        changes->unsaved = git;
    changes->note = arena_format(look->arena, "%" STR_FMT "%s%" STR_FMT, STR_ARG(git),
                                 git.n ? ". " : "", STR_ARG(lost));
    return NULL;
}

static struct err *compare_all(struct look *look)
{
    struct snapshot *x = look->snapshot;

    if (x->tree)
        TRY(compare_tree(look));
    if (!x->path)
        return NULL;
    drop_image(&look->changes->images, x->path);
    return compare_file(&x->file, look->arena, look->changes);
}

static struct err *end_look(struct look *look)
{
    struct err *e = compare_all(look);

    snapshot_free(TAKE(look->snapshot));
    return e;
}

static struct err *end(struct snapshotter *port, struct snapshot *take_snapshot, struct arena *a,
                       struct snapshot_changes *ret_changes)
{
    struct agent_snapshotter *s = (struct agent_snapshotter *)port;
    struct look look = {.of = s,
                        .run = end_look,
                        .arena = a,
                        .snapshot = take_snapshot,
                        .is_busy = is_busy(s),
                        .changes = ret_changes};
    bool has_tree = take_snapshot->tree != NULL;
    struct err *e = run_look(&look);

    snapshot_free(look.snapshot); /* no worker took it up */
    if (has_tree)
        s->was_busy |= look.is_busy;
    return e;
}

/* --- at the end of a run --- */

static struct err *settle_look(struct look *look)
{
    struct keeper *k = &look->of->keeper;

    if (!k->latest)
        return NULL;
    return keeper_compare(k, k->latest, look->is_busy, look->arena, &look->changes->images,
                          &look->changes->note, &look->changes->unsaved);
}

static struct err *settle(struct snapshotter *port, struct arena *a,
                          struct snapshot_changes *ret_changes)
{
    struct agent_snapshotter *s = (struct agent_snapshotter *)port;
    struct look look = {
        .of = s, .run = settle_look, .arena = a, .is_busy = is_busy(s), .changes = ret_changes};

    if (!s->was_busy)
        return NULL;
    TRY(run_look(&look));
    s->was_busy = look.is_busy;
    return NULL;
}

/* --- the whole --- */

static void free_snapshotter(struct snapshotter *port)
{
    struct agent_snapshotter *s = (struct agent_snapshotter *)port;

    keeper_done(&s->keeper);
    pthread_mutex_destroy(&s->lock);
    mem_free(s);
}

struct snapshotter *snapshotter_new(const struct snapshot_options *options)
{
    struct agent_snapshotter *s = mem_alloc(sizeof *s);

    s->port = (struct snapshotter){begin, end, settle, free_snapshotter};
    s->options = (struct snapshot_options){.may_write = options->may_write,
                                           .is_busy = options->is_busy,
                                           .self = options->self,
                                           .is_off = options->is_off};
    pthread_mutex_init(&s->lock, NULL);
    keeper_init(&s->keeper, options);
    return &s->port;
}

/* --- after a crash --- */

static struct err *recover_tree(struct keeper *k, const struct snapshot_record *record,
                                struct arena *a, struct pre_images *ret_images)
{
    AUTO(file_tree) struct file_tree *before = NULL;
    struct str note, unsaved;

    TRY(manifest_load(k->blobs, record->tree, &before));
    before->taken_ns = record->taken_ns;
    before->ready_ns = record->ready_ns;
    return keeper_compare(k, before, /* saves= */ false, a, ret_images, &note, &unsaved);
}

/* The file as it was told; what it holds is known if it was saved. */
static void recover_file(const struct pre_image *told, struct arena *a, struct pre_images *images)
{
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = MAX_ONE_FILE + (1 << 18)};
    struct file_state now = {.path = arena_cstr(a, told->path)};
    struct pre_image image = *told;

    if (!state_look(&now))
        return;
    if (state_has_content(&now))
        err_ignore(state_read(&now, MAX_ONE_FILE, NULL, &bytes), "nothing is stored");
    image.after = state_sign(a, &now);
    pre_images_add(images, a, image);
}

struct err *snapshot_recover(const struct snapshot_options *options,
                             const struct snapshot_record *record, struct arena *a,
                             struct pre_images *ret_images)
{
    AUTO(keeper) struct keeper k;

    *ret_images = (struct pre_images){0};
    keeper_init(&k, options);
    if (record->tree.n)
        TRY(recover_tree(&k, record, a, ret_images));
    if (record->has_file)
        recover_file(&record->file, a, ret_images);
    return NULL;
}
