/* restore.h - undoes changes: puts files where and as they were.
 *
 * The plan is made from the pre-images of all calls after some point, in their order: of each path
 * the earliest image is the aim. It is pure. Carrying it out is not: a file that is not as the last
 * call left it, because somebody else has changed it since or in between, is reported and left
 * alone, unless it is forced. Each file is replaced whole or not at all, no link is followed, and
 * nothing outside the roots is touched. A file with several names that is still the same file is
 * written in place, so that all its names come back; one that is not gets its names again as far as
 * they are known. What could not be saved is found by its number and moved back where it was. What
 * cannot be saved now is removed or replaced only if that is forced, and what may be the only copy
 * of something else never. Times are not restored: what is put back is newer than what was built
 * from it.
 *
 * What is there is saved before it is replaced, and reported as pre-images again: an undo can be
 * undone. */
#ifndef KEEL_SNAPSHOT_RESTORE_H
#define KEEL_SNAPSHOT_RESTORE_H

#include "port/snapshot.h"

enum restore_outcome {
    RESTORE_PLANNED,
    RESTORE_DONE,
    RESTORE_NOT_NEEDED, /* it is as it was */
    RESTORE_CONFLICT,   /* somebody else has changed it */
    RESTORE_IMPOSSIBLE, /* it was not saved, or is outside the roots */
    RESTORE_FAILED,     /* see `why` */
    RESTORE_PARTLY,     /* its content is as it was, or its name; see `why` */
    RESTORE_LEFT,       /* it stays as it is, forced or not; see `why` */
};
const char *restore_outcome_name(enum restore_outcome o); /* "restored", "conflict", ... */

struct restore_item {
    struct pre_image aim; /* its `after` is what the last call left that changed content */
    bool knows_before;    /* `before` is what that call found, in the same terms */
    struct str before;
    bool changed_between;            /* somebody else changed it between two calls */
    const struct pre_image **became; /* other files that it was meanwhile */
    size_t n_became;
    enum restore_outcome outcome;
    struct str why; /* of all but DONE and NOT_NEEDED; of PLANNED, where it comes from */
    bool moves;     /* what is there now belongs to another path, and is moved back there */
};

struct file_state;
struct restore_move;
struct restore_plan {
    struct restore_item *items; /* by path */
    size_t n;
    /* private: one for each item, once it was looked at */
    struct file_state *now;
    struct restore_move *moves;
    struct pre_image *aims; /* as planned */
};

struct restore_options {
    const char *const *roots; /* the workspace and added directories */
    size_t n_roots;
    struct blob_store *blobs; /* restore_look(): NULL saves nothing */
    uint64_t max_file_bytes;  /* of a file that is saved before it goes; 0: 64 MiB */
    bool force;               /* conflicts too */
    /* A root that this user may not enter, and that is open for the time being: the mode that it
     * has by itself. NULL: there is none. */
    const char *unlocked;
    unsigned unlocked_mode;
    const char *home;              /* keel's own: nothing in it is touched; NULL: none */
    const struct path_filter *own; /* nor what belongs to its store; NULL: nothing does */
};

struct restore_report {
    size_t n_restored, n_conflicts, n_failed; /* failed or impossible */
    size_t n_partly;                          /* of those restored */
    size_t n_left;
    struct pre_images undo; /* what was there, to take this back */
};

/* What it points at lives in `a`; the images are borrowed. */
void restore_plan(const struct pre_image *images, size_t n, struct arena *a,
                  struct restore_plan *ret_plan);

/* The rest blocks: tasks use work_run(). An error is the blob store's; what is wrong with a file is
 * its outcome. */

/* Finds out what can be done and changes nothing; the outcome of that stays RESTORE_PLANNED. With
 * blobs what stands there is saved, and told as what takes it back. */
MUST_USE struct err *restore_look(struct restore_plan *plan, const struct restore_options *options,
                                  struct arena *a, struct pre_images *ret_undo);
/* Does what was found to be possible: once, soon after it. */
void restore_change(struct restore_plan *plan, const struct restore_options *options,
                    struct arena *a, struct restore_report *ret_report);

/* All in one. */
MUST_USE struct err *snapshot_restore(const struct pre_image *images, size_t n,
                                      const struct restore_options *options, struct arena *a,
                                      struct restore_plan *ret_plan,
                                      struct restore_report *ret_report);

#endif
