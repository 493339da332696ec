/* history.c - adds to a conversation and reads it. */
#include "model/history.h"

void history_done(struct history *h)
{
    for (size_t i = 0; i < h->n_messages; i++)
        message_unref(h->messages[i]);
    mem_free(h->messages);
    mem_free(h->unix_ms);
    *h = (struct history){0};
}

void history_reserve(struct history *h, size_t n_messages)
{
    if (h->room >= n_messages)
        return;
    h->room = n_messages;
    h->messages = mem_resize(h->messages, n_messages * sizeof *h->messages);
    h->unix_ms = mem_resize(h->unix_ms, n_messages * sizeof *h->unix_ms);
}

void history_add_message(struct history *h, struct message *m, int64_t unix_ms)
{
    if (h->n_messages == h->room)
        history_reserve(h, MAX(h->room * 2, (size_t)4));
    h->messages[h->n_messages] = message_ref(m);
    h->unix_ms[h->n_messages++] = unix_ms;
}

const struct message *const *history_messages(const struct history *h, size_t *ret_n)
{
    *ret_n = h->n_messages;
    return (const struct message *const *)h->messages;
}
