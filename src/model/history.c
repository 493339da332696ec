/* history.c - adding to a conversation and reading it. */
#include "model/history.h"

void history_done(struct history *h)
{
    for (size_t i = 0; i < h->n; i++)
        message_unref(h->entries[i].message);
    arena_done(&h->arena);
    *h = (struct history){0};
}

static struct history_entry *add(struct history *h)
{
    h->entries = arena_grow(&h->arena, h->entries, h->n, &h->room, sizeof *h->entries);
    return &h->entries[h->n++];
}

void history_add_message(struct history *h, struct message *m, int64_t unix_ms)
{
    *add(h) = (struct history_entry){.id = m->id,
                                     .unix_ms = unix_ms,
                                     .category = ENTRY_CHAT,
                                     .type = str_of(role_name(m->role)),
                                     .message = message_ref(m)};
    h->n_messages++;
}

void history_add_event(struct history *h, struct str id, struct str type, const struct json *data,
                       int64_t unix_ms)
{
    *add(h) = (struct history_entry){.id = arena_str(&h->arena, id),
                                     .unix_ms = unix_ms,
                                     .category = ENTRY_EVENT,
                                     .type = arena_str(&h->arena, type),
                                     .data = data ? json_copy(&h->arena, data) : NULL};
}

const struct message *const *history_messages(const struct history *h, struct arena *a,
                                              size_t *ret_n)
{
    const struct message **messages = ARENA_ARRAY(a, h->n_messages, const struct message *);
    size_t n = 0;

    for (size_t i = 0; i < h->n; i++)
        if (h->entries[i].category == ENTRY_CHAT)
            messages[n++] = h->entries[i].message;
    *ret_n = n;
    return messages;
}
