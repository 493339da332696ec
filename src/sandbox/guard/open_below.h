/* open_below.h - opening what lies below a directory, without following any link on the way.
 *
 * A command in the background may exchange directories for links at any time: what keel does in a
 * writable place it does through these. Where `unlocks` is not NULL, directories that may not be
 * searched or listed are unlocked (unlock.h). */
#ifndef KEEL_SANDBOX_GUARD_OPEN_BELOW_H
#define KEEL_SANDBOX_GUARD_OPEN_BELOW_H

#include "base/str.h"

struct unlocks;

/* The directory `path` ("": the root itself), to be listed; -1 and errno. */
int below_open_dir(int root, const char *path, struct unlocks *unlocks);
/* The directory that `path` is in, to be searched (O_PATH); *ret_name is its name there. */
int below_open_parent(int root, const char *path, const char **ret_name, struct unlocks *unlocks);

/* The shortest part of `path`, from its beginning, that is a link; all of it if there is none. */
struct str below_first_link(int root, const char *path);

/* Does `path` lead elsewhere than its name says: is it, or a directory on the way from `base` to
 * it, a link, "." or ".."? What is not there does not. `base` is canonical and above it. */
bool below_has_link(const char *base, const char *path);

#endif
