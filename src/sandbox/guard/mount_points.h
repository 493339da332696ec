/* mount_points.h - what is made in repositories for mounts to lie upon.
 *
 * What does not exist cannot be mounted read-only, and a command could make it. So before the first
 * command that has mounts keel makes what git would obey, where an empty one means nothing to git:
 * the directory of hooks, a configuration, attributes, the directories of submodules and of further
 * working trees. It is all removed again, as far as it is still empty, before keel leaves the
 * directory, and by the next keel if this one is killed: the baseline has a list of it.
 *
 * "commondir" is not among them: any such file means something to git.
 *
 * Paths are relative to the root of a survey. All of it blocks. */
#ifndef KEEL_SANDBOX_GUARD_MOUNT_POINTS_H
#define KEEL_SANDBOX_GUARD_MOUNT_POINTS_H

#include "sandbox/guard/survey.h"

/* A directory before what is in it. */
struct mount_points {
    char **paths;
    size_t n;
};
void mount_points_done(struct mount_points *c);

/* Adds one that was made earlier, unless it is known. */
void mount_points_add(struct mount_points *c, const char *path);
/* Makes what is missing in each repository that the last look has found. */
void mount_points_make(struct mount_points *c, const struct survey *s);
/* Removes those that `is_needed` says no of, and forgets them. */
void mount_points_remove(struct mount_points *c, int root_fd,
                         bool (*is_needed)(void *self, const char *path), void *self);

#endif
