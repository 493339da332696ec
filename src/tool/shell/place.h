/* place.h - where a session works after a command that changed its directory.
 *
 * Inside the workspace and the added directories it follows the command. Outside it stays where it
 * was: a model that had a look at /tmp would else go on there, where relative paths mean nothing of
 * the project's. A directory that is gone gives way to the workspace. */
#ifndef KEEL_TOOL_SHELL_PLACE_H
#define KEEL_TOOL_SHELL_PLACE_H

#include "port/tool.h"

/* `place`: where the shell ended, NULL if it did not say; `before`: where the command began. A
 * sentence for the model is appended when the two differ. Blocks a little. */
void place_follow(const struct tool_context *c, const char *before, const char *place,
                  struct strbuf *out);

#endif
