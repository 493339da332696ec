/* target.h - what a call is about: the file that was decided about, which no link leads to. */
#ifndef KEEL_TOOL_FILE_TARGET_H
#define KEEL_TOOL_FILE_TARGET_H

#include "port/tool.h"

/* The canonical path of `absolute_path`: the one that the gate looked at, or, if nobody has, what
 * the links on the way lead to now. May wait. In the arena of the result. */
MUST_USE struct err *target_find(const struct tool_context *c, struct tool_result *r,
                                 const char *absolute_path, const char **ret_target);

/* The second half of it, without a gate: blocks, for workers. */
MUST_USE struct err *target_resolve(struct arena *a, const char *absolute_path, const char *cwd,
                                    const char **ret_target);

#endif
