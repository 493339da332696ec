/* mounts.h - the mounts that this process sees now, kept up to date.
 *
 * The kernel says when its table has changed, so that to look again costs one poll(). Blocks a
 * little; not thread-safe. */
#ifndef KEEL_SYS_MOUNTS_H
#define KEEL_SYS_MOUNTS_H

#include "base/err.h"
#include "base/mount_table.h"

struct mounts {
    int fd; /* -1: not opened yet */
    struct arena arena;
    struct mount_table table;
    uint64_t version; /* another one when the table has changed */
};
#define MOUNTS_NONE ((struct mounts){.fd = -1})
void mounts_done(struct mounts *m);

/* What cannot be read belongs to a sandbox that keel itself runs in. */
#define NESTED_SANDBOX_HINT                                                                        \
    "keel runs in a sandbox without namespaces, where a second one cannot be built. The first "    \
    "one confines everything that runs here: run the command without keel, or start keel outside " \
    "of it"

/* *ret_table lives until the next call. */
MUST_USE struct err *mounts_look(struct mounts *m, const struct mount_table **ret_table);

#endif
