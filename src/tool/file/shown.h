/* shown.h - paths in messages: relative to the working directory if they are below it. */
#ifndef KEEL_TOOL_FILE_SHOWN_H
#define KEEL_TOOL_FILE_SHOWN_H

#include "port/tool.h"

/* "." for the working directory itself, "src/a.c" below it, else the path unchanged. Except for
 * ".", the result is a tail of `absolute_path`. */
const char *path_shown(const char *cwd, const char *absolute_path);

/* The same as one line of text, quoted if necessary (base/quoted.h): the path itself, or in `a`. */
const char *path_quoted(struct arena *a, const char *cwd, const char *absolute_path);

/* The absolute path of what the model gave, quoted or not, in the arena of the result. */
const char *path_given(const struct tool_context *c, struct tool_result *r, struct str given);

/* The error for a path that does not exist. It names the working directory and, if there is one,
 * the file of the workspace that may be meant: the path relative to the workspace, without the
 * prefixes that other programs add, or a similar name. `target` is the path without links. Reads
 * directories, so it blocks. Reveals nothing about hidden paths. */
NEVER_NULL MUST_USE struct err *path_missing(const char *absolute_path, const char *target,
                                             const char *cwd, const char *workspace,
                                             const struct path_filter *hidden);

/* Does a rule hide it, or a directory on the way to it? */
bool path_is_hidden(const struct path_filter *hidden, const char *target, bool is_dir);
/* Does a rule hide a directory on the way to it? */
bool path_is_below_hidden(const struct path_filter *hidden, const char *target);

#endif
