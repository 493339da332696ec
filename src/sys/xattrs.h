/* xattrs.h - the extended attributes of a file or directory as one text: access lists,
 * capabilities, and the notes of people and programs under "user.". Labels of the system are not
 * touched.
 *
 * The same attributes give the same text, so its hash shows whether they have changed. A path is
 * /proc/self/fd/N: no link leads away from it. All calls block. */
#ifndef KEEL_SYS_XATTRS_H
#define KEEL_SYS_XATTRS_H

#include "base/strbuf.h"

#define XATTRS_MAX_BYTES ((size_t)1 << 20)

/* Are there any? For a name in a directory, through no link; faster than reading. */
bool xattrs_exist(int dir_fd, const char *name);
/* Appends them, or nothing if there are none. False: they cannot be read; errno says why. */
bool xattrs_read(const char *path, struct strbuf *out);
/* Sets these and removes all others. False: not all could be set. */
bool xattrs_write(const char *path, struct str text);

/* For a file that replaces another with new content: copies all but capabilities, which the kernel
 * removes from a file that is written to. Descriptors may be O_PATH. */
bool xattrs_inherit(int from_fd, int to_fd);

#endif
