/* reattach.c - what is put back after a compaction, out of what the session knows. */
#include "session/compact.h"

#include "port/todos.h"

/* --- what was asked --- */

/* Is the work on the last message under way, or was it broken off? */
static bool is_open(const struct history *h)
{
    for (size_t i = h->n_messages; i-- > 0;) {
        const struct message *m = h->messages[i];

        if (!m->is_error && m->role != ROLE_SYSTEM)
            return m->role != ROLE_ASSISTANT || m->state != MESSAGE_COMPLETE;
    }
    return false;
}

static const struct message *find_last_of_user(const struct history *h)
{
    for (size_t i = h->n_messages; i-- > 0;)
        if (h->messages[i]->role == ROLE_USER)
            return h->messages[i];
    return NULL;
}

static bool is_put_back(const struct message *m)
{
    return m->n_parts && str_is(m->parts[0].text, REATTACH_NOTE);
}

/* A run may be compacted more than once: its request was then put back before. */
static void add_again(const struct message *m, struct strbuf *out)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (str_starts(m->parts[i].text, S(REATTACH_REQUEST)))
            strbuf_add(out, m->parts[i].text);
}

static struct err *attach_request(void *self, const struct reattaching *r, struct strbuf *out)
{
    const struct history *h = &r->conversation->history;
    const struct message *m = is_open(h) ? find_last_of_user(h) : NULL;
    AUTO(strbuf) struct strbuf text = {0};

    if (!m)
        return NULL;
    if (is_put_back(m)) {
        add_again(m, out);
        return NULL;
    }
    message_text(m, &text);
    if (text.n == 0)
        return NULL;
    strbuf_add_cstr(out, REATTACH_REQUEST);
    strbuf_add(out, strbuf_str(&text));
    return NULL;
}

const struct reattacher reattach_request = {.attach = attach_request};

/* --- what is to be done --- */

#define ITEM_CHARS 300 /* of one item */

static bool has_open_item(const struct json *todos)
{
    json_each (item, todos)
        if (!todo_is_done(item))
            return true;
    return false;
}

static struct err *attach_todos(void *self, const struct reattaching *r, struct strbuf *out)
{
    const struct json *todos = todos_get(r->conversation->state);

    if (!has_open_item(todos))
        return NULL;
    strbuf_add_cstr(out, "The todo list (x: done, >: in progress):");
    json_each (item, todos) {
        strbuf_add_cstr(out, "\n- ");
        todo_add_line(item, ITEM_CHARS, out);
    }
    return NULL;
}

const struct reattacher reattach_todos = {.attach = attach_todos};
