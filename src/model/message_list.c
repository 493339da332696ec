/* message_list.c - fills a list of messages. */
#include "model/message_list.h"

#define MORE 8 /* room for more after the borrowed ones */

static void make_room(struct message_list *l, size_t n)
{
    if (n <= l->room)
        return;
    l->room = MAX(n, l->room * 2);
    l->items = mem_resize(l->items, l->room * sizeof(struct message *));
}

void message_list_add(struct message_list *l, struct message *take_message)
{
    make_room(l, l->n + 1);
    l->items[l->n++] = take_message;
}

void message_list_borrow(struct message_list *l, const struct message_list *from)
{
    make_room(l, from->n + MORE);
    if (from->n)
        memcpy(l->items, from->items, from->n * sizeof(struct message *));
    l->n = l->n_borrowed = from->n;
}

bool message_list_begins(const struct message_list *l, const struct message *const *messages,
                         size_t n)
{
    return l->n <= n &&
           (l->n == 0 || memcmp(l->items, messages, l->n * sizeof(struct message *)) == 0);
}

void message_list_done(struct message_list *l)
{
    for (size_t i = l->n_borrowed; i < l->n; i++)
        message_unref(l->items[i]);
    mem_free(l->items);
    *l = (struct message_list){0};
}
