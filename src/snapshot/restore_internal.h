/* restore_internal.h - what the files of a restore share, and only they.
 *
 *     restore_look.c   what a plan is about: what may be done, and what must be
 *     restore_moves.c  files that could not be saved, but were only moved
 *     restore_names.c  which files of it have several names
 *     restore.c        carries it out */
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
    struct unlocks unlocks;    /* directories, while files in them are changed */
    struct path_table names;   /* struct linked_names */
    struct path_table by_path; /* struct restore_item; while it is looked */
    struct path_table sources; /* paths whose files are moved back; the same */
};

/* Of an item whose content could not be saved: where the file is now. */
struct restore_move {
    const char *from;        /* NULL: it is not known, or not needed */
    size_t source;           /* the item of that path; SIZE_MAX: the plan has none */
    size_t next;             /* another item that was the same file; SIZE_MAX: none */
    bool is_changed;         /* its content is not what it was */
    bool is_link;            /* the file keeps that name, and gets this one besides */
    struct file_identity is; /* the file, as it was found there */
    bool is_gone;            /* what was at the item's path has been removed or moved */
    bool is_source; /* what is at this item's own path is to be moved, or may be what is left */
};

void restore_end_item(struct restore_item *item, enum restore_outcome outcome, struct str why);
void restore_fail_item(struct restoring *r, struct restore_item *item, const char *what);
bool restore_is_inside(const struct restore_options *o, struct str path);
/* Must what is there now be gone before something is put there? */
bool restore_must_go(const struct restore_item *item, const struct file_state *now);

/* Which items can be had by moving; before they are judged. */
void restore_find_moves(struct restoring *r);
/* Whose source, or whose own path, is not to be touched, is not moved. */
void restore_settle_moves(struct restoring *r);
/* False: an item or a source was left since. */
bool restore_moves_are_settled(const struct restoring *r);
/* Does it: directories are there, and what must go is gone. */
void restore_do_moves(struct restoring *r);
/* What takes an item back. False: it is unknown. */
bool restore_make_undo(struct restoring *r, size_t i, struct pre_image *ret_undo);

/* Of restore.c. */
/* Gives the anchor another name. */
bool restore_put_name(struct restoring *r, int dir_fd, const char *name, const char *anchor);
int restore_open_parent(struct restoring *r, const char *path, const char **ret_name);
void restore_put_attributes(struct restoring *r, struct restore_item *item, int dir_fd,
                            const char *name);

/* Those of a plan that are one file, by device and inode. */
struct linked_names {
    const char *anchor; /* one of them that is that file, or has become it; NULL: none yet */
    struct str content; /* as they were */
    unsigned n, n_all;  /* names that are known, and that there were */
    unsigned n_new;     /* names in the plan that were something else before the first call */
    const struct restore_item *counted_for; /* the last of these */
    bool was_missing;                       /* the anchor was found by a walk, or not at all */
};

/* Before anything is changed. */
void restore_find_names(struct restoring *r);
struct linked_names *restore_names_of(struct restoring *r,
                                      const struct pre_image *aim); /* or NULL */
/* Is it still the file that it was? Then its other names get their content back with it. */
bool restore_is_in_place(const struct pre_image *aim, const struct file_state *now);

#endif
