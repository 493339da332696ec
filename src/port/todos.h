/* todos.h - the model's todo list: STATE_TODOS, an array of
 *
 *     {"content":..., "status":"pending"|"in_progress"|"completed", "activeForm":...}
 */
#ifndef KEEL_PORT_TODOS_H
#define KEEL_PORT_TODOS_H

#include "port/tool_state.h"

/* NULL: there was never one. Borrowed from the state. */
const struct json *todos_get(const struct tool_state *s);
void todos_set(struct tool_state *s, const struct json *list);

bool todo_is_done(const struct json *item);
/* Appends "[x] " (done), "[>] " (in progress) or "[ ] ", and the content on one line of at most
 * this length. */
void todo_add_line(const struct json *item, size_t max_chars, struct strbuf *out);
/* The content alone. */
void todo_add_content(const struct json *item, size_t max_chars, struct strbuf *out);

#endif
