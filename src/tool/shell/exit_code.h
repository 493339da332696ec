/* exit_code.h - exit codes that are answers, not failures. Pure. */
#ifndef KEEL_TOOL_SHELL_EXIT_CODE_H
#define KEEL_TOOL_SHELL_EXIT_CODE_H

#include "base/str.h"

/* The meaning of the exit code if it is an answer of the last command of the line: "nothing
 * matches" for grep's 1. NULL: it is a failure. */
const char *exit_code_meaning(struct str command, int exit_code, struct str output);

#endif
