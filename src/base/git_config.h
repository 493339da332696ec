/* git_config.h - reads git's configuration files: what they set, and what git runs because of it.
 *
 * Pure. The reader takes all that git takes; where it stops, git says that the file is bad. */
#ifndef KEEL_BASE_GIT_CONFIG_H
#define KEEL_BASE_GIT_CONFIG_H

#include "base/arena.h"

struct git_setting {
    struct str section, subsection, key; /* as they are written; letters of any case */
    struct str value;                    /* without quotes and comments; in the arena */
};

struct git_reader {
    struct str rest;
    struct arena *arena;
    struct str section, subsection;
    bool is_bad; /* read so far, and no further */
};
/* False at the end, or where the file is bad. */
bool git_config_next(struct git_reader *r, struct git_setting *ret_setting);

/* Does the file hold only what makes git run nothing? What is not known to be harmless is not. */
bool git_config_is_plain(struct str text);

/* Does `now` set nothing that could make git run something but what `before` sets, too? */
bool git_config_adds_nothing(struct str before, struct str now);

/* What the value of a setting is to git. */
enum git_use {
    GIT_USE_NONE,
    GIT_USE_HOOKS,   /* a directory of programs */
    GIT_USE_CONFIG,  /* a further file of settings */
    GIT_USE_COMMAND, /* a line for the shell, or the path of a program */
    GIT_USE_TREE,    /* where the files of the repository are, to which others are relative */
};
enum git_use git_setting_use(const struct git_setting *s);

#endif
