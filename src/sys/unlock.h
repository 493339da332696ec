/* unlock.h - directories whose modes keep keel from looking: readable for as long as it looks.
 *
 * Names are used through the right to search alone, so a command can hide what it has made in a
 * directory that cannot be listed. Its owner, who is keel's user, may change that: the mode is
 * widened through a descriptor, never by path, and given back at the end. All of it blocks. */
#ifndef KEEL_SYS_UNLOCK_H
#define KEEL_SYS_UNLOCK_H

#include "sys/dir_watch.h"

struct unlocked;

/* Zeroed is empty. */
struct unlocks {
    struct unlocked *items;
    size_t n;
    size_t n_left_open; /* more than can be given back */
};
/* Has the mode been widened? `path_fd` is O_PATH, and borrowed. */
bool unlocks_add(struct unlocks *u, int path_fd);
/* The same of a directory by its path, if this user may not list or enter it. *ret_mode: what its
 * mode was. */
bool unlocks_open(struct unlocks *u, const char *path, unsigned *ret_mode);
struct dir_unlocker unlocks_for_watch(struct unlocks *u);
/* Leaves modes as they are by now. */
void unlocks_forget(struct unlocks *u);
/* Gives all modes back. */
void unlocks_done(struct unlocks *u);
DEFINE_AUTO_VAL(unlocks, unlocks_done)

#endif
