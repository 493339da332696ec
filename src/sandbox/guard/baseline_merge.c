/* baseline_merge.c - baselines held against each other: compared, merged, in part. */
#include "sandbox/guard/baseline_parts.h"

#include "sandbox/plan/plan.h"

#include <stdlib.h>

/* --- mount points --- */

void baseline_add_mount_point(struct baseline *b, const char *path)
{
    struct guarded *item = (struct guarded *)(uintptr_t)baseline_find(b, path);

    b->mount_points = arena_grow(&b->arena, b->mount_points, b->n_mount_points,
                                 &b->mount_point_room, sizeof *b->mount_points);
    b->mount_points[b->n_mount_points++] = arena_cstr(&b->arena, str_of(path));
    if (item)
        item->is_made = true;
}

/* --- finding and comparing --- */

static int path_to_item_cmp(const void *path, const void *item)
{
    return path_cmp(path, ((const struct guarded *)item)->path);
}

const struct guarded *baseline_find(const struct baseline *b, const char *path)
{
    return b->n ? bsearch(path, b->items, b->n, sizeof *b->items, path_to_item_cmp) : NULL;
}

static bool guarded_eq(const struct guarded *a, const struct guarded *b)
{
    bool is_same =
        a->identity.inode == b->identity.inode && a->identity.born_ns == b->identity.born_ns;

    return a->kind == b->kind && a->mode == b->mode && a->has_content == b->has_content &&
           (is_same || a->is_made || b->is_made) && strcmp(a->path, b->path) == 0 &&
           str_eq(a->content, b->content);
}

static bool directory_eq(const struct directory *a, const struct directory *b)
{
    return a->names == b->names && a->inode == b->inode && strcmp(a->path, b->path) == 0;
}

bool baseline_eq(const struct baseline *a, const struct baseline *b)
{
    if (a->has_namespaces != b->has_namespaces || a->n != b->n ||
        a->n_directories != b->n_directories || a->n_mount_points != b->n_mount_points ||
        strcmp(a->root, b->root) != 0)
        return false;
    for (size_t i = 0; i < a->n_mount_points; i++)
        if (strcmp(a->mount_points[i], b->mount_points[i]) != 0)
            return false;
    for (size_t i = 0; i < a->n; i++)
        if (!guarded_eq(&a->items[i], &b->items[i]))
            return false;
    for (size_t i = 0; i < a->n_directories; i++)
        if (!directory_eq(&a->directories[i], &b->directories[i]))
            return false;
    return true;
}

static int directory_cmp(const void *a, const void *b)
{
    return path_cmp(((const struct directory *)a)->path, ((const struct directory *)b)->path);
}

/* --- merging --- */

static bool has_directory(const struct baseline *b, const char *path)
{
    for (size_t i = 0; i < b->n_directories; i++)
        if (strcmp(b->directories[i].path, path) == 0)
            return true;
    return false;
}

/* Where `below` goes on below `directory`; NULL: it does not lie in it. */
static const char *rest_below(const char *below, const char *directory)
{
    size_t n = strlen(directory);

    if (n == 0)
        return below;
    if (strncmp(below, directory, n) != 0)
        return NULL;
    return below[n] == '/' ? below + n + 1 : below[n] ? NULL : below + n;
}

/* Does it lie in a repository that came after `old` was taken? */
static bool is_of_new_repository(const struct baseline *old, const struct baseline *fresh,
                                 const char *path)
{
    for (size_t i = 0; i < fresh->n_directories; i++) {
        const char *directory = fresh->directories[i].path;
        bool is_new = rest_below(directory, old->covers) && !has_directory(old, directory);
        const char *rest = is_new ? rest_below(path, directory) : NULL;

        /* Of the root itself, only what is git's. */
        if (rest && (*directory || rest_below(rest, ".git")))
            return true;
    }
    return false;
}

/* Does `old` tell all there is to tell of what lies there? */
static bool is_covered(const struct baseline *old, const char *path)
{
    AUTO_FREE char *above = mem_strdup(path);
    char *slash;

    while ((slash = strrchr(above, '/'))) {
        const struct guarded *item;

        *slash = 0;
        item = baseline_find(old, above);
        if (item && item->kind != GUARDED_ANCESTOR && item->kind != GUARDED_MOUNTED)
            return true;
    }
    return false;
}

/* What was mounted read-only could not be changed, as long as it is the same: commands that have no
 * mounts are compared with what it holds now. */
static void merge_item(struct baseline *into, const struct guarded *old, const struct guarded *now)
{
    struct guarded *item =
        baseline_add(into, arena_cstr(&into->arena, str_of(old->path)), old->kind, NULL, NULL);
    const struct guarded *from = old;

    if (now && old->kind == GUARDED_MOUNTED && now->kind != GUARDED_MOUNTED) {
        if (identity_eq(&old->identity, &now->identity))
            from = now;
        item->kind = from == now ? now->kind : old->has_content ? GUARDED_FILE : GUARDED_MOUNTED;
    }
    item->mode = from->mode;
    item->identity = from->identity.inode || !now ? from->identity : now->identity;
    item->has_content = from->has_content;
    item->content = arena_str(&into->arena, from->content);
}

/* One that `old` would have, had it been there. */
static bool is_new_todo(const struct baseline *old, const struct guarded *item)
{
    return item->kind == GUARDED_TODO && rest_below(item->path, old->covers);
}

static void merge_directories(struct baseline *into, const struct baseline *old,
                              const struct baseline *fresh)
{
    struct directory *all =
        mem_alloc((old->n_directories + fresh->n_directories + 1) * sizeof *all);
    size_t n = 0;

    for (size_t i = 0; i < old->n_directories; i++)
        all[n++] = old->directories[i];
    for (size_t i = 0; i < fresh->n_directories; i++)
        if (!rest_below(fresh->directories[i].path, old->covers))
            all[n++] = fresh->directories[i];
    if (n)
        qsort(all, n, sizeof *all, directory_cmp);
    baseline_take_directories(into, all, n);
    mem_free(all);
}

static bool has_mount_point(const struct baseline *b, const char *path)
{
    for (size_t i = 0; i < b->n_mount_points; i++)
        if (strcmp(b->mount_points[i], path) == 0)
            return true;
    return false;
}

static void merge_mount_points(struct baseline *into, const struct baseline *from)
{
    for (size_t i = 0; i < from->n_mount_points; i++)
        if (!has_mount_point(into, from->mount_points[i]))
            baseline_add_mount_point(into, from->mount_points[i]);
}

struct baseline *baseline_merge(struct baseline *take_old, struct baseline *take_fresh)
{
    AUTO(baseline) struct baseline *old = take_old, *fresh = take_fresh;
    struct baseline *b = mem_alloc(sizeof *b);

    b->root = arena_cstr(&b->arena, str_of(fresh->root));
    b->has_namespaces = old->has_namespaces && fresh->has_namespaces;
    b->time_ns = MIN(old->time_ns, fresh->time_ns);
    b->covers = "";
    for (size_t i = 0; i < old->n; i++)
        merge_item(b, &old->items[i], baseline_find(fresh, old->items[i].path));
    for (size_t i = 0; i < fresh->n; i++) {
        const struct guarded *item = &fresh->items[i];

        if (!baseline_find(old, item->path) && !is_covered(old, item->path) &&
            !is_of_new_repository(old, fresh, item->path) && !is_new_todo(old, item))
            merge_item(b, item, NULL);
    }
    baseline_sort(b);
    merge_directories(b, old, fresh);
    merge_mount_points(b, old);
    merge_mount_points(b, fresh);
    return b;
}

/* --- parts --- */

/* The path of something in `from`, as seen from `to`; NULL: it does not lie there. */
static const char *move_path(struct arena *a, const char *from, const char *path, const char *to)
{
    const char *rest;

    if (path_is_in(to, from)) {
        const char *way = to + strlen(from);

        rest = rest_below(path, way + (*way == '/'));
        return rest && (*rest || !*way) ? rest : NULL;
    }
    return arena_format(a, "%s%s%s", from + strlen(to) + 1, *path ? "/" : "", path).p;
}

struct baseline *baseline_part(const struct baseline *whole, const char *root)
{
    struct baseline *b;
    size_t n = 0;

    if (!path_is_in(root, whole->root) && !path_is_in(whole->root, root))
        return NULL;
    b = mem_alloc(sizeof *b);
    b->root = arena_cstr(&b->arena, str_of(root));
    b->has_namespaces = whole->has_namespaces;
    b->time_ns = whole->time_ns;
    b->covers = path_is_in(root, whole->root)
                    ? ""
                    : arena_cstr(&b->arena, str_of(whole->root + strlen(root) + 1));
    for (size_t i = 0; i < whole->n; i++) {
        struct guarded item = whole->items[i];

        item.path = move_path(&b->arena, whole->root, item.path, root);
        if (item.path)
            merge_item(b, &item, NULL);
    }
    baseline_sort(b);
    baseline_take_directories(b, whole->directories, whole->n_directories);
    for (size_t i = 0; i < b->n_directories; i++) {
        struct directory d = b->directories[i];
        const char *path = move_path(&b->arena, whole->root, d.path, root);

        /* The root of the part itself counts, too. */
        if (!path && strcmp(d.path, root + strlen(whole->root) + 1) == 0)
            path = "";
        if (!path)
            continue;
        d.path = arena_cstr(&b->arena, str_of(path));
        b->directories[n++] = d;
    }
    b->n_directories = n;
    for (size_t i = 0; i < whole->n_mount_points; i++) {
        const char *path = move_path(&b->arena, whole->root, whole->mount_points[i], root);

        if (path)
            baseline_add_mount_point(b, path);
    }
    return b;
}
