/* plain.h - the directory that a path is in, through no link at all.
 *
 * A command may put a link where a directory was. A look or a restore by path must then find
 * nothing, instead of what the link names; see sys/open_plain.h. These calls block. */
#ifndef KEEL_SNAPSHOT_PLAIN_H
#define KEEL_SNAPSHOT_PLAIN_H

#include "sys/unlock.h"

#include <dirent.h>

/* For *at() calls, and the path's last name. A directory that keel's user owns and may not enter is
 * unlocked, unless `unlocks` is NULL. -1 with errno. */
int plain_open_parent(const char *path, struct unlocks *unlocks, const char **ret_name) MUST_USE;
/* The same where names are to be made or removed. */
int plain_open_writable(const char *path, struct unlocks *unlocks, const char **ret_name) MUST_USE;

/* The names in a directory, which is unlocked in the same way. NULL with errno. */
DIR *plain_open_list(const char *path, struct unlocks *unlocks) MUST_USE;

/* Unlocks a directory that a walk has come to, before it enters it. */
void plain_unlock(struct unlocks *unlocks, int dir_fd, const char *name);

/* Did the call fail because nothing is there (any more)? */
bool plain_is_absent(int error);

#endif
