/* protected_places.h - names of files that other programs execute or obey: shells, editors, version
 * control, agents, builds.
 *
 * One table for every writer on behalf of a model: Write and Edit refuse some of these names and
 * ask about others; the sandbox keeps commands from writing those that it can. A row names the
 * program that obeys the file, as a reason. Pure. */
#ifndef KEEL_BASE_PROTECTED_PLACES_H
#define KEEL_BASE_PROTECTED_PLACES_H

#include "base/str.h"

enum protected_how {
    /* No tool writes it, in any mode. */
    PLACE_REFUSED = 1 << 0,
    /* Ordinary work in a project, but obeyed by others later: tools ask even where files may
     * otherwise be changed without a question. Commands may write it. */
    PLACE_ASKED = 1 << 1,
    /* Commands do not write it, at the top of a workspace and of each repository in it. */
    PLACE_KEPT = 1 << 2,
    /* Only where the directory is somebody's home. */
    PLACE_OF_HOME = 1 << 3,
    /* Commands write it, as they switch branches, and the person learns of it. At the same
     * places. */
    PLACE_REPORTED = 1 << 4,
    /* Of a version control other than git: kept from commands wherever it has a repository. */
    PLACE_OF_REPOSITORY = 1 << 5,
};

struct protected_place {
    const char *path; /* a name, or several with slashes: a file, or a directory and its content */
    unsigned how;     /* enum protected_how */
    const char *why;
};
extern const struct protected_place protected_places[]; /* ends with a NULL path */

/* The strictest row for a path, at any depth below `root`, or for its place in `home`, which may be
 * NULL. NULL: no row. `root` itself may have such a name, or be in such a place. Ignores case,
 * because some file systems do. Paths are absolute, without links. */
const struct protected_place *protected_place_find(const char *path, const char *root,
                                                   const char *home);

#endif
