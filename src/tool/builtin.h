/* builtin.h - keel's own tools, one file each. */
#ifndef KEEL_TOOL_BUILTIN_H
#define KEEL_TOOL_BUILTIN_H

#include "port/tool.h"

extern struct tool tool_bash;
extern struct tool tool_bash_output;
extern struct tool tool_kill_shell;
extern struct tool tool_read;
extern struct tool tool_write;
extern struct tool tool_edit;
extern struct tool tool_notebook_edit;
extern struct tool tool_glob;
extern struct tool tool_grep;
extern struct tool tool_web_fetch;
extern struct tool tool_web_search;
extern struct tool tool_web_search_model; /* replaces it where no service is configured */
extern struct tool tool_todo_write;
extern struct tool tool_ask_user_question;
extern struct tool tool_exit_plan_mode;
extern struct tool tool_tool_output;

extern struct tool *const builtin_tools[]; /* all but that one; ends with NULL */

#endif
