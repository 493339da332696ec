/* names.h - which tool names are meaningful in rules and flags. Pure.
 *
 * A rule for a tool that does not exist never matches, so a misspelt rule would deny nothing. Tools
 * of MCP servers appear later. Tools of other programs whose settings and flags keel reads are
 * known too, though keel lacks them: rules for these have no effect. */
#ifndef KEEL_TOOL_NAMES_H
#define KEEL_TOOL_NAMES_H

#include "base/arena.h"
#include "base/err.h"

/* "Bash", "mcp__db__query", "Web*", "Task". A pattern with a star must match a tool. */
bool tool_name_is_known(struct str name);
/* Is it a tool that only another program has? */
bool tool_name_is_absent(struct str name);
/* The tool of keel that was meant; NULL: none is similar. */
const char *tool_name_guess(struct str name);

/* All names except those of servers: first keel's own, *ret_n_own of them, then those of other
 * programs. In `a`. */
const struct str *tool_names(struct arena *a, size_t *ret_n, size_t *ret_n_own) MUST_USE;

/* ERR_VALIDATION unless the name is known: "--tools: unknown tool "Bsh"", with the nearest name as
 * its hint, or all names. */
MUST_USE struct err *tool_name_check(const char *where, struct str name);

#endif
