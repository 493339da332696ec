/* snapshot.h - the snapshotter of an agent: one file before Write and Edit, the workspace before a
 * command.
 *
 * Which calls are looked at: those that modify a file are saved by that file alone, where it is
 * known; those that modify without saying what, and those that start commands, by the workspace.
 * Calls that only inspect are not looked at. While commands run in the background every such call
 * looks at the workspace, and what has changed between two looks is told as theirs.
 *
 * docs/undo.md has the reasons and the limits. */
#ifndef KEEL_SNAPSHOT_SNAPSHOT_H
#define KEEL_SNAPSHOT_SNAPSHOT_H

#include "port/snapshot.h"

#define SNAPSHOT_DEFAULT_MAX_FILES 20000
#define SNAPSHOT_DEFAULT_MAX_BYTES ((uint64_t)256 << 20)
#define SNAPSHOT_DEFAULT_MAX_FILE_BYTES ((uint64_t)10 << 20)

struct snapshot_options {
    const char *workspace;         /* absolute */
    const char *const *added_dirs; /* may be NULL */
    size_t n_added_dirs;
    struct blob_store *blobs; /* borrowed */
    const char *home;         /* keel's own, which is never saved; also remembers what is known of
                                 the workspace for the next process. NULL: nothing */
    size_t max_files;         /* 0: the default, and so on */
    uint64_t max_bytes, max_file_bytes;
    int64_t racy_ns; /* see file_tree.h; 0: 2 s */
    /* Files of keel's own store, which are no part of the workspace; NULL: there are none in it.
     * Borrowed; called from several threads. */
    const struct path_filter *own;
    bool is_off; /* nothing is saved, and every call reports that */
    /* Might this call of a tool that starts commands write? NULL: each might. */
    bool (*may_write)(void *self, const struct snapshot_call *call);
    /* Do commands run in the background? NULL: never. */
    bool (*is_busy)(void *self);
    void *self;
};

/* Everything is copied but the store. Walks nothing yet. */
struct snapshotter *snapshotter_new(const struct snapshot_options *options) MUST_USE;

/* After a crash: what EVENT_SNAPSHOT told, without the pre-images that should have followed.
 * Gives those, as if the call had ended now. Blocks: tasks use work_run(). */
MUST_USE struct err *snapshot_recover(const struct snapshot_options *options,
                                      const struct snapshot_record *record, struct arena *a,
                                      struct pre_images *ret_images);

#endif
