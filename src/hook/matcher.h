/* matcher.h - which tools, triggers or reasons a group of hooks is for.
 *
 * "" and "*" match everything. A name, or names with | or commas between them, match exactly these:
 * "Bash", "Edit|Write", "Bash, Read". Anything else is a regular expression that is found somewhere
 * in the text, as in Claude Code: "mcp__db__", "Notebook.*", "^Edit$". Case counts. */
#ifndef KEEL_HOOK_MATCHER_H
#define KEEL_HOOK_MATCHER_H

#include "base/arena.h"
#include "base/err.h"

struct matcher;

/* With `names_are_regex` a name is a regular expression, too: "Edit" then is in "NotebookEdit".
 * ERR_VALIDATION says what is wrong with the pattern. */
MUST_USE struct err *matcher_new(struct str pattern, bool names_are_regex,
                                 struct matcher **ret_matcher);
void matcher_free(struct matcher *m);
DEFINE_AUTO_PTR(matcher, matcher_free)

/* The names that it stands for, with | between them; empty: it is not made of names. */
struct str matcher_names(const struct matcher *m);

/* One that takes too long to find out counts as a match: the hook can look for itself. */
bool matcher_matches(const struct matcher *m, struct str text);

#endif
