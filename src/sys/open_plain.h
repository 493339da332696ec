/* open_plain.h - opens paths that must hold no link.
 *
 * For paths that were resolved and decided about: a link that somebody has put there since would
 * lead elsewhere. Paths are absolute, without "." and "..". By openat2(), or part by part where the
 * kernel or a filter of system calls does not have it. These calls return a descriptor, closed on
 * exec, or -1 with errno; ELOOP: there is a link. */
#ifndef KEEL_SYS_OPEN_PLAIN_H
#define KEEL_SYS_OPEN_PLAIN_H

#include "base/mem.h"

/* `flags` as for open(); not O_CREAT. */
int open_plain(const char *path, int flags) MUST_USE;

/* The directory that the path's last part is in, for the calls that end in "at" (O_PATH). Where it
 * is missing, the nearest above it. *ret_rest points into the path: what is to be found, or made,
 * in the directory. "." for "/" itself. */
int open_plain_above(const char *path, const char **ret_rest) MUST_USE;

#endif
