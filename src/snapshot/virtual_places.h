/* virtual_places.h - mount points of file systems that store nothing: proc, sysfs, devtmpfs, ...
 *
 * The kernel generates their contents on each access: they change all the time, and cannot be
 * restored. An undo does not cover them, nor mounts in them. They are found once and not
 * updated. */
#ifndef KEEL_SNAPSHOT_VIRTUAL_PLACES_H
#define KEEL_SNAPSHOT_VIRTUAL_PLACES_H

#include "base/strbuf.h"
#include "snapshot/path_table.h"
#include "sys/walk.h"

struct virtual_places {
    struct path_table table;
};
/* Finds those in the roots, which are absolute and without links, and roots that are in one. Blocks
 * a little. */
void virtual_places_find(struct virtual_places *v, const char *const *roots, size_t n_roots);
void virtual_places_done(struct virtual_places *v);
DEFINE_AUTO_VAL(virtual_places, virtual_places_done)

/* Is it one? */
bool virtual_places_has(const struct virtual_places *v, struct str path);
/* Is it one, or inside one? */
bool virtual_places_hold(const struct virtual_places *v, struct str path);

/* For a walk that skips them: walk_options.self. */
struct virtual_filter {
    const struct virtual_places *places;
    const char *root;
};
bool virtual_filter_leaves_out(void *self, struct str relative, bool is_dir);

/* The path of an entry of a walk. */
void add_walked_path(struct strbuf *out, const char *root, struct str relative);

#endif
