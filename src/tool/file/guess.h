/* guess.h - guesses which existing path is meant by one that does not exist: its missing parts may
 * differ in case, be misspelt or only look the same (base/looks.h). */
#ifndef KEEL_TOOL_FILE_GUESS_H
#define KEEL_TOOL_FILE_GUESS_H

#include "port/tool.h"

struct path_guess {
    const char *path; /* the whole path; NULL: nothing is alike */
    const char *dir;  /* the directory that may hold the path, or the nearest one */
    bool has_dir;     /* only the last part of the path is missing */
};

/* `target` is the path without links. The result is in `a`. Reads directories, so it blocks. It
 * guesses no hidden path and follows no link. */
struct path_guess path_guess(struct arena *a, const char *absolute_path, const char *target,
                             const struct path_filter *hidden) MUST_USE;

#endif
