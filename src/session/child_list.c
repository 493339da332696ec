/* child_list.c - the child runs that a session knows of. */
#include "session/child_list.h"

struct listed_child *child_list_find(const struct child_list *l, struct str id)
{
    for (size_t i = 0; i < l->n; i++)
        if (str_eq(l->items[i].id, id))
            return &l->items[i];
    return NULL;
}

struct listed_child *child_list_add(struct child_list *l, const struct event_child *child)
{
    struct listed_child *known = child_list_find(l, child->id);

    if (known)
        return known;
    l->items = arena_grow(&l->arena, l->items, l->n, &l->room, sizeof *l->items);
    l->items[l->n] = (struct listed_child){.id = arena_str(&l->arena, child->id),
                                           .call_id = arena_str(&l->arena, child->call_id),
                                           .agent = arena_str(&l->arena, child->agent),
                                           .index = child->index};
    return &l->items[l->n++];
}

void child_list_give(const struct child_list *l, struct arena *a, struct given_outcome *outcome)
{
    struct str *ids = ARENA_ARRAY(a, l->n, struct str);

    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].index == outcome->index && str_eq(l->items[i].call_id, outcome->call_id))
            ids[outcome->n_children++] = arena_str(a, l->items[i].id);
    outcome->children = ids;
}

void child_list_clear(struct child_list *l)
{
    arena_done(&l->arena);
    *l = (struct child_list){0};
}
