/* xattrs.h - extended attributes of a file or directory as one text: access lists, capabilities,
 * and what people and programs note under "user.". Labels that the system gives are left to it.
 *
 * The text is the same for the same attributes, so that its hash says whether they have changed. A
 * path is /proc/self/fd/N: no link leads away from it. All calls block. */
#ifndef KEEL_SYS_XATTRS_H
#define KEEL_SYS_XATTRS_H

#include "base/strbuf.h"

#define XATTRS_MAX_BYTES ((size_t)1 << 20)

/* Are there any? Of a name in a directory, through no link; sooner said than read. */
bool xattrs_exist(int dir_fd, const char *name);
/* Adds them; nothing where there are none. False: they cannot be read; errno says why. */
bool xattrs_read(const char *path, struct strbuf *out);
/* Makes them these, and no others. False: not all could be set. */
bool xattrs_write(const char *path, struct str text);

/* For a file that replaces another with new content: all but capabilities, which the kernel takes
 * from a file that is written to. Descriptors may be O_PATH. */
bool xattrs_inherit(int from_fd, int to_fd);

#endif
