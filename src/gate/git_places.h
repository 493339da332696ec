/* git_places.h - finds files that git obeys, wherever they are.
 *
 * A name does not identify a git directory: any directory with HEAD, objects and refs, or with HEAD
 * and commondir, is one, and its configuration makes git run programs as soon as git is used there.
 * A repository's configuration may also name other files: a directory of hooks (husky), filters,
 * drivers, included files. */
#ifndef KEEL_GATE_GIT_PLACES_H
#define KEEL_GATE_GIT_PLACES_H

#include "gate/place.h"

/* Fills in git and git_dir of a place that is to be written. `root` is the working directory that
 * holds it: if that is inside a git directory, not all of it is git's. `home` may be NULL.
 * Blocks. */
void git_place_find(struct arena *a, struct place *place, const char *root, const char *home);

#endif
