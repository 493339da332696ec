/* git_named.h - what the person's own settings of git name in a working tree that a command has
 * made.
 *
 * Hooks and programs may be named relative to the working tree: `core.hooksPath = .husky`. In the
 * person's own tree these are protected (places.h). In another one that is led to the same settings
 * they are whatever the command has put there. Paths are relative to the root of a survey. All of
 * it blocks. */
#ifndef KEEL_SANDBOX_GUARD_GIT_NAMED_H
#define KEEL_SANDBOX_GUARD_GIT_NAMED_H

#include "sandbox/guard/survey.h"

/* Do the settings of the git directory, or of the one that it shares them with, name anything in
 * the working tree `top`, be it there or not? */
bool git_dir_names_any_in(const struct survey *s, const char *git_dir, const char *top) MUST_USE;

/* Calls `found` for what the settings of all repositories name in it. */
void git_global_each_in(const struct survey *s, const char *top,
                        void (*found)(void *self, const char *path), void *self);

#endif
