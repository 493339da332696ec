/* open_inside.h - opens what lies in a directory, through links that do not leave it.
 *
 * For files of others: a link in their directory may lead to another file of theirs, not to one of
 * the person's. By openat2(); where the kernel or a filter of system calls does not have it, no
 * link is followed at all. */
#ifndef KEEL_SYS_OPEN_INSIDE_H
#define KEEL_SYS_OPEN_INSIDE_H

#include "base/mem.h"

/* `path` is relative to the directory, `flags` as for open(); not O_CREAT. A descriptor, closed on
 * exec, or -1 with errno. EXDEV: it leads out of the directory. ELOOP: there are too many links, or
 * one that is not followed. */
int open_inside(int dir_fd, const char *path, int flags) MUST_USE;

#endif
