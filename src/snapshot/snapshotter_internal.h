/* snapshotter_internal.h - what the files of a snapshotter share, and only they.
 *
 *     snapshotter.c       which calls are looked at, and the looks
 *     saved_file.c        the one file of a call
 *     snapshot_notes.c    what a person must know after them
 *     snapshot_recover.c  the same after a crash */
#ifndef KEEL_SNAPSHOT_SNAPSHOTTER_INTERNAL_H
#define KEEL_SNAPSHOT_SNAPSHOTTER_INTERNAL_H

#include "snapshot/snapshot.h"
#include "snapshot/state.h"

#define SNAPSHOT_MAX_ONE_FILE ((uint64_t)64 << 20) /* as Write and Edit have it */

/* The one file of a call that modifies it. */
struct saved_file {
    struct file_state before; /* its path is the caller's */
    size_t n_missing;         /* directories above it that were not there */
};
MUST_USE struct err *saved_file_save(struct saved_file *s, struct blob_store *blobs);
MUST_USE struct err *saved_file_compare(const struct saved_file *s, struct arena *a,
                                        struct pre_images *images);

struct snapshot_options snapshot_with_defaults(const struct snapshot_options *o);
/* Empty: all can be undone. */
struct str snapshot_note_lost(struct arena *a, const struct pre_images *images);

#endif
