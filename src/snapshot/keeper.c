/* keeper.c - looks at the workspace, one after the other. */
#include "snapshot/keeper.h"

#include "base/quoted.h"
#include "snapshot/compare.h"
#include "sys/fs.h"

#include <stdlib.h>

#define DEFAULT_RACY_NS ((int64_t)2000000000) /* the coarsest clock of a file system in use */
#define MAX_NAMED 3                           /* in a note */

/* --- where --- */

static bool is_below(const char *path, const char *dir)
{
    size_t n = strlen(dir);

    return strncmp(path, dir, n) == 0 &&
           (path[n] == '\0' || path[n] == '/' || (n && dir[n - 1] == '/'));
}

/* One that lies in another is walked with it. */
static void add_root(struct keeper *k, const char **roots, const char *path)
{
    AUTO_FREE char *real = path ? realpath(path, NULL) : NULL;
    size_t n = 0;

    if (!real)
        return;
    for (size_t i = 0; i < k->scope.n_roots; i++)
        if (is_below(real, roots[i]))
            return;
    for (size_t i = 0; i < k->scope.n_roots; i++)
        if (!is_below(roots[i], real))
            roots[n++] = roots[i];
    roots[n++] = arena_cstr(&k->arena, str_of(real));
    k->scope.n_roots = n;
}

static void set_places(struct keeper *k, const struct snapshot_options *o)
{
    const char **roots = ARENA_ARRAY(&k->arena, o->n_added_dirs + 1, const char *);
    AUTO_FREE char *home = o->home ? realpath(o->home, NULL) : NULL;
    AUTO(strbuf) struct strbuf all = {0};
    char hex[SHA256_HEX_SIZE];

    k->scope.roots = roots;
    add_root(k, roots, o->workspace);
    for (size_t i = 0; i < o->n_added_dirs; i++)
        add_root(k, roots, o->added_dirs[i]);
    if (!o->home)
        return;
    k->scope.left_out = arena_cstr(&k->arena, str_of(home ? home : o->home));
    for (size_t i = 0; i < k->scope.n_roots; i++) {
        strbuf_add_cstr(&all, roots[i]);
        strbuf_add_char(&all, '\0');
    }
    sha256_hex(strbuf_str(&all), hex);
    k->known_file = arena_format(&k->arena, "%s/snapshots/%s", o->home, hex).p;
}

void keeper_init(struct keeper *k, const struct snapshot_options *o)
{
    *k = (struct keeper){.blobs = o->blobs};
    k->scope.own = o->own;
    k->limits = (struct file_tree_limits){
        .max_files = o->max_files ? o->max_files : SNAPSHOT_DEFAULT_MAX_FILES,
        .max_bytes = o->max_bytes ? o->max_bytes : SNAPSHOT_DEFAULT_MAX_BYTES,
        .max_file_bytes = o->max_file_bytes ? o->max_file_bytes : SNAPSHOT_DEFAULT_MAX_FILE_BYTES,
        .racy_ns = o->racy_ns ? o->racy_ns : DEFAULT_RACY_NS,
    };
    set_places(k, o);
}

void keeper_done(struct keeper *k)
{
    file_tree_unref(k->latest);
    manifest_base_done(&k->base);
    arena_done(&k->arena);
    *k = (struct keeper){0};
}

static void set_latest(struct keeper *k, struct file_tree *t)
{
    file_tree_unref(k->latest);
    k->latest = file_tree_ref(t);
}

/* --- saving --- */

/* Why the files of the workspace are not saved. */
static struct str why_unsaved(const struct file_tree *t, size_t max_files, struct arena *a)
{
    if (t->was_cut)
        return arena_format(
            a, "there are more than %zu files and directories that git does not ignore", max_files);
    return t->is_too_deep ? S("there are directories nested more than 256 deep") : (struct str){0};
}

static struct str tell_cut(struct keeper *k, struct arena *a, const struct file_tree *t,
                           struct str why)
{
    if (k->told_cut)
        return (struct str){0};
    k->told_cut = true;
    return arena_format(a,
                        "What commands change in %" STR_FMT " cannot be undone: %" STR_FMT
                        ". Changes of Write and Edit can. %s",
                        STR_ARG(quoted(a, str_of(k->scope.roots[0]))), STR_ARG(why),
                        t->was_cut
                            ? "Raise snapshot.maxFiles, or start keel in a smaller directory."
                            : "Start keel in a directory further down.");
}

static struct str tell_total(struct keeper *k, struct arena *a, const struct fill_report *report)
{
    if (report->n_over_total == 0 || k->told_total)
        return (struct str){0};
    k->told_total = true;
    return arena_format(a,
                        "What commands change in %zu files cannot be undone: all files together "
                        "are larger than %llu MiB, and the largest are not saved. Raise "
                        "snapshot.maxBytes.",
                        report->n_over_total, (unsigned long long)(k->limits.max_bytes >> 20));
}

static struct err *store(struct keeper *k, struct file_tree *t, struct arena *a,
                         char manifest[SHA256_HEX_SIZE], struct str *ret_note)
{
    const struct file_tree *base = k->base.tree;
    struct fill_report report;

    TRY(file_tree_fill(t, &k->limits, k->blobs, &report));
    TRY(manifest_store(k->blobs, t, &k->base, manifest));
    if (report.n_read || strcmp(manifest, k->base.handle) != 0 || k->base.tree != base)
        TRY(blob_sync(k->blobs));
    if (k->base.tree != base)
        known_write(k, t->taken_ns);
    *ret_note = tell_total(k, a, &report);
    return NULL;
}

struct err *keeper_save(struct keeper *k, struct arena *a, struct file_tree **ret_tree,
                        char manifest[SHA256_HEX_SIZE], struct str *ret_note,
                        struct str *ret_unsaved)
{
    AUTO(file_tree) struct file_tree *t = NULL;
    bool is_first = !k->was_read;

    *ret_tree = NULL;
    TRY(file_tree_take(&k->scope, &k->limits, &t));
    *ret_unsaved = why_unsaved(t, k->limits.max_files, a);
    if (ret_unsaved->n) {
        *ret_note = tell_cut(k, a, t, *ret_unsaved);
        return NULL;
    }
    known_read(k);
    file_tree_reuse(t, k->latest, &k->limits);
    if (is_first)
        known_check(k, t);
    TRY(store(k, t, a, manifest, ret_note));
    file_tree_settle(t);
    set_latest(k, t);
    *ret_tree = TAKE(t);
    return NULL;
}

/* --- comparing --- */

static struct str tell_lost(struct arena *a, const struct pre_images *images)
{
    AUTO(strbuf) struct strbuf text = {0};
    size_t n = 0;

    for (size_t i = 0; i < images->n; i++) {
        const struct pre_image *p = &images->items[i];

        if (p->why_not.n == 0)
            continue;
        if (n++ < MAX_NAMED)
            strbuf_addf(&text, "%s%" STR_FMT " (%" STR_FMT ")", n > 1 ? ", " : "",
                        STR_ARG(quoted(a, p->path)), STR_ARG(p->why_not));
    }
    if (n == 0)
        return (struct str){0};
    if (n > MAX_NAMED)
        strbuf_addf(&text, " and %zu more", n - MAX_NAMED);
    return arena_format(a, "This change cannot be undone: %" STR_FMT ".",
                        STR_ARG(strbuf_str(&text)));
}

/* A list of an earlier version may have some. */
static void drop_own(const struct keeper *k, struct pre_images *images)
{
    const struct path_filter *own = k->scope.own;
    size_t n = 0;

    for (size_t i = 0; own && i < images->n; i++)
        if (!own->is_hidden(own->self, images->items[i].path, /* is_dir= */ false))
            images->items[n++] = images->items[i];
    images->n = own ? n : images->n;
}

struct err *keeper_compare(struct keeper *k, const struct file_tree *before, bool saves,
                           struct arena *a, struct pre_images *ret_images, struct str *ret_note,
                           struct str *ret_unsaved)
{
    AUTO(file_tree) struct file_tree *now = NULL;
    struct file_tree_limits limits = k->limits;
    struct fill_report report;

    limits.max_files *= 2; /* the command may have made some */
    TRY(file_tree_take(&k->scope, &limits, &now));
    file_tree_reuse(now, before, &limits);
    file_tree_reuse(now, k->latest, &limits);
    TRY(file_tree_fill(now, &limits, saves ? k->blobs : NULL, &report));
    TRY(file_tree_compare(before, now, &limits, a, ret_images));
    drop_own(k, ret_images);
    *ret_unsaved = why_unsaved(now, limits.max_files, a);
    *ret_note = tell_lost(a, ret_images);
    if (saves)
        file_tree_settle(now);
    set_latest(k, now);
    return NULL;
}
