/* restore_plan.c - finds the state of each path before all changes. Pure. */
#include "snapshot/restore.h"
#include "snapshot/state.h"

#include <stdlib.h>

const char *restore_outcome_name(enum restore_outcome o)
{
    static const char *const names[] = {"planned",    "restored", "not needed",       "conflict",
                                        "impossible", "failed",   "restored in part", "left"};

    return names[o];
}

struct image_place {
    const struct pre_image *image;
    size_t order;
};

static int by_path_and_order(const void *a, const void *b)
{
    const struct image_place *x = a, *y = b;
    int order = str_cmp(x->image->path, y->image->path);

    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Does an earlier image describe the state before call `i`? Calls that ran side by side may have
 * seen the same one. */
static bool is_known_state(struct arena *a, const struct image_place *places, size_t i)
{
    struct str state, other;

    if (!image_sign(a, places[i].image, &state))
        return true; /* unknown */
    for (size_t k = i; k-- > 0;) {
        if (!image_sign(a, places[k].image, &other) || str_eq(other, state) ||
            str_eq(places[k].image->after, state))
            return true;
        if (i - k > 64) /* a file that changes all the time is not a conflict for that */
            return true;
    }
    return i == 0;
}

/* If the first calls changed only attributes, the content is what the next one found. */
static void find_content(struct pre_image *aim, const struct image_place *places, size_t n)
{
    for (size_t i = 1; i < n && aim->keeps_content; i++) {
        const struct pre_image *image = places[i].image;

        if (image->keeps_content)
            continue;
        aim->keeps_content = false;
        aim->content = image->content;
        aim->has_bytes = image->has_bytes;
        aim->bytes = image->bytes;
        aim->identity = image->identity;
        aim->why_not = image->kind == aim->kind ? image->why_not
                                                : S("someone else changed it in the meantime");
    }
}

/* If the first call does not describe extended attributes, it found and left none. */
static void find_xattrs(struct pre_image *aim, const struct image_place *places, size_t n)
{
    for (size_t i = 1; i < n && !aim->has_xattrs; i++)
        aim->has_xattrs = places[i].image->has_xattrs;
}

static bool is_same_file(const struct pre_image *a, const struct pre_image *b)
{
    return a->inode == b->inode && a->device == b->device;
}

static struct restore_item plan_path(struct arena *a, const struct image_place *places, size_t n)
{
    struct restore_item item = {.aim = *places[0].image};
    size_t last = n - 1;

    item.became = ARENA_ARRAY(a, n, const struct pre_image *);
    find_content(&item.aim, places, n);
    find_xattrs(&item.aim, places, n);
    while (last > 0 && places[last].image->keeps_content)
        last--;
    item.aim.after = places[last].image->after;
    item.knows_before = image_sign(a, places[last].image, &item.before);
    for (size_t i = 1; i < n; i++) {
        const struct pre_image *image = places[i].image;

        item.changed_between |= !is_known_state(a, places, i);
        if (image->n_names && !is_same_file(image, &item.aim))
            item.became[item.n_became++] = image;
    }
    return item;
}

void restore_plan(const struct pre_image *images, size_t n, struct arena *a,
                  struct restore_plan *ret_plan)
{
    struct image_place *places = ARENA_ARRAY(a, n + 1, struct image_place);
    struct restore_plan plan = {.items = ARENA_ARRAY(a, n + 1, struct restore_item)};

    for (size_t i = 0; i < n; i++)
        places[i] = (struct image_place){&images[i], i};
    if (n)
        qsort(places, n, sizeof *places, by_path_and_order);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && str_eq(places[end].image->path, places[i].image->path);)
            end++;
        plan.items[plan.n++] = plan_path(a, places + i, end - i);
    }
    *ret_plan = plan;
}
