/* private_mode.h - files that are closed to others on purpose: what their mode says about them.
 *
 * A table of names (base/secret_places.h) is never complete. A program that keeps a secret closes
 * its file, so the mode tells what the name does not:
 * - For root, a file that root owns and others may not read is private, and so is a directory that
 *   others may neither list nor enter, with all in it. Where everybody may write (/tmp), every
 *   temporary file is like that, and the mode says nothing.
 * - In one's own home, a file with a dot before its name, or in a directory with one, is private if
 *   nobody but its owner may do anything with it (0600, 0400): that is how programs write their
 *   tokens. Where the umask closes every new file, it says nothing.
 * What other users own the kernel keeps from everybody but root. */
#ifndef KEEL_SYS_PRIVATE_MODE_H
#define KEEL_SYS_PRIVATE_MODE_H

#include <stdbool.h>
#include <sys/stat.h>

struct private_user {
    uid_t uid;
    mode_t umask;
    const char *home; /* canonical; NULL: there is none */
};
/* Of this process. */
struct private_user private_user_now(const char *home);

/* Is this entry private, wherever it lies? `path` is absolute and canonical. Pure. */
bool mode_is_private(const struct private_user *u, const char *path, const struct stat *st);

#endif
