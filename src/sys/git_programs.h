/* git_programs.h - files in a workspace that git runs because its configuration names them.
 *
 * Commands cannot write the configuration itself. But it may name a directory of hooks (husky), a
 * filter, a diff driver or another file of settings in the workspace, which they could write. All
 * calls block. */
#ifndef KEEL_SYS_GIT_PROGRAMS_H
#define KEEL_SYS_GIT_PROGRAMS_H

#include "base/arena.h"

#include <sys/stat.h>

/* A setting that makes git run or read something. */
struct git_named {
    int use;                         /* enum git_use */
    const char *value, *config_path; /* the file that has the setting */
};

/* A file of settings that was read, to check later whether it is unchanged. */
struct git_stamp {
    const char *path;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

/* The settings of a few files, each before the files that it includes. Zeroed is empty. */
struct git_settings {
    struct arena *arena;
    const char *home; /* may be NULL */
    /* A missing file of a command counts too, if its path has a slash: somebody may be about to
     * write it. */
    bool takes_missing;
    struct git_named *items;
    size_t n, room;
    struct git_stamp *stamps;
    size_t n_stamps, stamp_room;
};
void git_settings_read(struct git_settings *s, const char *path);
/* Reads those of a git directory, and of the one that it shares with others. */
void git_settings_read_dir(struct git_settings *s, const char *git_dir);
void git_settings_read_global(struct git_settings *s);
/* Finds the git directory of a repository whose files are in `top`, by the ".git" there; NULL:
 * none. */
const char *git_dir_find(struct arena *a, const char *top);

bool git_stamps_are_good(const struct git_stamp *stamps, size_t n);

/* Calls `add` with the absolute path of each file or directory that items from `first` on name, for
 * a repository whose files are in `top`, or where its settings say. The paths need not be in a
 * workspace. */
void git_settings_each_path(const struct git_settings *s, size_t first, const char *top,
                            void (*add)(void *self, const char *path), void *self);

/* Calls `add` with the path of each link in a directory of hooks: what it leads to is run as one.
 * `directory` need not be there, or be one. */
void git_hooks_each_link(struct arena *a, const char *directory,
                         void (*add)(void *self, const char *path), void *self);

#endif
