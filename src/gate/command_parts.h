/* command_parts.h - does a pattern match any command in a line, however it is written? */
#ifndef KEEL_GATE_COMMAND_PARTS_H
#define KEEL_GATE_COMMAND_PARTS_H

#include "gate/pattern.h"

/* Cuts the line wherever a command could start and compares every part: without its quotes, its
 * redirections and the words before the program, which counts by its last name. A part that a
 * variable or a glob completes is unclear when the pattern may match what comes of it. */
enum match command_match_parts(struct str pattern, struct str line);

/* The pattern against this text; in command.c. */
bool command_pattern_matches(struct str pattern, struct str command);

#endif
