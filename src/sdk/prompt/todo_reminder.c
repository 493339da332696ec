/* todo_reminder.c - how many rounds ago the list was touched, and what is open in it. */
#include "sdk/prompt/todo_reminder.h"

#include "port/todos.h"

#define BEGIN "<reminder>\n"
#define END "</reminder>"
#define MAX_ITEMS 10
#define MAX_ITEM_CHARS 100

static size_t count_open(const struct json *todos)
{
    size_t n = 0;

    json_each (item, todos)
        n += !todo_is_done(item);
    return n;
}

/* --- when --- */

static bool calls(const struct message *m, const char *tool)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL && (!tool || str_is(m->parts[i].name, tool)))
            return true;
    return false;
}

static bool holds_reminder(const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        for (size_t k = 0; k < m->parts[i].n_content; k++)
            if (m->parts[i].kind == PART_TOOL_RESULT &&
                str_ends(m->parts[i].content[k].text, S(END)))
                return true;
    return false;
}

static bool is_due(const struct history *h)
{
    size_t n_rounds = 0;

    for (size_t i = h->n_messages; i-- > 0 && n_rounds < TODO_REMINDER_ROUNDS;) {
        const struct message *m = h->messages[i];

        if (m->role == ROLE_TOOL && holds_reminder(m))
            return false;
        if (m->role == ROLE_ASSISTANT && calls(m, "TodoWrite"))
            return false;
        n_rounds += m->role == ROLE_ASSISTANT && calls(m, NULL);
    }
    return n_rounds == TODO_REMINDER_ROUNDS;
}

/* --- what --- */

static void add_item(struct strbuf *out, const struct json *item)
{
    strbuf_addf(out, "- %" STR_FMT ": ", STR_ARG(json_get_text(item, "status")));
    todo_add_content(item, MAX_ITEM_CHARS, out);
    strbuf_add_char(out, '\n');
}

void todo_reminder_write(const struct history *h, const struct json *todos, struct strbuf *out)
{
    size_t n_open = count_open(todos), n_shown = 0;

    if (n_open == 0 || !is_due(h))
        return;
    strbuf_addf(out, BEGIN "Your todo list has not changed for %d rounds, and %zu item%s open:\n",
                TODO_REMINDER_ROUNDS, n_open, n_open == 1 ? " is" : "s are");
    json_each (item, todos)
        if (!todo_is_done(item) && n_shown++ < MAX_ITEMS)
            add_item(out, item);
    if (n_open > MAX_ITEMS)
        strbuf_addf(out, "- and %zu more\n", n_open - MAX_ITEMS);
    strbuf_add_cstr(out, "Update it with TodoWrite if it no longer fits your work, then continue. "
                         "This note comes from keel; do not answer it.\n" END);
}
