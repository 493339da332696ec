/* missing_paths.h - which of many fixed paths do not exist, without asking for each again.
 *
 * Before every command the gate and the sandbox must know which places of credentials the system
 * has. Nearly all of some 80 are missing, in a dozen directories. As long as such a directory is
 * the same and unchanged, it still lacks what it lacked.
 *
 * It only says what is certain. A directory counts as unchanged when its path leads to the same
 * device and inode with the same time of change, which no program can set, and when that time was
 * past when it was read: two changes within one tick of the kernel's clock have the same time. Its
 * file system must belong to this machine's kernel (sys/dir_names.h). Paths behind a link, on other
 * file systems, or in a directory that may not be entered are never certain. */
#ifndef KEEL_SYS_MISSING_PATHS_H
#define KEEL_SYS_MISSING_PATHS_H

#include "base/arena.h"

#include <sys/types.h>
#include <time.h>

enum { MISSING_PATHS_MAX = 128 };

struct missing_paths {
    const char *paths[MISSING_PATHS_MAX]; /* absolute, borrowed */
    size_t n;
    unsigned char slots[2 * MISSING_PATHS_MAX]; /* by the hash of a path: its number + 1 */
    /* The directory that lacks it, or that lacks the first missing name on the way; -1: not
     * certain. */
    short lacked_by[MISSING_PATHS_MAX];
    struct lacking_dir {
        const char *path;
        dev_t device;
        ino_t inode;
        struct timespec changed;
        bool is_settled; /* the next change will show */
        bool is_fresh;   /* settled, and checked in this look */
        bool is_stale;   /* changed when this look began */
    } *dirs;
    size_t n_dirs, dirs_room;
    struct arena arena;
};
/* The paths that are missing now. */
struct missing_set {
    bool has[MISSING_PATHS_MAX];
};

/* At most MISSING_PATHS_MAX; further paths are never certain. */
void missing_paths_init(struct missing_paths *m, const char *const *paths, size_t n);
void missing_paths_done(struct missing_paths *m);
/* Blocks a little. Not thread-safe. */
void missing_paths_look(struct missing_paths *m, struct missing_set *ret_set);
/* The number of the path; -1: it is not one of them. */
int missing_paths_find(const struct missing_paths *m, const char *path);

/* The same for secret_places_of_system (base/secret_places.h), for the whole process. Any thread
 * may call. */
void missing_of_system_look(struct missing_set *ret_set);
bool missing_of_system_has(const struct missing_set *s, const char *path);

#endif
