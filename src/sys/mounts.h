/* mounts.h - the mounts that this process sees, kept up to date.
 *
 * The kernel signals changes of its table, so looking again costs one poll(). Blocks a little; not
 * thread-safe. */
#ifndef KEEL_SYS_MOUNTS_H
#define KEEL_SYS_MOUNTS_H

#include "base/err.h"
#include "base/mount_table.h"

struct mounts {
    int fd; /* -1: not opened yet */
    struct arena arena;
    struct mount_table table;
    uint64_t version; /* changes with the table */
};
#define MOUNTS_NONE ((struct mounts){.fd = -1})
void mounts_done(struct mounts *m);

/* If it cannot be read, keel itself runs in a sandbox. */
#define NESTED_SANDBOX_HINT                                                                        \
    "keel runs in a sandbox without namespaces, where a second one cannot be built. The first "    \
    "one confines everything that runs here: run the command without keel, or start keel outside " \
    "of it"

/* *ret_table lives until the next call. */
MUST_USE struct err *mounts_look(struct mounts *m, const struct mount_table **ret_table);

#endif
