/* snapshot.c - the door to snapshots, and the names of what they hold. */
#include "port/snapshot.h"

static const char *const kind_names[] = {"none", "file", "link", "directory", "other"};

const char *image_kind_name(enum image_kind k)
{
    return kind_names[k];
}

bool image_kind_find(struct str name, enum image_kind *ret_kind)
{
    for (size_t i = 0; i < ARRAY_LEN(kind_names); i++)
        if (str_is(name, kind_names[i])) {
            *ret_kind = (enum image_kind)i;
            return true;
        }
    return false;
}

void pre_images_add(struct pre_images *list, struct arena *a, struct pre_image image)
{
    list->items = arena_grow(a, list->items, list->n, &list->room, sizeof *list->items);
    list->items[list->n++] = image;
}

struct err *snapshot_begin(struct snapshotter *s, const struct snapshot_call *call, struct arena *a,
                           struct snapshot_record *ret_record)
{
    *ret_record = (struct snapshot_record){0};
    return s ? s->begin(s, call, a, ret_record) : NULL;
}

struct err *snapshot_end(struct snapshotter *s, struct snapshot *take_snapshot, struct arena *a,
                         struct snapshot_changes *ret_changes)
{
    *ret_changes = (struct snapshot_changes){0};
    return take_snapshot ? s->end(s, take_snapshot, a, ret_changes) : NULL;
}

struct err *snapshot_settle(struct snapshotter *s, struct arena *a,
                            struct snapshot_changes *ret_changes)
{
    *ret_changes = (struct snapshot_changes){0};
    return s ? s->settle(s, a, ret_changes) : NULL;
}

void snapshotter_free(struct snapshotter *s)
{
    if (s)
        s->free(s);
}
