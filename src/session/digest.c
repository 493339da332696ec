/* digest.c - events as a few words and numbers. */
#include "session/digest.h"

#define PREVIEW_BYTES 200

static struct str first_line(struct str text)
{
    size_t end = str_find_char(text, '\n');

    return str_slice(text, 0, MIN(end == STR_NONE ? text.n : end, (size_t)PREVIEW_BYTES));
}

/* A compaction counts when its last message is there. */
static bool is_whole(const struct event_message *m)
{
    return m->n_of == 0 || m->index + 1 == m->n_of;
}

/* Messages are gone, and none came in their place. */
static bool is_emptied(const struct event *e)
{
    const struct event_message *m = &e->body.message;

    return e->type == EVENT_HISTORY && !m->message &&
           (strcmp(m->mutation, "rewind") == 0 || strcmp(m->mutation, "clear") == 0);
}

uint64_t digest_n_messages(const struct store_summary *u)
{
    return u->n_messages == STORE_NO_MESSAGES ? 0 : u->n_messages;
}

bool digest_event(struct store_summary *u, struct arena *a, const struct event *e, bool *is_copy)
{
    if (e->type == EVENT_HISTORY && strcmp(e->body.message.mutation, "fork-base") == 0)
        *is_copy = true;
    if (e->type == EVENT_RUN_BEGIN) {
        u->provider = arena_str(a, e->body.run.provider);
        u->model = arena_str(a, e->body.run.model);
        if (e->turn == 1 && !*is_copy)
            u->preview = arena_str(a, first_line(e->body.run.input));
        return true;
    }
    if (e->type == EVENT_HISTORY && e->body.message.message && is_whole(&e->body.message)) {
        u->n_messages = e->body.message.index + 1;
        return true;
    }
    if (is_emptied(e)) {
        u->n_messages = STORE_NO_MESSAGES;
        return true;
    }
    return false;
}
