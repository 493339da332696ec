/* git_todo.h - what git keeps of a rebase or cherry-pick that stopped, and runs when somebody goes
 * on with it.
 *
 * A list of things to do may hold lines for the shell ("exec make test"). The name of a merge
 * strategy becomes a part of the name of a program, which git finds in the working tree if there is
 * a slash in it. Pure but for the last. */
#ifndef KEEL_SANDBOX_GUARD_GIT_TODO_H
#define KEEL_SANDBOX_GUARD_GIT_TODO_H

#include "base/strbuf.h"

/* Appends the lines of a list that git would run, trimmed, one a line. */
void git_todo_find(struct str text, struct strbuf *lines);
/* Appends the list without those that are not among `known`, which git_todo_find() has written. Is
 * anything left out? */
bool git_todo_strip(struct str text, struct str known, struct strbuf *out);
/* Does a file "rebase-merge/strategy" name no program of the working tree? */
bool git_strategy_is_plain(struct str text);
/* The same for a file "sequencer/opts". */
bool git_sequencer_is_plain(struct str text);

/* Files of a git directory with such lists; ends with NULL. */
extern const char *const git_todo_paths[];

struct baseline;
struct survey;
/* After a command: lines that it has added go, and so do strategies that are programs; the person
 * is told. Blocks. */
void git_todos_check(const struct baseline *b, const struct survey *s, struct strbuf *notes);

#endif
