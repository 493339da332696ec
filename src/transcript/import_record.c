/* import_record.c - session records: one object with `messages`, which a model is sent, and
 * `history`, which a person has seen.
 *
 * Where the two end alike, as after a summary, what a person has seen before comes first and what
 * the model was given instead of it after that. A record without a history has only messages. */
#include "transcript/import_parts.h"

struct entry {
    struct message *message;
    int64_t unix_ms;
};

struct entries {
    struct entry *items;
    size_t n;
};

static void entries_done(struct entries *e)
{
    for (size_t i = 0; i < e->n; i++)
        message_unref(e->items[i].message);
    mem_free(e->items);
}
DEFINE_AUTO_VAL(entries, entries_done)

static void add_entry(struct importing *x, struct imported *s, struct entries *to,
                      const struct json *v, int64_t unix_ms, size_t place)
{
    AUTO(err) struct err *e = NULL;
    struct message *m;

    e = import_message(v, &m);
    if (e) {
        AUTO_FREE char *why = err_message(e);

        import_problem(x, "message %zu: %s", place + 1, why);
        return;
    }
    if (m->role == ROLE_SYSTEM && !json_has(v, "parts")) {
        if (!s->system.n) /* another program's instructions */
            s->system = import_str(x, json_get_text(v, "content"));
        message_unref(m);
        return;
    }
    to->items[to->n++] =
        (struct entry){m, unix_ms ? unix_ms : import_time(json_get(v, "timestamp"))};
}

static void read_messages(struct importing *x, struct imported *s, const struct json *list,
                          struct entries *ret)
{
    size_t place = 0;

    ret->items = mem_alloc((list ? list->n + 1 : 1) * sizeof *ret->items);
    json_each (v, list)
        add_entry(x, s, ret, v, 0, place++);
}

static void read_timeline(struct importing *x, struct imported *s, const struct json *list,
                          struct entries *ret)
{
    size_t place = 0;

    ret->items = mem_alloc((list ? list->n + 1 : 1) * sizeof *ret->items);
    json_each (v, list) {
        if (str_is(json_get_text(v, "category"), "chat"))
            add_entry(x, s, ret, json_get(v, "data"), import_time(json_get(v, "timestamp")), place);
        place++;
    }
}

static bool is_same(const struct message *a, const struct message *b)
{
    AUTO(strbuf) struct strbuf text_a = {0}, text_b = {0};

    if (a->role != b->role || a->n_parts != b->n_parts)
        return false;
    if (a->id.n && b->id.n)
        return str_eq(a->id, b->id);
    message_text(a, &text_a);
    message_text(b, &text_b);
    return str_eq(strbuf_str(&text_a), strbuf_str(&text_b));
}

static void move(struct importing *x, struct imported *s, struct entry *e, enum import_step step,
                 bool begins)
{
    import_add(x, s, step, begins, TAKE(e->message), e->unix_ms);
}

static void move_all(struct importing *x, struct imported *s, struct entries *all)
{
    for (size_t i = 0; i < all->n; i++)
        move(x, s, &all->items[i], IMPORT_APPEND, false);
}

/* `seen` and `sent` with the same end. */
static void join(struct importing *x, struct imported *s, struct entries *seen,
                 struct entries *sent)
{
    size_t n_same = 0, n_seen, n_sent;

    while (n_same < seen->n && n_same < sent->n &&
           is_same(seen->items[seen->n - 1 - n_same].message,
                   sent->items[sent->n - 1 - n_same].message))
        n_same++;
    n_seen = seen->n - n_same;
    n_sent = sent->n - n_same;
    for (size_t i = 0; i < n_seen; i++)
        move(x, s, &seen->items[i], IMPORT_APPEND, false);
    if (n_seen && n_sent == 0)
        import_add(x, s, IMPORT_CLEAR, true, NULL, seen->items[n_seen - 1].unix_ms);
    for (size_t i = 0; i < n_sent; i++)
        move(x, s, &sent->items[i], n_seen ? IMPORT_COMPACT : IMPORT_APPEND, n_seen && i == 0);
    for (size_t i = n_seen; i < seen->n; i++)
        move(x, s, &seen->items[i], IMPORT_APPEND, false);
}

static struct err *read_one(struct importing *x, const struct json *record, struct str parent)
{
    const struct json *messages = json_get(record, "messages"),
                      *history = json_get(record, "history");
    AUTO(entries) struct entries seen = {0}, sent = {0};
    struct imported *s;

    if (x->out->n == IMPORT_MAX_SESSIONS)
        return err_new(ERR_VALIDATION, "there are more than %d sessions in it",
                       IMPORT_MAX_SESSIONS);
    s = import_new_session(x);
    s->id = import_str(x, json_get_text(record, "id"));
    s->parent = import_str(x, parent);
    s->cwd = import_str(x, json_get_text(record, "cwd"));
    s->name = import_str(x, json_get_text(record, "name"));
    s->provider = import_str(x, json_get_text(record, "provider"));
    s->model = import_str(x, json_get_text(record, "model"));
    s->system = import_str(x, json_get_text(record, "systemPrompt"));
    s->created_ms = import_time(json_get(record, "createdAt"));
    s->updated_ms = import_time(json_get(record, "updatedAt"));
    read_messages(x, s, messages, &sent);
    read_timeline(x, s, history, &seen);
    if (messages && seen.n)
        join(x, s, &seen, &sent);
    else
        move_all(x, s, seen.n ? &seen : &sent);
    return NULL;
}

struct err *import_record(struct importing *x, const struct json *record)
{
    TRY(read_one(x, record, (struct str){0}));
    json_each (child, json_get(record, "children"))
        TRY(read_one(x, child, json_get_text(child, "parentSessionId")));
    return NULL;
}
