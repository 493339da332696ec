/* news.h - what the model reads about background commands that ended while it did something else.
 *
 * Each end is reported once, and not at all where BashOutput or KillShell have shown it. What ended
 * after the last request of a process is reported by the next one: the session's state remembers.
 */
#ifndef KEEL_TOOL_SHELL_NEWS_H
#define KEEL_TOOL_SHELL_NEWS_H

#include "port/blob.h"
#include "port/tool_state.h"

/* How such a text begins; a replay knows it by that. */
#define NEWS_BEGIN "[Background commands have ended. "

/* Appends id, command, outcome and the end of the output of each, and how to read the rest;
 * nothing, if there is nothing new. They count as told. */
void shell_news_add(struct tool_state *s, struct strbuf *out);

/* Before the session is closed, when none runs any more: stores what the model has not read, so
 * that tool_output shows it in a later process. `tell`, which may be NULL, gets a line for the
 * person about each that was stopped. In a task. */
void shell_news_store(struct tool_state *s, struct blob_store *blobs,
                      void (*tell)(void *self, struct str line), void *self);

#endif
