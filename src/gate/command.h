/* command.h - patterns over shell commands.
 *
 * No parser of the shell's language: narrowly, a command counts as single when nothing in it could
 * start another one; widely, it is cut wherever another command could start, quoted or not. */
#ifndef KEEL_GATE_COMMAND_H
#define KEEL_GATE_COMMAND_H

#include "gate/pattern.h"

#define COMMAND_MAX_BYTES ((size_t)1 << 20) /* a longer one is unclear */

/* One simple command, with nothing in it that could run or hide another. */
bool command_is_single(struct str command);
enum match command_match(struct str pattern, struct str command, enum reading reading);

#endif
