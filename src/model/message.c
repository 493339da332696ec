/* message.c - builds messages and reads them. */
#include "model/message.h"

struct message *message_new(enum role role, struct str id)
{
    struct message *m = mem_alloc(sizeof *m);

    m->n_refs = 1;
    m->role = role;
    m->id = arena_str(&m->arena, id);
    m->usage = USAGE_UNKNOWN;
    return m;
}

void message_set_id(struct message *m, struct str id)
{
    BUG_IF(m->id.n);
    m->id = arena_str(&m->arena, id);
}

struct message *message_ref(struct message *m)
{
    m->n_refs++;
    return m;
}

void message_unref(struct message *m)
{
    struct message *lender;

    if (!m || --m->n_refs)
        return;
    lender = m->lender;
    arena_done(&m->arena);
    if (!m->is_in_lender)
        mem_free(m);
    message_unref(lender);
}

/* --- parts --- */

/* While it contains only the lender's first parts, it shares their array. */
static bool has_lent_array(const struct message *m)
{
    return m->lender && m->parts == m->lender->parts;
}

/* A borrowing message has little memory of its own: mostly this array. */
static struct part *add_slot(struct message *m)
{
    if (has_lent_array(m))
        message_own_parts(m);
    else if (m->lender)
        arena_reserve(&m->arena, sizeof *m->parts);
    m->parts = arena_grow(&m->arena, m->parts, m->n_parts, &m->parts_room, sizeof *m->parts);
    return &m->parts[m->n_parts++];
}

static struct message *borrow(struct message *m, enum role role, const struct message *lender)
{
    m->n_refs = 1;
    m->role = role;
    m->id = lender->id;
    m->origin = lender->origin;
    m->usage = USAGE_UNKNOWN;
    m->lender = message_ref((struct message *)lender);
    m->parts = lender->parts;
    return m;
}

struct message *message_new_from(enum role role, const struct message *lender)
{
    return borrow(mem_alloc(sizeof(struct message)), role, lender);
}

struct message *message_new_in(enum role role, struct message *lender)
{
    struct message *m = borrow(ARENA_NEW(&lender->arena, struct message), role, lender);

    m->is_in_lender = true;
    return m;
}

void message_own_parts(struct message *m)
{
    if (!has_lent_array(m))
        return;
    m->parts_room = m->n_parts + 1;
    arena_reserve(&m->arena, m->parts_room * sizeof *m->parts);
    m->parts = ARENA_ARRAY(&m->arena, m->parts_room, struct part);
    if (m->n_parts)
        memcpy(m->parts, m->lender->parts, m->n_parts * sizeof *m->parts);
}

void message_lend(struct message *m, const struct part *p)
{
    if (!m->lender)
        message_add(m, p);
    else if (has_lent_array(m) && p == m->parts + m->n_parts)
        m->n_parts++;
    else
        *add_slot(m) = *p;
}

struct part *message_add(struct message *m, const struct part *p)
{
    struct part *slot = add_slot(m);

    *slot = part_copy(&m->arena, p);
    return slot;
}

struct part *message_add_text(struct message *m, struct str text)
{
    return message_add(m, &(struct part){.kind = PART_TEXT, .text = text});
}

struct part *message_add_context(struct message *m, struct str text)
{
    return message_add(m, &(struct part){.kind = PART_CONTEXT, .text = text});
}

/* --- the rest --- */

void message_set_origin(struct message *m, struct origin o)
{
    m->origin = (struct origin){.provider = arena_str(&m->arena, o.provider),
                                .protocol = arena_str(&m->arena, o.protocol),
                                .model = arena_str(&m->arena, o.model),
                                .bound = arena_str(&m->arena, o.bound)};
}

void message_set_usage(struct message *m, const struct usage *u)
{
    m->usage = *u;
    m->usage.routed_provider = arena_str(&m->arena, u->routed_provider);
    m->usage.routed_model = arena_str(&m->arena, u->routed_model);
}

const char *role_name(enum role r)
{
    static const char *const names[] = {"system", "user", "assistant", "tool"};
    return names[r];
}

static const char *const stop_names[] = {
    [STOP_UNKNOWN] = "",          [STOP_END] = "",
    [STOP_TOOL_CALLS] = "",       [STOP_LENGTH] = "length",
    [STOP_FILTERED] = "filtered", [STOP_REFUSED] = "refused",
    [STOP_PAUSED] = "paused",     [STOP_OVERFLOW] = "overflow",
    [STOP_UNREAD] = "unread",
};

const char *stop_name(enum stop s)
{
    return stop_names[s];
}

enum stop stop_find(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(stop_names); i++)
        if (str_is(name, stop_names[i]))
            return (enum stop)i;
    return STOP_UNKNOWN;
}

size_t message_n_calls(const struct message *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_parts; i++)
        n += m->parts[i].kind == PART_TOOL_CALL;
    return n;
}

void message_text(const struct message *m, struct strbuf *out)
{
    size_t from = out->n;

    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind != PART_TEXT)
            continue;
        if (m->role == ROLE_USER && out->n > from && !str_ends(strbuf_str(out), S("\n")))
            strbuf_add_char(out, '\n');
        strbuf_add(out, m->parts[i].text);
    }
}

bool message_is_native_to(const struct message *m, struct str provider, struct str protocol)
{
    return provider.n && str_eq(m->origin.provider, provider) &&
           (protocol.n == 0 || m->origin.protocol.n == 0 || str_eq(m->origin.protocol, protocol));
}
