/* child_list.h - child runs of a session, in the order in which they began. */
#ifndef KEEL_SESSION_CHILD_LIST_H
#define KEEL_SESSION_CHILD_LIST_H

#include "engine/run.h"

struct listed_child {
    struct str id, call_id, agent;
    size_t index; /* of the call */
    bool has_ended;
};
struct child_list {
    struct arena arena;
    struct listed_child *items;
    size_t n, room;
};
struct listed_child *child_list_find(const struct child_list *l, struct str id); /* or NULL */
/* Once each. */
struct listed_child *child_list_add(struct child_list *l, const struct event_child *child);
/* The streams of those that a call has begun. */
void child_list_give(const struct child_list *l, struct arena *a, struct given_outcome *outcome);
void child_list_clear(struct child_list *l);

#endif
