/* notes.h - what was put right after a command, for the model that ran it. */
#ifndef KEEL_TOOL_SHELL_NOTES_H
#define KEEL_TOOL_SHELL_NOTES_H

#include "port/tool.h"

/* Appends the notes, a line each, to the text and to the details of the result. */
void notes_add(struct str notes, struct tool_result *result);

#endif
