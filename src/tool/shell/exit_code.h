/* exit_code.h - exit codes that are answers, not failures. Pure. */
#ifndef KEEL_TOOL_SHELL_EXIT_CODE_H
#define KEEL_TOOL_SHELL_EXIT_CODE_H

#include "base/str.h"

/* What the code says where the last command of the line answers with it: "nothing matches" of
 * grep's 1. NULL: it says that something failed. */
const char *exit_code_meaning(struct str command, int exit_code, struct str output);

#endif
