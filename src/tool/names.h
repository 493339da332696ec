/* names.h - which names of tools mean something in rules and flags. Pure.
 *
 * A rule for a tool that does not exist never matches, so a misspelt one that forbids would forbid
 * nothing. Tools of servers come later, and tools of the programs whose settings and flags keel
 * reads are known though keel lacks them: rules for these are about nothing, and harm nothing. */
#ifndef KEEL_TOOL_NAMES_H
#define KEEL_TOOL_NAMES_H

#include "base/arena.h"
#include "base/err.h"

/* "Bash", "mcp__db__query", "Web*", "Task". A pattern with a star must fit a tool. */
bool tool_name_is_known(struct str name);
/* Is it a tool that only another program has? */
bool tool_name_is_absent(struct str name);
/* The tool of keel's that was meant; NULL: none is near. */
const char *tool_name_guess(struct str name);

/* All of them but those of servers: keel's own first, *ret_n_own of them, then those that only
 * other programs have. In `a`. */
const struct str *tool_names(struct arena *a, size_t *ret_n, size_t *ret_n_own) MUST_USE;

/* ERR_VALIDATION unless the name is known: "--tools: unknown tool "Bsh"", with the nearest as
 * its hint, or all there are. */
MUST_USE struct err *tool_name_check(const char *where, struct str name);

#endif
