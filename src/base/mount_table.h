/* mount_table.h - the other paths of a file: mounts of the same file system elsewhere, snapshots of
 * it, and file systems that are made of its directories.
 *
 * A bind mount, a subvolume next to the top of its file system, ostree's /sysroot or an overlay
 * show the same directory a second time. A rule that hides a file, or forbids reading it, applies
 * to all its names. Parses the text of /proc/self/mountinfo. Pure. */
#ifndef KEEL_BASE_MOUNT_TABLE_H
#define KEEL_BASE_MOUNT_TABLE_H

#include "base/arena.h"

struct mount_entry {
    unsigned id, parent;
    struct str device; /* "8:1": of the file system, whatever part of it is mounted */
    struct str root;   /* which directory of it */
    struct str place;  /* where */
    struct str type, source;
    struct str *layers; /* paths of the directories that it shows */
    size_t n_layers, layer_room;
};

struct mount_table {
    struct mount_entry *entries;
    size_t n, room;
    const struct mount_entry *top;           /* of "/"; NULL: none */
    const struct mount_entry **with_aliases; /* those with other names */
    size_t n_with_aliases, with_aliases_room;
    bool has_layers; /* at least one has them */
};

/* All texts are in `a`. Skips lines that it cannot parse. */
void mount_table_parse(struct mount_table *t, struct arena *a, struct str mountinfo);

/* The mount that shows the path, which is absolute and canonical; NULL: none is known. */
const struct mount_entry *mount_table_find(const struct mount_table *t, struct str path);

/* Does it show what the kernel generates (proc, sysfs, ...), and store nothing? */
bool mount_entry_is_virtual(const struct mount_entry *e);

/* Calls `found` for every other path that leads to `path` or, if that is a directory, to something
 * in it: `shows` is the path of that below `path`. A directory that holds snapshots of it is
 * reported as a whole. The paths need not exist. */
void mount_table_each_alias(const struct mount_table *t, struct arena *a, const char *path,
                            void (*found)(void *self, const char *alias, const char *shows),
                            void *self);

#endif
