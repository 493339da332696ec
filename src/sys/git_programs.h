/* git_programs.h - files in a workspace that git runs because its configuration says so.
 *
 * The configuration itself cannot be written by commands, but it may name a directory of hooks
 * (husky), a filter, a diff driver or a further file of settings in the workspace, where they could
 * be. All of it blocks. */
#ifndef KEEL_SYS_GIT_PROGRAMS_H
#define KEEL_SYS_GIT_PROGRAMS_H

#include "base/arena.h"

#include <sys/stat.h>

/* A setting that makes git run or read something. */
struct git_named {
    int use;                         /* enum git_use */
    const char *value, *config_path; /* in which file it stands */
};

/* What files of settings were read, to tell later whether they still are what they were. */
struct git_stamp {
    const char *path;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

/* Settings of a few files, each before those that it includes. Zeroed is empty. */
struct git_settings {
    struct arena *arena;
    const char *home; /* may be NULL */
    /* A file of a command that is not there counts too, where its path has a slash: somebody may be
     * about to write it. */
    bool takes_missing;
    struct git_named *items;
    size_t n, room;
    struct git_stamp *stamps;
    size_t n_stamps, stamp_room;
};
void git_settings_read(struct git_settings *s, const char *path);
/* Those of a git directory, and of the one that it shares with others. */
void git_settings_read_dir(struct git_settings *s, const char *git_dir);
void git_settings_read_global(struct git_settings *s);
/* The git directory of a repository whose files are in `top`, by the ".git" there; NULL: none. */
const char *git_dir_find(struct arena *a, const char *top);

bool git_stamps_are_good(const struct git_stamp *stamps, size_t n);

/* Calls `add` with the absolute path of each file or directory that items from `first` on name, for
 * a repository whose files are in `top`, or where its settings say they are; not only of those in a
 * workspace. */
void git_settings_each_path(const struct git_settings *s, size_t first, const char *top,
                            void (*add)(void *self, const char *path), void *self);

/* Calls `add` with the path of each link in a directory of hooks: what it leads to is run as one.
 * `directory` need not be there, or be one. */
void git_hooks_each_link(struct arena *a, const char *directory,
                         void (*add)(void *self, const char *path), void *self);

#endif
