/* locked_file.h - files that this process must not open a second time.
 *
 * A POSIX lock belongs to the process, and closing any descriptor of the file drops it. SQLite
 * locks its database this way. So a store registers its files here, and every place that opens a
 * file whose path comes from elsewhere (a tool, a search, a snapshot) opens it through
 * locked_file_openat(). Files are identified by device and inode, which covers hard links and other
 * names. O_PATH descriptors drop no locks and are always fine.
 *
 * Any thread may call these. */
#ifndef KEEL_SYS_LOCKED_FILE_H
#define KEEL_SYS_LOCKED_FILE_H

#include "base/mem.h"

struct locked_file;

/* Registers the file at `path`; NULL when there is none. Counted: each needs its own free. */
struct locked_file *locked_file_new(const char *path) MUST_USE;
void locked_file_free(struct locked_file *f);

/* openat() that refuses a registered file with EBUSY. No O_CREAT. */
int locked_file_openat(int dir_fd, const char *name, int flags) MUST_USE;

/* For callers that open in another way. Before: would this open a registered file? After: -1 with
 * EBUSY if it did, because a name was exchanged meanwhile. */
bool locked_file_is_at(int dir_fd, const char *name, int flags);
int locked_file_check(int take_fd) MUST_USE;

#endif
