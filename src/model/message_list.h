/* message_list.h - messages in a row: references, or borrowed. */
#ifndef KEEL_MODEL_MESSAGE_LIST_H
#define KEEL_MODEL_MESSAGE_LIST_H

#include "model/message.h"

struct message_list {
    struct message **items;
    size_t n, room;
    size_t n_borrowed; /* the first ones: no reference to them is held */
};

void message_list_done(struct message_list *l); /* a zeroed list is empty */

void message_list_add(struct message_list *l, struct message *take_message);
/* All of another one, into an empty one: that one must live longer. */
void message_list_borrow(struct message_list *l, const struct message_list *from);
/* Do these messages begin with those of the list? The very ones: messages never change, so what was
 * made of them is what would be made of them now. */
bool message_list_begins(const struct message_list *l, const struct message *const *messages,
                         size_t n);

#endif
