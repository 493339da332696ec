/* keeper.h - the snapshotter from inside: what its files share, and only they.
 *
 *     snapshotter.c  the port: which calls, when, in a worker
 *     keeper.c       one look at the workspace after the other
 *     known.c        what is known of it, from one process to the next */
#ifndef KEEL_SNAPSHOT_KEEPER_H
#define KEEL_SNAPSHOT_KEEPER_H

#include "snapshot/manifest.h"
#include "snapshot/snapshot.h"

struct keeper {
    struct arena arena;
    struct file_tree_scope scope;
    struct file_tree_limits limits;
    struct blob_store *blobs;
    const char *known_file;    /* NULL: nothing is remembered */
    struct file_tree *latest;  /* as of the last look; NULL: there was none */
    struct manifest_base base; /* of manifests */
    bool was_read;             /* known_file */
    bool told_cut, told_total; /* once a session is enough */
};

void keeper_init(struct keeper *k, const struct snapshot_options *options);
void keeper_done(struct keeper *k);
DEFINE_AUTO_VAL(keeper, keeper_done)

/* What is below blocks. */

/* Looks at the workspace and saves it: a new reference. NULL, why, and a note the first time, where
 * it is too large. */
MUST_USE struct err *keeper_save(struct keeper *k, struct arena *a, struct file_tree **ret_tree,
                                 char manifest[SHA256_HEX_SIZE], struct str *ret_note,
                                 struct str *ret_unsaved);
/* Looks again and tells what differs from `before`, and why that is not all. `saves`: contents too,
 * so that the next look can be compared with this one. */
MUST_USE struct err *keeper_compare(struct keeper *k, const struct file_tree *before, bool saves,
                                    struct arena *a, struct pre_images *ret_images,
                                    struct str *ret_note, struct str *ret_unsaved);

/* known.c: sets k->latest and k->base to what an earlier process has stored, once. */
void known_read(struct keeper *k);
void known_write(struct keeper *k, int64_t taken_ns); /* after the base was stored */
/* Which of the files that are taken for saved still are? */
void known_check(struct keeper *k, struct file_tree *t);

#endif
