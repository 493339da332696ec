/* open_below.h - opens what is below a directory, and nothing outside of it.
 *
 * A command may replace directories with links at any time. It may also make paths that are longer
 * than the kernel takes at once: open_below() walks these in steps. */
#ifndef KEEL_SYS_OPEN_BELOW_H
#define KEEL_SYS_OPEN_BELOW_H

#include "base/mem.h"

/* Follows no link. `path` is relative ("": the root itself), without "." and ".."; `flags` as for
 * open(), without O_CREAT. Returns a descriptor that is closed on exec, or -1 and errno. ELOOP: a
 * link is on the way. */
int open_below(int root, const char *path, int flags) MUST_USE;

/* Follows links that do not leave the directory: a link in somebody's directory may lead to another
 * of their files, but not to one of the user's. Without openat2() it follows no link at all. Same
 * arguments and result; EXDEV: the path leads out of the directory; ELOOP: too many links, or one
 * that is not followed. A file that locked_file.h protects is EBUSY. */
int open_inside(int dir, const char *path, int flags) MUST_USE;

#endif
