/* file_tree.h - all files of the workspace at one moment, sorted by their paths.
 *
 * Without .git, what git ignores, keel's own home and store, and its temporary files. A tree is
 * taken by a walk that reads no file; then what is known of earlier trees is carried over, and what
 * is left is read. All of it blocks, ends early when work_cancelled() says so, and runs in a
 * worker. */
#ifndef KEEL_SNAPSHOT_FILE_TREE_H
#define KEEL_SNAPSHOT_FILE_TREE_H

#include "snapshot/state.h"

struct file_tree_limits {
    size_t max_files;        /* directories and links count too */
    uint64_t max_bytes;      /* of all contents together */
    uint64_t max_file_bytes; /* of one */
    /* A file that changed this shortly before the tree was taken may change again without another
     * stamp: it is read again. At least the granularity of the file system's clock. */
    int64_t racy_ns;
};

struct file_tree_scope {
    const char *const *roots; /* absolute, without links, none inside another */
    size_t n_roots;
    const char *left_out;          /* a directory that does not belong to it; NULL: none */
    const struct path_filter *own; /* nor what is keel's own; NULL: nothing is */
};

struct file_tree {
    unsigned n_refs;
    struct arena *arenas; /* of the paths: one for each thread that walked */
    size_t n_arenas;
    struct file_state *files; /* by path */
    size_t n, room;
    int64_t taken_ns; /* before the walk, by the clock that stamps files */
    int64_t began_ns; /* the same moment by the finer clock */
    int64_t ready_ns; /* what is made after the walk is born no earlier, what was there before is */
    bool was_cut;     /* max_files was reached: there are more */
    bool is_too_deep; /* there are directories deeper than a walk goes */
};

MUST_USE struct err *file_tree_take(const struct file_tree_scope *scope,
                                    const struct file_tree_limits *limits,
                                    struct file_tree **ret_tree);
struct file_tree *file_tree_new(void) MUST_USE;
struct file_tree *file_tree_ref(struct file_tree *t) MUST_USE;
void file_tree_unref(struct file_tree *t);
DEFINE_AUTO_PTR(file_tree, file_tree_unref)

/* For building one by hand: copies the state and its path; sort when all are there. */
void file_tree_add(struct file_tree *t, const struct file_state *f);
void file_tree_sort(struct file_tree *t);
struct file_state *file_tree_find(const struct file_tree *t, const char *path); /* NULL: none */

/* Sets ready_ns; waits for the next tick of the clock that stamps files, some milliseconds. */
void file_tree_settle(struct file_tree *t);

/* Carries over what is known of files that still have the same stamp. */
void file_tree_reuse(struct file_tree *t, const struct file_tree *known,
                     const struct file_tree_limits *limits);

/* fill.c: reads what is not known yet, with as many threads as there are cores. With `blobs` it is
 * saved, durable after the next blob_sync(), the smaller files first as long as there is room; else
 * only hashed. */
struct fill_report {
    size_t n_read;
    size_t n_over_total; /* not saved, because all together are too large */
    size_t n_too_large;  /* not saved, because it is too large alone */
};
MUST_USE struct err *file_tree_fill(struct file_tree *t, const struct file_tree_limits *limits,
                                    struct blob_store *blobs, struct fill_report *ret_report);

#endif
