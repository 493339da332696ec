/* todos.c - the todo list in the state of the tools. */
#include "port/todos.h"

#include "base/clip.h"

const struct json *todos_get(const struct tool_state *s)
{
    return tool_state_get(s, STATE_TODOS, STATE_UNNAMED);
}

void todos_set(struct tool_state *s, const struct json *list)
{
    tool_state_set(s, STATE_TODOS, STATE_UNNAMED, list);
}

bool todo_is_done(const struct json *item)
{
    return str_is(json_get_text(item, "status"), "completed");
}

void todo_add_content(const struct json *item, size_t max_chars, struct strbuf *out)
{
    size_t start = out->n;

    clip_line(out, json_get_text(item, "content"), max_chars);
    for (char *c = out->p + start; c < out->p + out->n; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
}

void todo_add_line(const struct json *item, size_t max_chars, struct strbuf *out)
{
    bool is_active = str_is(json_get_text(item, "status"), "in_progress");

    strbuf_add_cstr(out, todo_is_done(item) ? "[x] " : is_active ? "[>] " : "[ ] ");
    todo_add_content(item, max_chars, out);
}
