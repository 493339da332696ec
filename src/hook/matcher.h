/* matcher.h - which tools, triggers or reasons a group of hooks is for.
 *
 * "" and "*" match everything. A name, or a list of names separated by | or commas, matches exactly
 * these: "Bash", "Edit|Write", "Bash, Read". Anything else is a regular expression that may match
 * anywhere in the text, as in Claude Code: "mcp__db__", "Notebook.*", "^Edit$". Case matters. */
#ifndef KEEL_HOOK_MATCHER_H
#define KEEL_HOOK_MATCHER_H

#include "base/arena.h"
#include "base/err.h"

struct matcher;

/* With `names_are_regex` a name is a regular expression too: "Edit" then matches "NotebookEdit".
 * ERR_VALIDATION says what is wrong with the pattern. */
MUST_USE struct err *matcher_new(struct str pattern, bool names_are_regex,
                                 struct matcher **ret_matcher);
void matcher_free(struct matcher *m);
DEFINE_AUTO_PTR(matcher, matcher_free)

/* Its names, separated by |; empty: it is not a list of names. */
struct str matcher_names(const struct matcher *m);

/* A match that takes too long counts as a match: the hook can decide itself. */
bool matcher_matches(const struct matcher *m, struct str text);

#endif
