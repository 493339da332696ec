/* builtin.h - keel's own tools, one file each: a tool's row here is all that others need. */
#ifndef KEEL_TOOL_BUILTIN_H
#define KEEL_TOOL_BUILTIN_H

#include "port/tool.h"

/* In the order in which models see them. */
#define BUILTIN_TOOLS(X)                                                                           \
    X(tool_bash)                                                                                   \
    X(tool_bash_output)                                                                            \
    X(tool_kill_shell)                                                                             \
    X(tool_read)                                                                                   \
    X(tool_write)                                                                                  \
    X(tool_edit)                                                                                   \
    X(tool_notebook_edit)                                                                          \
    X(tool_glob)                                                                                   \
    X(tool_grep)                                                                                   \
    X(tool_web_fetch)                                                                              \
    X(tool_web_search)                                                                             \
    X(tool_todo_write)                                                                             \
    X(tool_ask_user_question)                                                                      \
    X(tool_exit_plan_mode)                                                                         \
    X(tool_tool_output)

#define X(name) extern struct tool name;
BUILTIN_TOOLS(X)
#undef X
extern struct tool tool_web_search_model; /* replaces WebSearch where no service is configured */

extern struct tool *const builtin_tools[]; /* the rows; ends with NULL */

#endif
