/* compare.c - two trees side by side.
 *
 * That a path is in one tree and not in the other does not mean much by itself: rules of .gitignore
 * may have changed, or a directory may have been moved out of what they leave out. What seems to be
 * gone is looked for; what seems to be new must have been made since, or be a file that the first
 * tree knows under another name. Nothing else may ever be removed by taking back. */
#include "snapshot/compare.h"

#include <stdlib.h>

struct comparison {
    const struct file_tree *before, *now;
    const struct file_tree_limits *limits;
    struct arena *arena;
    struct pre_images *images;
    struct strbuf buffer;
    const struct file_state **by_inode; /* of `before`; made when it is needed */
};

void pre_images_add(struct pre_images *list, struct arena *a, struct pre_image image)
{
    list->items = arena_grow(a, list->items, list->n, &list->room, sizeof *list->items);
    list->items[list->n++] = image;
}

static void tell(struct comparison *c, const struct file_state *before,
                 const struct file_state *after)
{
    pre_images_add(c->images, c->arena, state_image(c->arena, before, after));
}

/* --- in both --- */

static void compare_both(struct comparison *c, const struct file_state *before,
                         const struct file_state *after)
{
    if (!state_eq(before, after))
        tell(c, before, after);
}

/* --- gone? --- */

static struct err *check_gone(struct comparison *c, const struct file_state *before)
{
    struct file_state after = {.path = before->path};

    if (!state_look(&after)) /* a directory above it was closed: that is told of the directory */
        return NULL;
    if (state_has_content(&after) && after.stamp.size <= c->limits->max_file_bytes)
        TRY(state_read(&after, c->limits->max_file_bytes, NULL, &c->buffer));
    compare_both(c, before, &after);
    return NULL;
}

/* --- new? --- */

static int by_inode(const void *a, const void *b)
{
    const struct stamp *x = &(*(const struct file_state *const *)a)->stamp;
    const struct stamp *y = &(*(const struct file_state *const *)b)->stamp;

    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->inode > y->inode) - (x->inode < y->inode);
}

static void sort_by_inode(struct comparison *c)
{
    size_t n = c->before->n;

    c->by_inode = mem_alloc((n + 1) * sizeof(struct file_state *));
    for (size_t i = 0; i < n; i++)
        c->by_inode[i] = &c->before->files[i];
    qsort(c->by_inode, n, sizeof *c->by_inode, by_inode);
}

/* Was it there under another name? Then what it held is saved, and nothing is lost with this one.
 */
static bool was_elsewhere(struct comparison *c, const struct file_state *f)
{
    const struct file_state *const *found;

    if (!c->by_inode)
        sort_by_inode(c);
    found = bsearch(&f, c->by_inode, c->before->n, sizeof *c->by_inode, by_inode);
    return found && (f->kind == IMAGE_DIRECTORY || (*found)->is_saved);
}

static bool was_made_since(const struct file_state *f, const struct file_tree *before,
                           int64_t racy_ns)
{
    if (f->born_ns)
        return f->born_ns >= before->ready_ns;
    return f->stamp.ctime_ns >= before->ready_ns - racy_ns;
}

static void tell_new(struct comparison *c, const struct file_state *after)
{
    struct file_state nothing = {.path = after->path};

    if (!was_made_since(after, c->before, c->limits->racy_ns) && !was_elsewhere(c, after))
        nothing.why_not = "it was there before, at a place that is not recorded";
    tell(c, &nothing, after);
}

/* --- all --- */

static struct err *walk_both(struct comparison *c)
{
    const struct file_tree *b = c->before, *n = c->now;
    size_t i = 0, k = 0;

    while (i < b->n || k < n->n) {
        int order = i == b->n ? 1 : k == n->n ? -1 : strcmp(b->files[i].path, n->files[k].path);

        if (order == 0)
            compare_both(c, &b->files[i++], &n->files[k++]);
        else if (order < 0)
            TRY(check_gone(c, &b->files[i++]));
        else
            tell_new(c, &n->files[k++]);
    }
    return NULL;
}

struct err *file_tree_compare(const struct file_tree *before, const struct file_tree *now,
                              const struct file_tree_limits *limits, struct arena *a,
                              struct pre_images *ret_images)
{
    struct comparison c = {.before = before,
                           .now = now,
                           .limits = limits,
                           .arena = a,
                           .images = ret_images,
                           .buffer = {.max_bytes = limits->max_file_bytes + (1 << 18)}};
    struct err *e;

    *ret_images = (struct pre_images){0};
    e = walk_both(&c);
    strbuf_done(&c.buffer);
    mem_free(c.by_inode);
    return e;
}
