/* plain.h - opens the directory of a path without following any link.
 *
 * A command may replace a directory by a link. A look or a restore by path must then find nothing,
 * instead of the target of the link; see sys/open_plain.h. These calls block. */
#ifndef KEEL_SNAPSHOT_PLAIN_H
#define KEEL_SNAPSHOT_PLAIN_H

#include "sys/unlock.h"

#include <dirent.h>

/* For *at() calls, with the last name of the path. A directory that keel's user owns and may not
 * enter is unlocked, unless `unlocks` is NULL. -1 with errno. */
int plain_open_parent(const char *path, struct unlocks *unlocks, const char **ret_name) MUST_USE;
/* The same to create or remove names. */
int plain_open_writable(const char *path, struct unlocks *unlocks, const char **ret_name) MUST_USE;

/* The names in a directory, which is unlocked in the same way. NULL with errno. */
DIR *plain_open_list(const char *path, struct unlocks *unlocks) MUST_USE;

/* Unlocks a directory before a walk enters it. */
void plain_unlock(struct unlocks *unlocks, int dir_fd, const char *name);

/* Did the call fail because nothing is there (any more)? */
bool plain_is_absent(int error);

#endif
