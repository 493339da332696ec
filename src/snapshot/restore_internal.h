/* restore_internal.h - shared by the files of a restore.
 *
 *     restore_look.c   finds out what may and what must be done
 *     restore_moves.c  moves files back that could not be saved
 *     restore_names.c  finds files with several names
 *     restore.c        carries the plan out */
#ifndef KEEL_SNAPSHOT_RESTORE_INTERNAL_H
#define KEEL_SNAPSHOT_RESTORE_INTERNAL_H

#include "snapshot/path_table.h"
#include "snapshot/plain.h"
#include "snapshot/restore.h"
#include "snapshot/state.h"
#include "snapshot/virtual_places.h"

#define RESTORE_MAX_BYTES ((size_t)64 << 20) /* of a file */

struct restoring {
    const struct restore_options *options;
    struct arena *arena;
    struct restore_plan *plan;
    struct strbuf bytes;
    struct unlocks unlocks;    /* directories that are unlocked to change their files */
    struct path_table names;   /* struct linked_names */
    struct path_table by_path; /* struct restore_item; during the look */
    struct path_table sources; /* paths whose files are moved back; the same */
};

/* For an item whose content could not be saved: the present place of the file. */
struct restore_move {
    const char *from;        /* NULL: unknown, or not needed */
    size_t source;           /* the item of that path; SIZE_MAX: none */
    size_t next;             /* another item for the same file; SIZE_MAX: none */
    bool is_changed;         /* its content has changed */
    bool is_link;            /* the file keeps that name, and also gets this one */
    struct file_identity is; /* the file that was found there */
    bool is_gone;            /* the file at the item's path has been removed or moved */
    bool is_source; /* the file at this item's path is to be moved, or may be the only copy */
};

void restore_end_item(struct restore_item *item, enum restore_outcome outcome, struct str why);
void restore_fail_item(struct restoring *r, struct restore_item *item, const char *what);
bool restore_is_inside(const struct restore_options *o, struct str path);
/* Must the present file be removed before another is put there? */
bool restore_must_go(const struct restore_item *item, const struct file_state *now);

/* Finds items that can be restored by moving; before they are judged. */
void restore_find_moves(struct restoring *r);
/* Gives up moves whose source, or whose own path, must not be touched. */
void restore_settle_moves(struct restoring *r);
/* False: an item or a source was given up since. */
bool restore_moves_are_settled(const struct restoring *r);
/* Carries the moves out: directories exist, and obstacles are removed. */
void restore_do_moves(struct restoring *r);
/* The image that undoes an item. False: unknown. */
bool restore_make_undo(struct restoring *r, size_t i, struct pre_image *ret_undo);

/* In restore.c. */
/* Adds another name for the anchor. */
bool restore_put_name(struct restoring *r, int dir_fd, const char *name, const char *anchor);
int restore_open_parent(struct restoring *r, const char *path, const char **ret_name);
void restore_put_attributes(struct restoring *r, struct restore_item *item, int dir_fd,
                            const char *name);

/* The names in a plan of one file, by device and inode. */
struct linked_names {
    const char *anchor; /* a name that is that file, or has become it; NULL: none yet */
    struct str content; /* the former content */
    unsigned n, n_all;  /* known names, and former names */
    unsigned n_new;     /* names in the plan that were something else before the first call */
    const struct restore_item *counted_for; /* the last of these */
    bool was_missing;                       /* the anchor was found by a walk, or not at all */
};

/* Call it before anything is changed. */
void restore_find_names(struct restoring *r);
struct linked_names *restore_names_of(struct restoring *r,
                                      const struct pre_image *aim); /* or NULL */
/* Is it still the same file? Then its other names get their content back with it. */
bool restore_is_in_place(const struct pre_image *aim, const struct file_state *now);

#endif
