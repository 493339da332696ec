/* history.c - adds to a conversation and reads it. */
#include "model/history.h"

void history_done(struct history *h)
{
    for (size_t i = 0; i < h->n; i++)
        message_unref(h->entries[i].message);
    mem_free(h->entries);
    mem_free(h->messages);
    arena_done(&h->arena);
    *h = (struct history){0};
}

static void make_room(struct history *h, size_t n)
{
    h->room = n;
    h->entries = mem_resize(h->entries, n * sizeof *h->entries);
}

static void make_room_for_messages(struct history *h, size_t n)
{
    h->messages_room = n;
    h->messages = mem_resize(h->messages, n * sizeof *h->messages);
}

void history_reserve(struct history *h, size_t n_messages)
{
    if (h->room < n_messages)
        make_room(h, n_messages);
    if (h->messages_room < n_messages)
        make_room_for_messages(h, n_messages);
}

static struct history_entry *add_entry(struct history *h)
{
    if (h->n == h->room)
        make_room(h, MAX(h->room * 2, (size_t)4));
    return &h->entries[h->n++];
}

void history_add_message(struct history *h, struct message *m, int64_t unix_ms)
{
    *add_entry(h) = (struct history_entry){.id = m->id,
                                           .unix_ms = unix_ms,
                                           .category = ENTRY_CHAT,
                                           .type = str_of(role_name(m->role)),
                                           .message = message_ref(m)};
    if (h->n_messages == h->messages_room)
        make_room_for_messages(h, MAX(h->messages_room * 2, (size_t)4));
    h->messages[h->n_messages++] = m;
}

void history_add_event(struct history *h, struct str id, struct str type, const struct json *data,
                       int64_t unix_ms)
{
    *add_entry(h) = (struct history_entry){.id = arena_str(&h->arena, id),
                                           .unix_ms = unix_ms,
                                           .category = ENTRY_EVENT,
                                           .type = arena_str(&h->arena, type),
                                           .data = data ? json_copy(&h->arena, data) : NULL};
}

const struct message *const *history_messages(const struct history *h, size_t *ret_n)
{
    *ret_n = h->n_messages;
    return h->messages;
}
