/* request_build_ids.c - ids and names of calls, as every provider takes them. */
#include "engine/request_build_parts.h"

#include "port/tool_set.h"

/* An id that the request has used. `next` is the suffix to try for the next call of this id: with
 * it, thousands of calls of one id do not look through each other's. */
struct used_id {
    struct str id; /* p is NULL: the slot is free */
    unsigned next;
};

static struct used_id *find_slot(const struct call_ids *ids, struct str id)
{
    size_t at = str_hash(id) & (ids->room - 1);

    while (ids->slots[at].id.p && !str_eq(ids->slots[at].id, id))
        at = (at + 1) & (ids->room - 1);
    return &ids->slots[at];
}

static void grow(struct call_ids *ids, struct arena *a)
{
    struct call_ids old = *ids;

    ids->room = old.room ? old.room * 2 : 16;
    ids->slots = ARENA_ARRAY(a, ids->room, struct used_id);
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i].id.p)
            *find_slot(ids, old.slots[i].id) = old.slots[i];
}

/* The id's slot, which is taken from now on. */
static struct used_id *use(struct call_ids *ids, struct arena *a, struct str id, bool *ret_is_new)
{
    struct used_id *slot;

    if (ids->n * 2 >= ids->room)
        grow(ids, a);
    slot = find_slot(ids, id);
    *ret_is_new = false;
    if (slot->id.p)
        return slot;
    if (ids->base && ids->base->n)
        *slot = *find_slot(ids->base, id);
    *ret_is_new = !slot->id.p;
    if (*ret_is_new)
        *slot = (struct used_id){.id = {id.p ? id.p : "", id.n}, .next = 2};
    ids->n++;
    return slot;
}

/* Models invent names, and providers refuse a history with one that no tool could have. */
static struct str sendable_name(struct arena *a, struct str name)
{
    char text[TOOL_MAX_NAME];
    size_t n = MIN(name.n, sizeof text);

    if (tool_name_is_valid(name))
        return name;
    for (size_t i = 0; i < n; i++)
        text[i] = tool_name_is_valid(str_slice(name, i, 1)) ? name.p[i] : '_';
    return n ? arena_str(a, str_make(text, n)) : S("_");
}

/* The first free one of "ID_2", "ID_3", ...: a provider may have used some of them itself. */
static struct str new_id(struct call_ids *ids, struct arena *a, struct str id)
{
    bool is_new;
    unsigned suffix = use(ids, a, id, &is_new)->next;
    struct str given;

    do
        given = arena_format(a, "%" STR_FMT "_%u", STR_ARG(id), suffix++);
    while (use(ids, a, given, &is_new), !is_new);
    use(ids, a, id, &is_new)->next = suffix; /* the table may have moved */
    return given;
}

static bool is_call(const struct part *p)
{
    return p->kind == PART_TOOL_CALL;
}

static unsigned count_use(struct call_ids *counts, struct arena *a, struct str id)
{
    bool is_new;
    struct used_id *slot = use(counts, a, id, &is_new);

    return slot->next++ - 2;
}

/* First come the ids that can stay, so that no new one takes theirs. */
struct sent_call *call_ids_give(struct call_ids *ids, struct arena *a, struct arena *scratch,
                                const struct message *m)
{
    struct sent_call *calls = ARENA_ARRAY(scratch, m->n_parts, struct sent_call);
    struct call_ids counts = {0};
    bool is_new;

    for (size_t i = 0; i < m->n_parts; i++) {
        const struct part *p = &m->parts[i];
        struct used_id *slot;

        if (!is_call(p))
            continue;
        calls[i].name = sendable_name(scratch, p->name);
        calls[i].nth = count_use(&counts, scratch, p->id);
        slot = use(ids, a, p->id, &is_new);
        if (is_new)
            calls[i].id = slot->id;
    }
    for (size_t i = 0; i < m->n_parts; i++)
        if (is_call(&m->parts[i]) && !calls[i].id.p)
            calls[i].id = new_id(ids, a, m->parts[i].id);
    return calls;
}
