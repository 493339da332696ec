/* open_plain.h - opens paths that must hold no link.
 *
 * For paths that were resolved and decided about: a link that was put there since would lead
 * elsewhere. Paths are absolute, without "." and "..". They are opened by openat2(), or part by
 * part where the kernel or a filter of system calls lacks it. These calls return a descriptor,
 * closed on exec, or -1 with errno. ELOOP: a link is on the way. */
#ifndef KEEL_SYS_OPEN_PLAIN_H
#define KEEL_SYS_OPEN_PLAIN_H

#include "base/mem.h"

/* `flags` as for open(); not O_CREAT. */
int open_plain(const char *path, int flags) MUST_USE;

/* Opens the directory of the path's last part with O_PATH, for calls that end in "at". If it is
 * missing, the nearest one above. *ret_rest points into the path: what to find or create in the
 * directory. "." for "/" itself. */
int open_plain_above(const char *path, const char **ret_rest) MUST_USE;

#endif
