/* restore_internal.h - what the files of a restore share, and only they.
 *
 *     restore.c        looks at what a plan is about, and carries it out
 *     restore_names.c  which files of it have several names */
#ifndef KEEL_SNAPSHOT_RESTORE_INTERNAL_H
#define KEEL_SNAPSHOT_RESTORE_INTERNAL_H

#include "snapshot/path_table.h"
#include "snapshot/plain.h"
#include "snapshot/restore.h"
#include "snapshot/state.h"

#define RESTORE_MAX_BYTES ((size_t)64 << 20) /* of a file */

struct restoring {
    const struct restore_options *options;
    struct arena *arena;
    struct restore_plan *plan;
    struct strbuf bytes;
    struct unlocks unlocks;  /* directories, while files in them are changed */
    struct path_table names; /* struct linked_names */
};

/* Those of a plan that are one file, by device and inode. */
struct linked_names {
    const char *anchor; /* one of them that is that file, or has become it; NULL: none yet */
    struct str content; /* as they were */
    unsigned n, n_all;  /* names that are known, and that there were */
    unsigned n_new;     /* names in the plan that were something else before the first call */
    bool was_missing;   /* the anchor was found by a walk, or not at all */
};

/* Before anything is changed. */
void restore_find_names(struct restoring *r);
struct linked_names *restore_names_of(struct restoring *r,
                                      const struct pre_image *aim); /* or NULL */
/* Is it still the file that it was? Then its other names get their content back with it. */
bool restore_is_in_place(const struct pre_image *aim, const struct file_state *now);

#endif
