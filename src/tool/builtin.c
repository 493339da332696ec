/* builtin.c - keel's own tools, in the order in which models see them. */
#include "tool/builtin.h"

struct tool *const builtin_tools[] = {
    &tool_bash,
    &tool_bash_output,
    &tool_kill_shell,
    &tool_read,
    &tool_write,
    &tool_edit,
    &tool_notebook_edit,
    &tool_glob,
    &tool_grep,
    &tool_web_fetch,
    &tool_web_search,
    &tool_todo_write,
    &tool_ask_user_question,
    &tool_exit_plan_mode,
    &tool_tool_output,
    NULL,
};
