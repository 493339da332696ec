/* message_list.h - a sequence of messages, referenced or borrowed. */
#ifndef KEEL_MODEL_MESSAGE_LIST_H
#define KEEL_MODEL_MESSAGE_LIST_H

#include "model/message.h"

struct message_list {
    struct message **items;
    size_t n, room;
    size_t n_borrowed; /* the first ones, without references */
};

void message_list_done(struct message_list *l); /* a zeroed list is empty */

void message_list_add(struct message_list *l, struct message *take_message);
/* Copies another list into an empty one; the other list must live longer. */
void message_list_borrow(struct message_list *l, const struct message_list *from);
/* Does the list begin these messages? Compares pointers: messages never change, so results derived
 * from them stay valid. */
bool message_list_begins(const struct message_list *l, const struct message *const *messages,
                         size_t n);

#endif
