/* path_table.h - values by path, in memory. Zeroed is empty. Not thread-safe. */
#ifndef KEEL_SNAPSHOT_PATH_TABLE_H
#define KEEL_SNAPSHOT_PATH_TABLE_H

#include "base/arena.h"

struct path_slot {
    struct str path; /* in the table's arena, followed by a NUL */
    uint64_t hash;
    void *value; /* the caller's */
};

struct path_table {
    struct arena arena;
    struct path_slot *slots;
    size_t n, room; /* room: a power of two */
};
void path_table_done(struct path_table *t);
DEFINE_AUTO_VAL(path_table, path_table_done)

struct path_slot *path_table_find(const struct path_table *t, struct str path); /* NULL: none */
/* Adds a slot with the value NULL if there is none. Borrowed until the next call. */
struct path_slot *path_table_put(struct path_table *t, struct str path);

#endif
