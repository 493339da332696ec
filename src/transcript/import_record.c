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
    size_t n, room;
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

    e = import_message(x, v, &m);
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
    if (to->n == to->room) {
        to->room = to->room ? 2 * to->room : 64;
        to->items = mem_resize(to->items, to->room * sizeof *to->items);
    }
    to->items[to->n++] =
        (struct entry){m, unix_ms ? unix_ms : import_time(json_get(v, "timestamp"))};
}

/* Each element of a list; anything else is skipped. */
static struct err *read_list(struct importing *x, struct json_walk *w, struct imported *s,
                             struct entries *to, bool is_timeline)
{
    enum json_type type;
    struct str key, raw;
    bool found;

    TRY(json_walk_type(w, &type));
    if (type != JSON_ARRAY)
        return json_walk_skip(w);
    TRY(json_walk_enter(w));
    for (size_t place = 0;; place++) {
        struct json *v;

        TRY(json_walk_next(w, &key, &found));
        if (!found)
            return NULL;
        arena_clear(&x->scratch);
        TRY(json_walk_take(w, IMPORT_MAX_LINE, &raw));
        TRY(import_value(x, raw, &v));
        if (!is_timeline)
            add_entry(x, s, to, v, 0, place);
        else if (str_is(json_get_text(v, "category"), "chat"))
            add_entry(x, s, to, json_get(v, "data"), import_time(json_get(v, "timestamp")), place);
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

/* --- one record --- */

struct record_reading {
    struct imported session; /* what it says of itself */
    struct entries seen, sent;
    bool has_messages;
};

static void record_reading_done(struct record_reading *r)
{
    entries_done(&r->seen);
    entries_done(&r->sent);
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
    struct str raw;

    for (size_t i = 0; i < ARRAY_LEN(members); i++) {
        if (!str_is(key, members[i].name))
            continue;
        TRY(json_walk_take(w, JSON_MAX_BYTES, &raw));
        TRY(json_parse(&x->scratch, raw, JSON_REPAIR_UTF8, &v));
        if (members[i].text)
            *members[i].text = import_str(x, json_str(v));
        else
            *members[i].unix_ms = import_time(v);
        return NULL;
    }
    return json_walk_skip(w);
}

static void add_session(struct importing *x, struct record_reading *r)
{
    struct imported *s = import_new_session(x);
    struct usage usage = s->usage;
    bool cost_is_known = s->cost_is_known;

    *s = r->session;
    s->usage = usage;
    s->cost_is_known = cost_is_known;
    if (r->has_messages && r->seen.n)
        join(x, s, &r->seen, &r->sent);
    else
        move_all(x, s, r->seen.n ? &r->seen : &r->sent);
}

static struct err *read_record(struct importing *x, struct json_walk *w, bool is_child);

/* They come after what they belong to: a parent is added before its children. */
static struct err *read_children(struct importing *x, struct json_walk *w)
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
        TRY(read_record(x, w, /* is_child= */ true));
    }
}

static struct err *read_record(struct importing *x, struct json_walk *w, bool is_child)
{
    AUTO(record_reading) struct record_reading r = {0};
    bool found, is_added = false;
    enum json_type type;
    struct str key;

    TRY(json_walk_type(w, &type));
    if (type != JSON_OBJECT)
        return err_new(ERR_VALIDATION, "an entry of the list is not a session record");
    if (x->out->n == IMPORT_MAX_SESSIONS)
        return err_new(ERR_VALIDATION, "there are more than %d sessions in it",
                       IMPORT_MAX_SESSIONS);
    TRY(json_walk_enter(w));
    for (;;) {
        TRY(json_walk_next(w, &key, &found));
        if (!found)
            break;
        arena_clear(&x->scratch);
        if (str_is(key, "messages")) {
            r.has_messages = true;
            TRY(read_list(x, w, &r.session, &r.sent, /* is_timeline= */ false));
        } else if (str_is(key, "history")) {
            TRY(read_list(x, w, &r.session, &r.seen, /* is_timeline= */ true));
        } else if (str_is(key, "children") && !is_child && !is_added) {
            is_added = true;
            add_session(x, &r);
            TRY(read_children(x, w));
        } else {
            TRY(read_member(x, w, key, &r));
        }
    }
    if (!is_child)
        r.session.parent = (struct str){0};
    if (!is_added)
        add_session(x, &r);
    return NULL;
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
            TRY(read_record(x, w, /* is_child= */ false));
            continue;
        }
        TRY(json_walk_enter(w));
        for (;;) {
            TRY(json_walk_next(w, &key, &found));
            if (!found)
                break;
            TRY(read_record(x, w, /* is_child= */ false));
        }
    }
}

/* What stands behind a mistake cannot be told apart any more. */
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

/* An object with a list of messages, and no event of a log; or a list that begins with one. */
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
