/* snapshotter_internal.h - shared by the files of a snapshotter.
 *
 *     snapshotter.c       chooses the calls to save for, and looks at files
 *     saved_file.c        saves the one file of a call
 *     git_state.c         notices what happened to the repository
 *     snapshot_notes.c    warns of changes that cannot be undone
 *     snapshot_recover.c  finds changes after a crash */
#ifndef KEEL_SNAPSHOT_SNAPSHOTTER_INTERNAL_H
#define KEEL_SNAPSHOT_SNAPSHOTTER_INTERNAL_H

#include "snapshot/coverage.h"
#include "snapshot/snapshot.h"
#include "snapshot/state.h"

#define SNAPSHOT_MAX_ONE_FILE ((uint64_t)64 << 20) /* the limit of Write and Edit */

/* The one file of a call that modifies it. */
struct saved_file {
    struct file_state before; /* the caller owns its path */
    size_t n_missing;         /* missing directories above it */
};
MUST_USE struct err *saved_file_save(struct saved_file *s, struct blob_store *blobs);
MUST_USE struct err *saved_file_compare(const struct saved_file *s, struct arena *a,
                                        struct pre_images *images);

struct snapshot_options snapshot_with_defaults(const struct snapshot_options *o);
/* Empty: everything can be undone. */
struct str snapshot_note_lost(struct arena *a, const struct pre_images *images);

/* The repository of the workspace, which keel neither saves nor restores: the times of a few files
 * show whether a command has removed it, or moved its HEAD. */
struct git_state {
    unsigned parts;         /* existing ones, one bit each */
    struct stamp head, log; /* HEAD, and its reflog */
};
struct git_state git_state_look(const struct coverage *c);
/* The changes that an undo does not undo; empty: none. *ret_is_gone: the repository is lost. */
struct str git_state_compare(const struct git_state *before, const struct git_state *now,
                             const struct coverage *c, struct arena *a, bool *ret_is_gone);

#endif
