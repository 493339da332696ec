/* guess.h - what may be meant by a path where nothing is: one whose missing parts have other names
 * that are like them, in another case or misspelt, or that look the same (base/looks.h). */
#ifndef KEEL_TOOL_FILE_GUESS_H
#define KEEL_TOOL_FILE_GUESS_H

#include "port/tool.h"

struct path_guess {
    const char *path; /* all of it; NULL: nothing is alike */
    const char *dir;  /* the directory in which the path, or what is nearest to it, may be */
    bool has_dir;     /* only the last part of the path is missing */
};

/* `target` is the path without links. Everything lives in `a`. Reads directories, so it blocks;
 * what is hidden is not guessed, and links are not followed. */
struct path_guess path_guess(struct arena *a, const char *absolute_path, const char *target,
                             const struct path_filter *hidden) MUST_USE;

#endif
