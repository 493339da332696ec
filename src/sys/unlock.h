/* unlock.h - makes directories readable whose mode forbids it, while keel looks at them.
 *
 * Using a name needs only the right to search, so a command can hide files in a directory that
 * cannot be listed. Its owner, who is keel's user, may change that: the mode is widened through a
 * descriptor, never by path, and restored at the end. All calls block. */
#ifndef KEEL_SYS_UNLOCK_H
#define KEEL_SYS_UNLOCK_H

#include "sys/dir_watch.h"

struct unlocked;

/* Zeroed is empty. */
struct unlocks {
    struct unlocked *items;
    size_t n;
    size_t n_left_open; /* too many to restore */
};
/* Widens the mode; false if it could not. `path_fd` is O_PATH, and borrowed. */
bool unlocks_add(struct unlocks *u, int path_fd);
/* The same for a directory by its path, if this user may not list or enter it. *ret_mode: its old
 * mode. */
bool unlocks_open(struct unlocks *u, const char *path, unsigned *ret_mode);
struct dir_unlocker unlocks_for_watch(struct unlocks *u);
/* Leaves modes as they are now. */
void unlocks_forget(struct unlocks *u);
/* Restores all modes. */
void unlocks_done(struct unlocks *u);
DEFINE_AUTO_VAL(unlocks, unlocks_done)

#endif
