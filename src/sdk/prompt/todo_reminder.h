/* todo_reminder.h - reminds a model of a todo list that it has forgotten. Pure.
 *
 * What it reads comes with a tool's result, never with the system text. How long ago the list was
 * touched is read from the history, so a resumed session counts on. */
#ifndef KEEL_SDK_PROMPT_TODO_REMINDER_H
#define KEEL_SDK_PROMPT_TODO_REMINDER_H

#include "base/json.h"
#include "model/history.h"

/* Rounds with calls without TodoWrite until the reminder comes, and until it comes again. */
#define TODO_REMINDER_ROUNDS 10

/* Appends the reminder if it is due; the history ends with the answer whose calls are run now.
 * `todos` is the session's list; may be NULL. */
void todo_reminder_write(const struct history *h, const struct json *todos, struct strbuf *out);

#endif
