/* news.h - what the model reads about background commands that ended while it did something else.
 *
 * Each end is reported once, and not at all if BashOutput or KillShell has shown it. The next
 * process reports what ended after the last request of this one: the session's state remembers. */
#ifndef KEEL_TOOL_SHELL_NEWS_H
#define KEEL_TOOL_SHELL_NEWS_H

#include "port/blob.h"
#include "port/tool_state.h"

/* How such a text begins; a replay recognizes it by that. */
#define NEWS_BEGIN "[Background commands have ended. "

/* Appends the id, command, outcome and end of the output of each, and how to read the rest. Appends
 * nothing if there is no news. The commands then count as seen. */
void shell_news_add(struct tool_state *s, struct strbuf *out);

/* Call it before the session is closed, when no command runs: stores unread output, so that
 * tool_output can show it in a later process. `tell`, which may be NULL, gets a line for the person
 * about each command that was stopped. In a task. */
void shell_news_store(struct tool_state *s, struct blob_store *blobs,
                      void (*tell)(void *self, struct str line), void *self);

#endif
