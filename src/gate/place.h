/* place.h - a path as it was given, and where it leads once its links are followed. */
#ifndef KEEL_GATE_PLACE_H
#define KEEL_GATE_PLACE_H

#include "base/arena.h"

#define PATH_MAX_BYTES 4096 /* a longer one leads nowhere */
#define PLACE_MAX_LINKS 40  /* on the way, as the kernel has it */

/* What kind of place it is (gate/reach.h). */
enum reach { REACH_OUTSIDE, REACH_FREE, REACH_SECRET };

/* What a file that is to be written is to git (gate/git_places.h). */
enum git_place {
    GIT_PLACE_NONE,
    GIT_PLACE_INSIDE,    /* of a git directory, by whatever name, and obeyed there */
    GIT_PLACE_COMPLETES, /* with it, a directory is one */
    GIT_PLACE_NAMED,     /* by the configuration of a repository */
};

struct protected_place;

struct place {
    const char *given; /* absolute; NULL: there is none, or it cannot be told */
    const char *real;  /* without links and ".." as far as it exists; NULL: it leads nowhere */
    /* What it was called on the way, after one link and before the next. */
    const char **via;
    size_t n_via;
    /* Where it leads, if that was looked at (gate_prepare): else REACH_OUTSIDE, and not. */
    enum reach reach;
    bool is_dir;
    /* If it is to be written: who obeys a file of its name (base/protected_places.h), which may be
     * NULL, and what git makes of it. */
    const struct protected_place *guarded;
    enum git_place git;
    const char *git_dir; /* the directory that is git's, or its repository's */
};

/* Follows links and ".." in `path` as the kernel does, which is the given one, or what it was
 * before
 * ".." was taken out of the text. What does not exist is kept as it is. Blocks; everything lives in
 * `a`. */
struct place place_find(struct arena *a, const char *given, const char *path) MUST_USE;

/* What was seen to be no link, so that many paths that begin alike cost little more than one.
 * Zeroed but for the arena; for one moment only, since it does not notice what changes. */
struct seen_paths {
    struct arena *arena;
    struct seen_path *slots; /* by a hash */
    size_t n, n_slots;
};
/* As place_find(). */
struct place place_find_again(struct arena *a, const char *given, const char *path,
                              struct seen_paths *seen) MUST_USE;

/* The same without looking: it leads where it says. */
struct place place_unseen(const char *given);

/* Is the path this directory, or below it? Both are absolute and without a slash at the end. */
bool place_is_in(const char *path, const char *directory);

/* Two names of one directory. */
struct alias {
    const char *given, *real;
};
/* The path below `from` as one below `to`; NULL: it is not below it. */
const char *place_rename(struct arena *a, const char *path, const char *from, const char *to);

#endif
