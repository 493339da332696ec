/* secret_dirs.h - directories in which places of credentials could come to be while a command runs.
 *
 * A person logs in for the first time, and ~/.aws or ~/.config/gh is there. What does not exist has
 * no mount and no rule, so the directories that such a place would lie in are known with the names
 * that are missing there: the place itself, or the first directory on the way to it. keel-exec
 * watches for them. A list is worked out again when one of its directories has changed. */
#ifndef KEEL_SANDBOX_PLAN_SECRET_DIRS_H
#define KEEL_SANDBOX_PLAN_SECRET_DIRS_H

#include "base/arena.h"

#include <sys/types.h>
#include <time.h>

struct secret_dir {
    const char *path;   /* absolute and canonical; it exists */
    const char **names; /* that are missing */
    size_t n, room;
    const char **present; /* places that are there */
    size_t n_present, present_room;
    bool is_split; /* it leads to such a place of the home, or has one: see read_rules.h */
    /* As it was before it was looked at. */
    dev_t device;
    ino_t inode;
    struct timespec changed;
};

struct secret_dirs {
    struct arena arena;
    struct secret_dir *items;
    size_t n, room;
    uint64_t version; /* another one when anything has changed */
};
/* `home` is canonical, or NULL; it is the same at each call. Root's list has the system's own
 * places, too: from others their modes keep them. Blocks a little. */
void secret_dirs_update(struct secret_dirs *d, const char *home);
void secret_dirs_done(struct secret_dirs *d);

#endif
