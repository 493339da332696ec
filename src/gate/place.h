/* place.h - a path as given, and where its links lead. */
#ifndef KEEL_GATE_PLACE_H
#define KEEL_GATE_PLACE_H

#include "base/arena.h"

#define PATH_MAX_BYTES 4096 /* a longer path leads nowhere */
#define PLACE_MAX_LINKS 40  /* on the way, as in the kernel */

/* The kind of a place (gate/reach.h). */
enum reach { REACH_OUTSIDE, REACH_FREE, REACH_SECRET };

/* The role of a file to be written in git (gate/git_places.h). */
enum git_place {
    GIT_PLACE_NONE,
    GIT_PLACE_INSIDE,    /* in a git directory of any name, and obeyed there */
    GIT_PLACE_COMPLETES, /* it would complete a git directory */
    GIT_PLACE_NAMED,     /* named by the configuration of a repository */
};

struct protected_place;

struct place {
    const char *given; /* absolute; NULL: none, or unknown */
    const char *real;  /* without links and ".." as far as it exists; NULL: it leads nowhere */
    /* Its names on the way, after one link and before the next. */
    const char **via;
    size_t n_via;
    /* Its kind, if that was looked up (gate_prepare); REACH_OUTSIDE and false otherwise. */
    enum reach reach;
    bool is_dir;
    /* If it is to be written: which programs obey a file of this name (base/protected_places.h),
     * NULL for none, and its role in git. */
    const struct protected_place *guarded;
    enum git_place git;
    const char *git_dir; /* the git directory, or the directory of its repository */
};

/* Follows links and ".." in `path` as the kernel does. `path` is the given path, perhaps before
 * ".." was removed from its text. Parts that do not exist stay. Blocks. The result is in `a`. */
struct place place_find(struct arena *a, const char *given, const char *path) MUST_USE;

/* Remembers paths that are not links, so that many paths with a common beginning cost little more
 * than one. Zeroed except for the arena. Use it only briefly: it does not notice changes. */
struct seen_paths {
    struct arena *arena;
    struct seen_path *slots; /* by hash */
    size_t n, n_slots;
};
/* As place_find(). */
struct place place_find_again(struct arena *a, const char *given, const char *path,
                              struct seen_paths *seen) MUST_USE;

/* The place without looking: it leads where it says. */
struct place place_unseen(const char *given);

/* Is the path this directory, or below it? Both are absolute, without a slash at the end. */
bool place_is_in(const char *path, const char *directory);

/* Two names of one directory. */
struct alias {
    const char *given, *real;
};
/* Renames a path below `from` to one below `to`; NULL: it is not below it. */
const char *place_rename(struct arena *a, const char *path, const char *from, const char *to);

#endif
