/* forms.h - the forms in which models of other agents give a command.
 *
 * An argument list is the command line that runs it, or the script of a shell that only runs one;
 * a directory is a cd in a subshell, so that rules and people see where the command runs, and the
 * working directory stays. */
#ifndef KEEL_TOOL_SHELL_FORMS_H
#define KEEL_TOOL_SHELL_FORMS_H

#include "base/json.h"

#define SHELL_MAX_TIMEOUT_MS 600000

/* Of Bash; see struct tool. A longer timeout is the longest. What cannot be meant stays, to be
 * refused. */
void shell_adapt_arguments(struct json *args, struct arena *a);

#endif
