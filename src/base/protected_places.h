/* protected_places.h - names of files that others execute or obey when they find them: shells,
 * editors, version control, agents, builds.
 *
 * One table for all who write for a model: Write and Edit refuse some of these names and ask about
 * others, the sandbox keeps commands from writing those that it can keep from them. A row says who
 * obeys the file, so that whoever adds one has a reason. Pure. */
#ifndef KEEL_BASE_PROTECTED_PLACES_H
#define KEEL_BASE_PROTECTED_PLACES_H

#include "base/str.h"

enum protected_how {
    /* No tool writes it, in any mode. */
    PLACE_REFUSED = 1 << 0,
    /* Ordinary work of whoever looks after a project, but obeyed by others later: tools ask also
     * where files may otherwise be changed without a question. Commands may write it. */
    PLACE_ASKED = 1 << 1,
    /* Commands do not write it, at the top of a workspace and of each repository in it. */
    PLACE_KEPT = 1 << 2,
    /* Only where the directory is somebody's home. */
    PLACE_OF_HOME = 1 << 3,
    /* Commands write it, as they switch branches, and the person learns of it. There too. */
    PLACE_REPORTED = 1 << 4,
    /* Of another version control than git: kept from commands wherever a repository of it is. */
    PLACE_OF_REPOSITORY = 1 << 5,
};

struct protected_place {
    const char
        *path;    /* a name, or names with slashes between them: a file, or all in a directory */
    unsigned how; /* enum protected_how */
    const char *why;
};
extern const struct protected_place protected_places[]; /* ends with a NULL path */

/* The strictest row that holds for a path, at any depth below `root`, or for its place in `home`,
 * which may be NULL; NULL: none does. `root` may itself have such a name, or lie in such a place.
 * Case is ignored: on some file systems it does not count. Absolute paths, without links. */
const struct protected_place *protected_place_find(const char *path, const char *root,
                                                   const char *home);

#endif
