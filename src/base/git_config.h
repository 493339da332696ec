/* git_config.h - reads git's configuration files: what they set, and what git runs because of it.
 *
 * Pure. The reader accepts what git accepts. Where it stops, git rejects the file. */
#ifndef KEEL_BASE_GIT_CONFIG_H
#define KEEL_BASE_GIT_CONFIG_H

#include "base/arena.h"

struct git_setting {
    struct str section, subsection, key; /* as written; letters of any case */
    struct str value;                    /* without quotes and comments; in the arena */
};

struct git_reader {
    struct str rest;
    struct arena *arena;
    struct str section, subsection;
    bool is_bad; /* the file is broken after this point */
};
/* False at the end, or where the file is broken. */
bool git_config_next(struct git_reader *r, struct git_setting *ret_setting);

/* Does the file hold only settings that make git run nothing? Unknown settings count as harmful. */
bool git_config_is_plain(struct str text);

/* Does `before` have every setting of `now` that could make git run something? */
bool git_config_adds_nothing(struct str before, struct str now);

/* What git does with the value of a setting. */
enum git_use {
    GIT_USE_NONE,
    GIT_USE_HOOKS,   /* a directory of programs */
    GIT_USE_CONFIG,  /* another file of settings */
    GIT_USE_COMMAND, /* a line for the shell, or the path of a program */
    GIT_USE_TREE,    /* where the files of the repository are; other paths are relative to it */
};
enum git_use git_setting_use(const struct git_setting *s);

#endif
