/* below.h - opening what lies below a directory, without following any link on the way.
 *
 * A command in the background may exchange directories for links at any time: what keel does in a
 * writable place it does through these. */
#ifndef KEEL_SANDBOX_BELOW_H
#define KEEL_SANDBOX_BELOW_H

#include "base/str.h"

/* What lies at `path` ("": the root itself), with flags as for open(), not O_CREAT; closed on exec.
 * With O_PATH | O_NOFOLLOW it may itself be a link. -1 and errno; ELOOP: there is a link. */
int below_open(int root, const char *path, int flags);
/* The directory `path`; -1 and errno. */
int below_open_dir(int root, const char *path);
/* The directory that `path` is in; *ret_name is its name there. */
int below_open_parent(int root, const char *path, const char **ret_name);

/* Does `path` lead elsewhere than its name says: is it, or a directory on the way from `base` to
 * it, a link, "." or ".."? What is not there does not. `base` is canonical and above it. */
bool below_has_link(const char *base, const char *path);

#endif
