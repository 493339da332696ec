/* git_state.h - how a git repository stands, read from a few small files.
 *
 * git itself is not run: a repository can make it start programs, and a process is more than a
 * prompt may cost. What these files say is checked before a model reads it. Blocks. */
#ifndef KEEL_SDK_PROMPT_GIT_STATE_H
#define KEEL_SDK_PROMPT_GIT_STATE_H

#include "base/arena.h"

/* "on branch topic; main branch: main; a rebase is in progress", as far as it can be told; empty:
 * nothing can. `top` is the directory with ".git", which may be a file (a worktree, a submodule).
 * What comes out lives in `a`. */
struct str git_state_describe(struct arena *a, const char *top) MUST_USE;

#endif
