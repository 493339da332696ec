/* shown.h - how paths are told: from the working directory on where they are below it. */
#ifndef KEEL_TOOL_FILE_SHOWN_H
#define KEEL_TOOL_FILE_SHOWN_H

#include "port/tool.h"

/* "." for the working directory itself, "src/a.c" below it, else the path as it is: always the end
 * of `absolute_path` but for ".". */
const char *path_shown(const char *cwd, const char *absolute_path);

/* The same as one line of text, quoted where it must be (base/quoted.h): the path itself, or in
 * `a`.
 */
const char *path_quoted(struct arena *a, const char *cwd, const char *absolute_path);

/* The absolute path of what the model gave, quoted or not, in the arena of the result. */
const char *path_given(const struct tool_context *c, struct tool_result *r, struct str given);

/* What to say about a path where nothing is: the working directory, and the file of the workspace
 * that may be meant: the same path from the workspace on, without what other programs put before
 * paths, or a name that is like it. `target` is the path without links. Looks at directories, so it
 * blocks. Nothing is told of what is hidden, nor whether it is there. */
NEVER_NULL MUST_USE struct err *path_missing(const char *absolute_path, const char *target,
                                             const char *cwd, const char *workspace,
                                             const struct path_filter *hidden);

/* Is it, or any directory on the way to it, hidden by a rule? */
bool path_is_hidden(const struct path_filter *hidden, const char *target, bool is_dir);
/* Is any directory on the way to it? */
bool path_is_below_hidden(const struct path_filter *hidden, const char *target);

#endif
