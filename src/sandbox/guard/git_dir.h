/* git_dir.h - where the git directory of a repository is, and what of it is to be trusted.
 *
 * Paths are relative to the root of a survey. All of it blocks. */
#ifndef KEEL_SANDBOX_GUARD_GIT_DIR_H
#define KEEL_SANDBOX_GUARD_GIT_DIR_H

#include "base/strbuf.h"
#include "sandbox/guard/survey.h"

/* Where `name` in the directory `path` leads to: the text of a ".git" file behind "gitdir: ", or
 * that of a "commondir". NULL when it leads out of the root, or in a way that links could bend;
 * else on the heap. */
char *git_dir_resolve(const struct survey *s, const char *path, const char *name) MUST_USE;

/* After a command: looks at every repository that the last look has found. A command may make
 * repositories as git makes them; hooks, and a configuration that could run anything, go aside, and
 * so does what makes a repository of a directory that was there before. */
void git_dirs_check_new(const struct survey *s, struct strbuf *notes);

#endif
