/* virtual_places.h - where file systems are mounted that store nothing: proc, sysfs, devtmpfs, ...
 *
 * What is in them is made by the kernel when somebody looks: it changes all the time, and cannot be
 * put back. They are no part of an undo, nor is what is mounted in them. As of the time at which
 * they were looked for. */
#ifndef KEEL_SNAPSHOT_VIRTUAL_PLACES_H
#define KEEL_SNAPSHOT_VIRTUAL_PLACES_H

#include "base/strbuf.h"
#include "snapshot/path_table.h"
#include "sys/walk.h"

struct virtual_places {
    struct path_table table;
};
/* Those in the roots, which are absolute and without links, and roots that lie in one themselves.
 * Blocks a little. */
void virtual_places_find(struct virtual_places *v, const char *const *roots, size_t n_roots);
void virtual_places_done(struct virtual_places *v);
DEFINE_AUTO_VAL(virtual_places, virtual_places_done)

/* Is it one? */
bool virtual_places_has(const struct virtual_places *v, struct str path);
/* Is it one, or does it lie in one? */
bool virtual_places_hold(const struct virtual_places *v, struct str path);

/* Of a walk that leaves them out: walk_options.self. */
struct virtual_filter {
    const struct virtual_places *places;
    const char *root;
};
bool virtual_filter_leaves_out(void *self, struct str relative, bool is_dir);

/* The path of what a walk has found. */
void add_walked_path(struct strbuf *out, const char *root, struct str relative);

#endif
