/* git_places.h - files that git obeys wherever they lie, found by looking.
 *
 * A name does not tell that a directory is git's: every directory with HEAD, objects and refs, or
 * with HEAD and commondir, is one, and its configuration makes git run programs as soon as somebody
 * uses git there. And a repository's configuration may name further files: a directory of hooks
 * (husky), filters, drivers, included files. */
#ifndef KEEL_GATE_GIT_PLACES_H
#define KEEL_GATE_GIT_PLACES_H

#include "gate/place.h"

/* Fills in git and git_dir of a place that is to be written. `root` is the directory to work in
 * that holds it: one that lies in a git directory is not all of it git's. `home` may be NULL.
 * Blocks. */
void git_place_find(struct arena *a, struct place *place, const char *root, const char *home);

#endif
