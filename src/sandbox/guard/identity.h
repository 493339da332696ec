/* identity.h - tells a file or directory from another that was put in its place.
 *
 * The number of an inode is used again once its file is gone; the time when it was made is not. The
 * device is no part of it, as its number may be another after the next start of the machine. */
#ifndef KEEL_SANDBOX_GUARD_IDENTITY_H
#define KEEL_SANDBOX_GUARD_IDENTITY_H

#include "base/mem.h"

#include <sys/stat.h>

struct identity {
    uint64_t inode;
    int64_t born_ns; /* 0: the file system does not say */
};

static inline bool identity_eq(const struct identity *a, const struct identity *b)
{
    return a->inode == b->inode && (a->born_ns == b->born_ns || !a->born_ns || !b->born_ns);
}

/* What `name` in the directory `dir` is, links not followed ("": the directory itself). -1 and
 * errno as fstatat(). */
int identity_look(int dir, const char *name, struct stat *ret_stat, struct identity *ret_identity);

/* Now, on the clock that files get their times from. */
int64_t identity_now_ns(void);

#endif
