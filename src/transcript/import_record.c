/* import_record.c - session records: one object with `messages`, which the model gets, and
 * `history`, which the person has seen.
 *
 * If both end alike, as after a summary, the earlier history of the person comes first, and then
 * what the model got instead of it. A record without a history has only messages. */
#include "transcript/import_parts.h"

/* A message of a list, and what it is compared by. */
struct listed_message {
    struct import_item item;
    size_t n_parts;
    uint64_t id_key, text_key;
};

struct listed_messages {
    struct listed_message *items;
    size_t n, room;
};

static void push_entry(struct listed_messages *to, const struct listed_message *e)
{
    to->items = mem_grow(to->items, to->n, &to->room, sizeof *to->items);
    to->items[to->n++] = *e;
}

static void add_entry(struct importing *x, struct imported *s, struct listed_messages *to,
                      const struct json *v, int64_t unix_ms, size_t place)
{
    AUTO(strbuf) struct strbuf text = {0};
    AUTO(message) struct message *m = NULL;
    AUTO(err) struct err *e = import_message(x, v, &m);
    struct listed_message entry;

    if (e) {
        AUTO_FREE char *why = err_message(e);

        import_problem(x, "message %zu: %s", place + 1, why);
        return;
    }
    if (m->role == ROLE_SYSTEM && !json_has(v, "parts")) { /* another program's instructions */
        if (!s->system.n)
            import_set(x, &s->system, json_get_text(v, "content"));
        return;
    }
    if (m->n_parts == 0)
        return;
    message_text(m, &text);
    entry = (struct listed_message){.n_parts = m->n_parts,
                                    .id_key = import_key(m->id),
                                    .text_key = import_key(strbuf_str(&text))};
    entry.item = import_put(x, TAKE(m), unix_ms ? unix_ms : import_time(json_get(v, "timestamp")));
    push_entry(to, &entry);
}

/* Each element of a list; anything else is skipped. */
static struct err *read_list(struct importing *x, struct json_walk *w, struct imported *s,
                             struct listed_messages *to, bool is_timeline)
{
    enum json_type type;
    struct str key;
    bool found;

    TRY(json_walk_type(w, &type));
    if (type != JSON_ARRAY)
        return json_walk_skip(w);
    TRY(json_walk_enter(w));
    for (size_t place = 0; !x->error; place++) {
        struct json *v;

        TRY(json_walk_next(w, &key, &found));
        if (!found)
            return NULL;
        arena_clear(&x->scratch);
        TRY(import_value(x, w, &v));
        if (!is_timeline)
            add_entry(x, s, to, v, 0, place);
        else if (str_is(json_get_text(v, "category"), "chat"))
            add_entry(x, s, to, json_get(v, "data"), import_time(json_get(v, "timestamp")), place);
    }
    return TAKE(x->error);
}

static bool is_same(const struct listed_message *a, const struct listed_message *b)
{
    if (a->item.role != b->item.role || a->n_parts != b->n_parts)
        return false;
    return a->id_key && b->id_key ? a->id_key == b->id_key : a->text_key == b->text_key;
}

static void add_all(struct importing *x, struct imported *s, const struct listed_messages *all)
{
    for (size_t i = 0; i < all->n; i++)
        import_add_item(x, s, IMPORT_APPEND, false, all->items[i].item);
}

/* Joins `seen` and `sent`, which have the same end. */
static void join(struct importing *x, struct imported *s, const struct listed_messages *seen,
                 const struct listed_messages *sent)
{
    size_t n_same = 0, n_seen, n_sent;

    while (n_same < seen->n && n_same < sent->n &&
           is_same(&seen->items[seen->n - 1 - n_same], &sent->items[sent->n - 1 - n_same]))
        n_same++;
    n_seen = seen->n - n_same;
    n_sent = sent->n - n_same;
    for (size_t i = 0; i < n_seen; i++)
        import_add_item(x, s, IMPORT_APPEND, false, seen->items[i].item);
    if (n_seen && n_sent == 0)
        import_add(x, s, IMPORT_CLEAR, true, NULL, seen->items[n_seen - 1].item.unix_ms);
    for (size_t i = 0; i < n_sent; i++)
        import_add_item(x, s, n_seen ? IMPORT_COMPACT : IMPORT_APPEND, n_seen && i == 0,
                        sent->items[i].item);
    for (size_t i = n_seen; i < seen->n; i++)
        import_add_item(x, s, IMPORT_APPEND, false, seen->items[i].item);
}

/* --- one record --- */

struct record_reading {
    struct imported session; /* what it says of itself */
    struct listed_messages seen, sent;
    bool has_messages;
};

static void record_reading_done(struct record_reading *r)
{
    mem_free(r->seen.items);
    mem_free(r->sent.items);
}
DEFINE_AUTO_VAL(record_reading, record_reading_done)

static struct err *read_member(struct importing *x, struct json_walk *w, struct str key,
                               struct record_reading *r)
{
    struct imported *s = &r->session;
    const struct {
        const char *name;
        struct str *text;
        int64_t *unix_ms;
    } members[] = {
        {"id", &s->id, NULL},
        {"parentSessionId", &s->parent, NULL},
        {"cwd", &s->cwd, NULL},
        {"name", &s->name, NULL},
        {"provider", &s->provider, NULL},
        {"model", &s->model, NULL},
        {"systemPrompt", &s->system, NULL},
        {"createdAt", NULL, &s->created_ms},
        {"updatedAt", NULL, &s->updated_ms},
    };
    struct json *v;

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (!str_is(key, members[i].name))
            continue;
        TRY(import_value(x, w, &v));
        if (members[i].text)
            import_set(x, members[i].text, json_str(v));
        else
            *members[i].unix_ms = import_time(v);
        return NULL;
    }
    return json_walk_skip(w);
}

static void fill_session(struct importing *x, size_t index, const struct record_reading *r)
{
    struct imported *s = &x->out->sessions[index];

    s->id = r->session.id;
    s->parent = r->session.parent;
    s->cwd = r->session.cwd;
    s->name = r->session.name;
    s->provider = r->session.provider;
    s->model = r->session.model;
    s->system = r->session.system;
    s->created_ms = r->session.created_ms;
    s->updated_ms = r->session.updated_ms;
    if (r->has_messages && r->seen.n)
        join(x, s, &r->seen, &r->sent);
    else
        add_all(x, s, r->seen.n ? &r->seen : &r->sent);
}

static struct err *read_record(struct importing *x, struct json_walk *w, size_t parent);

static struct err *read_children(struct importing *x, struct json_walk *w, size_t parent)
{
    enum json_type type;
    struct str key;
    bool found;

    TRY(json_walk_type(w, &type));
    if (type != JSON_ARRAY)
        return json_walk_skip(w);
    TRY(json_walk_enter(w));
    for (;;) {
        TRY(json_walk_next(w, &key, &found));
        if (!found)
            return NULL;
        TRY(read_record(x, w, parent));
    }
}

static struct err *read_members(struct importing *x, struct json_walk *w, size_t index,
                                struct record_reading *r)
{
    struct str key;
    bool found;

    TRY(json_walk_enter(w));
    for (;;) {
        TRY(json_walk_next(w, &key, &found));
        if (!found)
            return NULL;
        arena_clear(&x->scratch);
        if (str_is(key, "messages")) {
            r->has_messages = true;
            TRY(read_list(x, w, &r->session, &r->sent, /* is_timeline= */ false));
        } else if (str_is(key, "history")) {
            TRY(read_list(x, w, &r->session, &r->seen, /* is_timeline= */ true));
        } else if (str_is(key, "children")) {
            TRY(read_children(x, w, index));
        } else {
            TRY(read_member(x, w, key, r));
        }
    }
}

/* What was read before an error is kept, for a partial import. A session has its place before its
 * children, whatever comes first in the file. */
static struct err *read_record(struct importing *x, struct json_walk *w, size_t parent)
{
    AUTO(record_reading) struct record_reading r = {0};
    size_t index = x->out->n;
    enum json_type type;
    struct err *e;

    TRY(json_walk_type(w, &type));
    if (type != JSON_OBJECT)
        return err_new(ERR_VALIDATION, "an entry of the list is not a session record");
    if (index == IMPORT_MAX_SESSIONS)
        return err_new(ERR_VALIDATION, "it contains more than %d sessions", IMPORT_MAX_SESSIONS);
    import_new_session(x)->parent_index = parent;
    e = read_members(x, w, index, &r);
    fill_session(x, index, &r);
    return e;
}

/* Children are in one list and name their parents. Of two with the same id the first is meant; if
 * none has it, the parent is the record with the list. */
static void find_parents(struct importing *x, size_t root)
{
    AUTO(import_index) struct import_index by_id = {0};
    struct import *o = x->out;

    for (size_t i = root; i < o->n; i++) {
        struct imported *s = &o->sessions[i];
        size_t found = i > root ? import_index_find(&by_id, import_key(s->parent)) : 0;
        size_t *first = s->id.n ? import_index_at(&by_id, import_key(s->id)) : NULL;

        if (found)
            s->parent_index = found - 1;
        if (first && !*first)
            *first = i + 1;
    }
}

static struct err *read_root(struct importing *x, struct json_walk *w)
{
    size_t root = x->out->n;
    struct err *e = read_record(x, w, IMPORT_NO_PARENT);

    find_parents(x, root);
    return e;
}

/* --- the file --- */

static struct err *read_values(struct importing *x, struct json_walk *w)
{
    enum json_type type;
    struct str key;
    bool found;

    for (;;) {
        AUTO(err) struct err *end = json_walk_end(w);

        if (!end)
            return NULL;
        x->line++;
        TRY(json_walk_type(w, &type));
        if (type == JSON_OBJECT) {
            TRY(read_root(x, w));
            continue;
        }
        TRY(json_walk_enter(w));
        for (;;) {
            TRY(json_walk_next(w, &key, &found));
            if (!found)
                break;
            TRY(read_root(x, w));
        }
    }
}

/* After an error the rest cannot be parsed. */
struct err *import_records(struct importing *x)
{
    AUTO(json_walk) struct json_walk w;
    AUTO(err) struct err *e = NULL;

    import_walk(x, &w);
    e = read_values(x, &w);
    if (e && !err_is(e, ERR_VALIDATION))
        return TAKE(e);
    if (e) {
        AUTO_FREE char *why = err_message(e);

        import_problem(x, "%s", why);
    }
    return NULL;
}

/* A record is an object with a list of messages that is not an event of a log, or a list that
 * begins with one. */
static struct err *look_for_record(struct json_walk *w, bool *ret_is_record)
{
    bool found, has_list = false;
    enum json_type type;
    struct str key;

    TRY(json_walk_type(w, &type));
    if (type == JSON_ARRAY) {
        TRY(json_walk_enter(w));
        TRY(json_walk_next(w, &key, &found));
        TRY(json_walk_type(w, &type));
    }
    if (type != JSON_OBJECT)
        return NULL;
    TRY(json_walk_enter(w));
    for (;;) {
        TRY(json_walk_next(w, &key, &found));
        if (!found || str_is(key, "event"))
            break;
        has_list = str_is(key, "messages") || str_is(key, "history");
        TRY(json_walk_type(w, &type));
        if (has_list && type == JSON_ARRAY) {
            *ret_is_record = true;
            break;
        }
        TRY(json_walk_skip(w));
    }
    return NULL;
}

bool import_is_record(struct importing *x)
{
    AUTO(json_walk) struct json_walk w;
    bool is_record = false;

    import_walk(x, &w);
    err_ignore(look_for_record(&w, &is_record), "what else it is shows when it is read as that");
    return is_record;
}
