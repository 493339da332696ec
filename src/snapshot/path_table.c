/* path_table.c - a hash table with open addressing. */
#include "snapshot/path_table.h"

void path_table_done(struct path_table *t)
{
    arena_done(&t->arena);
    mem_free(t->slots);
    *t = (struct path_table){0};
}

/* The slot of the path, or the free one for it. One is always free. */
static struct path_slot *slot_of(const struct path_table *t, struct str path, uint64_t hash)
{
    size_t i = hash & (t->room - 1);

    while (t->slots[i].path.p && (t->slots[i].hash != hash || !str_eq(t->slots[i].path, path)))
        i = (i + 1) & (t->room - 1);
    return &t->slots[i];
}

struct path_slot *path_table_find(const struct path_table *t, struct str path)
{
    struct path_slot *slot = t->room ? slot_of(t, path, str_hash(path)) : NULL;

    return slot && slot->path.p ? slot : NULL;
}

static void grow(struct path_table *t)
{
    struct path_table old = *t;

    t->room = MAX((size_t)64, old.room * 2);
    t->slots = mem_alloc(t->room * sizeof *t->slots);
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i].path.p)
            *slot_of(t, old.slots[i].path, old.slots[i].hash) = old.slots[i];
    mem_free(old.slots);
}

struct path_slot *path_table_put(struct path_table *t, struct str path)
{
    uint64_t hash = str_hash(path);
    struct path_slot *slot;

    if (2 * (t->n + 1) > t->room)
        grow(t);
    slot = slot_of(t, path, hash);
    if (!slot->path.p) {
        *slot = (struct path_slot){.path = arena_str(&t->arena, path), .hash = hash};
        t->n++;
    }
    return slot;
}
