/* restore.h - undoes changes: restores files, with their contents and places.
 *
 * The plan is made from the pre-images of all calls after some point, in their order: for each path
 * the earliest image is the aim. Planning is pure. Carrying it out is not: a file that is not as
 * the last call left it, because another program or person has changed it, is reported and left
 * alone, unless the restore is forced. Each file is replaced whole or not at all, no link is
 * followed, and nothing outside the roots is touched. A file with several names that is still the
 * same file is written in place, so that all its names are restored; otherwise it gets its names
 * again as far as they are known. Files that could not be saved are found by their inode number and
 * moved back. Files that cannot be saved now are removed or replaced only if forced, and a possible
 * only copy of something else never. Times are not restored: restored files are newer than what was
 * built from them.
 *
 * Files are saved before they are replaced, and reported as pre-images again: an undo can be
 * undone. */
#ifndef KEEL_SNAPSHOT_RESTORE_H
#define KEEL_SNAPSHOT_RESTORE_H

#include "port/snapshot.h"

enum restore_outcome {
    RESTORE_PLANNED,
    RESTORE_DONE,
    RESTORE_NOT_NEEDED, /* it is as it was */
    RESTORE_CONFLICT,   /* another program or person has changed it */
    RESTORE_IMPOSSIBLE, /* it was not saved, or is outside the roots */
    RESTORE_FAILED,     /* see `why` */
    RESTORE_PARTLY,     /* its content or its name is restored; see `why` */
    RESTORE_LEFT,       /* it is left as it is, forced or not; see `why` */
};
const char *restore_outcome_name(enum restore_outcome o); /* "restored", "conflict", ... */

struct restore_item {
    struct pre_image aim; /* its `after` is the state after the last call that changed content */
    bool knows_before;    /* `before` is the state before that call, in the same terms */
    struct str before;
    bool changed_between;            /* another program or person changed it between two calls */
    const struct pre_image **became; /* other files that it was in between */
    size_t n_became;
    enum restore_outcome outcome;
    struct str why; /* for all but DONE and NOT_NEEDED; for PLANNED, where it comes from */
    bool moves;     /* the present file belongs to another path, and is moved back there */
};

struct file_state;
struct restore_move;
struct restore_plan {
    struct restore_item *items; /* by path */
    size_t n;
    /* private: one for each item that was looked at */
    struct file_state *now;
    struct restore_move *moves;
    struct pre_image *aims; /* as planned */
};

struct restore_options {
    const char *const *roots; /* the workspace and added directories */
    size_t n_roots;
    struct blob_store *blobs; /* restore_look(): NULL saves nothing */
    uint64_t max_file_bytes;  /* of a file that is saved before it is removed; 0: 64 MiB */
    bool force;               /* also conflicts */
    /* A root that this user may not enter, and that is unlocked for now: its own mode. NULL:
     * none. */
    const char *unlocked;
    unsigned unlocked_mode;
    const char *home;              /* keel's: nothing in it is touched; NULL: none */
    const struct path_filter *own; /* nor are files of its store; NULL: none */
};

struct restore_report {
    size_t n_restored, n_conflicts, n_failed; /* failed or impossible */
    size_t n_partly;                          /* of those restored */
    size_t n_left;
    struct pre_images undo; /* the previous state, to undo the restore */
};

/* Strings live in `a`; the images are borrowed. */
void restore_plan(const struct pre_image *images, size_t n, struct arena *a,
                  struct restore_plan *ret_plan);

/* The following calls block: tasks use work_run(). Errors are those of the blob store; problems of
 * a file are its outcome. */

/* Finds out what can be done and changes nothing; the outcome of that stays RESTORE_PLANNED. With
 * blobs it saves the present state and reports it as pre-images. */
MUST_USE struct err *restore_look(struct restore_plan *plan, const struct restore_options *options,
                                  struct arena *a, struct pre_images *ret_undo);
/* Carries out what was found to be possible: once, soon after the look. */
void restore_change(struct restore_plan *plan, const struct restore_options *options,
                    struct arena *a, struct restore_report *ret_report);

/* All steps in one call. */
MUST_USE struct err *snapshot_restore(const struct pre_image *images, size_t n,
                                      const struct restore_options *options, struct arena *a,
                                      struct restore_plan *ret_plan,
                                      struct restore_report *ret_report);

#endif
