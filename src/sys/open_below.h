/* open_below.h - opens what lies below a directory, through no link on the way.
 *
 * A command may exchange directories for links at any time, and make paths that are longer than
 * the kernel takes at once: these are gone in steps. */
#ifndef KEEL_SYS_OPEN_BELOW_H
#define KEEL_SYS_OPEN_BELOW_H

#include "base/mem.h"

/* `path` is relative ("": the root itself), without "." and ".."; `flags` as for open(), without
 * O_CREAT. A descriptor that is closed on exec, or -1 and errno; ELOOP: there is a link. */
int open_below(int root, const char *path, int flags) MUST_USE;

#endif
