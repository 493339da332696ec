/* store.c - the calls of a store, and what all adapters share. */
#include "port/store.h"

#include "sys/loop.h"

#define MAX_ID_BYTES 128

struct err *store_open(struct store *s, struct str id, const struct store_summary *create,
                       struct arena *a, struct store_lease *ret_lease)
{
    *ret_lease = (struct store_lease){0};
    if (!store_id_is_valid(id))
        return err_hint(
            err_new(ERR_VALIDATION, "\"%" STR_FMT "\" is not a valid session id", STR_ARG(id)),
            "use a UUID, or up to %d letters, digits, '-', '_' and '.'", MAX_ID_BYTES);
    return s->ops->open(s, id, create, a, ret_lease);
}

void store_close(struct store *s, struct str id, uint64_t fence)
{
    s->ops->close(s, id, fence);
}

struct err *store_add_child(struct store *s, const struct store_summary *child, uint64_t fence)
{
    if (!store_id_is_valid(child->id))
        return err_new(ERR_VALIDATION, "\"%" STR_FMT "\" is not a valid session id",
                       STR_ARG(child->id));
    return s->ops->add_child(s, child, fence);
}

struct err *store_append(struct store *s, struct str stream, uint64_t expected_seq, uint64_t fence,
                         const struct store_record *records, size_t n,
                         const struct store_summary *update)
{
    return s->ops->append(s, stream, expected_seq, fence, records, n, update);
}

struct err *store_append_soon(struct store *s, struct str stream, uint64_t expected_seq,
                              uint64_t fence, const struct store_record *records, size_t n,
                              const struct store_summary *update)
{
    struct err *(*append)(struct store *s, struct str stream, uint64_t expected_seq, uint64_t fence,
                          const struct store_record *records, size_t n,
                          const struct store_summary *update) =
        s->ops->append_soon ? s->ops->append_soon : s->ops->append;

    return append(s, stream, expected_seq, fence, records, n, update);
}

struct err *store_sync(struct store *s)
{
    return s->ops->sync ? s->ops->sync(s) : NULL;
}

struct err *store_read(struct store *s, struct str stream, const struct store_query *q,
                       struct store_page *ret_page)
{
    *ret_page = (struct store_page){0};
    return s->ops->read(s, stream, q, ret_page);
}

struct err *store_read_over(struct store *s, struct str stream, const struct store_query *q,
                            struct store_page *page)
{
    struct arena a = page->arena;

    arena_clear(&a);
    *page = (struct store_page){.arena = a};
    return s->ops->read(s, stream, q, page);
}

void store_page_done(struct store_page *p)
{
    arena_done(&p->arena);
    *p = (struct store_page){0};
}

struct err *store_find(struct store *s, struct str id, struct arena *a,
                       struct store_summary *ret_summary, bool *ret_found)
{
    *ret_summary = (struct store_summary){0};
    *ret_found = false;
    return store_id_is_valid(id) ? s->ops->find(s, id, a, ret_summary, ret_found) : NULL;
}

struct err *store_list(struct store *s, const struct store_list_query *q, struct arena *a,
                       struct store_summary **ret_items, size_t *ret_n)
{
    *ret_items = NULL;
    *ret_n = 0;
    return s->ops->list(s, q, a, ret_items, ret_n);
}

/* --- the last record --- */

#define LAST_FIRST_PAGE 4 /* behind the end of a run come a checkpoint and little else */
#define LAST_MAX_PAGE 64

static bool is_last(const struct store_record *r, const struct store_last_query *q)
{
    for (size_t i = 0; i < q->n_types; i++)
        if (str_eq(r->type, q->types[i]))
            return true;
    return r->run_id.n > 0;
}

static const struct store_record *find_last(const struct store_page *page,
                                            const struct store_last_query *q)
{
    for (size_t i = 0; i < page->n; i++)
        if (is_last(&page->records[i], q))
            return &page->records[i];
    return NULL;
}

static struct store_record copy_record(struct arena *a, const struct store_record *r)
{
    struct store_record copy = *r;

    copy.type = arena_str(a, r->type);
    copy.run_id = arena_str(a, r->run_id);
    copy.body = arena_str(a, r->body);
    copy.payloads = NULL;
    copy.n_payloads = 0;
    return copy;
}

struct err *store_last_by_reading(struct store *s, const struct store_last_query *q, size_t stream,
                                  struct arena *a, struct store_record *ret_record)
{
    struct store_query query = {.core_only = true, .newest_first = true, .n_max = LAST_FIRST_PAGE};
    bool has_more = true;

    *ret_record = (struct store_record){0};
    while (has_more) {
        AUTO(store_page) struct store_page page = {0};
        struct err *e = store_read(s, q->streams[stream], &query, &page);
        const struct store_record *found = find_last(&page, q);

        if (err_is(e, ERR_CANCELLED))
            return e;
        if (found)
            *ret_record = copy_record(a, found);
        has_more = !found && (e ? page.go_on_at > 1 : page.has_more);
        query.to = e ? page.go_on_at : page.n ? page.records[page.n - 1].seq : 0;
        query.n_max = MIN(2 * query.n_max, (size_t)LAST_MAX_PAGE);
        err_ignore(e, "it is gone meanwhile, or who reads it is told of the damage");
    }
    return NULL;
}

struct err *store_last(struct store *s, const struct store_last_query *q, struct arena *a,
                       struct store_record *ret_records)
{
    if (s->ops->last)
        return s->ops->last(s, q, a, ret_records);
    for (size_t i = 0; i < q->n_streams; i++)
        TRY(store_last_by_reading(s, q, i, a, &ret_records[i]));
    return NULL;
}

struct err *store_search(struct store *s, struct str words, size_t n_max, struct arena *a,
                         struct store_hit **ret_hits, size_t *ret_n)
{
    *ret_hits = NULL;
    *ret_n = 0;
    return s->ops->search(s, words, n_max, a, ret_hits, ret_n);
}

struct err *store_sweep(struct store *s)
{
    return s->ops->sweep ? s->ops->sweep(s) : NULL;
}

struct err *store_remove(struct store *s, struct str id)
{
    return store_id_is_valid(id) ? s->ops->remove(s, id) : NULL;
}

struct err *store_update(struct store *s, const struct store_summary *update)
{
    return s->ops->update(s, update);
}

struct err *store_rebuild(struct store *s)
{
    return s->ops->rebuild(s);
}

struct err *store_now(struct store *s, int64_t *ret_unix_ms)
{
    if (s->ops->now)
        return s->ops->now(s, ret_unix_ms);
    *ret_unix_ms = clock_unix_ms(loop_clock(task_loop()));
    return NULL;
}

struct err *store_clamp_times(struct store *s, int64_t after_ms, int64_t to_ms)
{
    return s->ops->clamp_times(s, after_ms, to_ms);
}

struct err *store_read_belief(struct store *s, struct store_belief *ret_belief)
{
    *ret_belief = (struct store_belief){0};
    return s->ops->read_belief(s, ret_belief);
}

struct err *store_write_belief(struct store *s, const struct store_belief *b)
{
    return s->ops->write_belief(s, b);
}

bool store_has_clock(const struct store *s)
{
    return s->ops->now != NULL;
}

struct err *store_check(struct store *s, struct str stream, struct store_damage_sink sink)
{
    return s->ops->check ? s->ops->check(s, stream, sink) : NULL;
}

struct str store_stray(struct arena *a, struct str id, struct str parent)
{
    if (!parent.n)
        return arena_format(
            a, "session %" STR_FMT " is a root but names another session as its root", STR_ARG(id));
    return arena_format(
        a, "session %" STR_FMT " is below %" STR_FMT ", which is not in the list of sessions",
        STR_ARG(id), STR_ARG(parent));
}

struct str store_orphan(struct arena *a, int64_t stream)
{
    return arena_format(a, "stream %lld has records, but its session is missing",
                        (long long)stream);
}

struct err *store_check_all(struct store *s, struct store_damage_sink sink)
{
    return s->ops->check_all ? s->ops->check_all(s, sink) : NULL;
}

struct err *store_keeps(struct store *s, struct str stream, struct str handle, bool *ret_keeps)
{
    *ret_keeps = true;
    return s->ops->keeps ? s->ops->keeps(s, stream, handle, ret_keeps) : NULL;
}

struct blob_store *store_blobs(struct store *s, struct str stream)
{
    return s->ops->blobs(s, stream);
}

struct err *store_record_path(struct store *s, struct str id, struct arena *a,
                              const char **ret_path)
{
    *ret_path = NULL;
    return s->ops->record_path ? s->ops->record_path(s, id, a, ret_path) : NULL;
}

bool store_owns(const struct store *s, struct str path)
{
    return s->place && s->ops->owns && s->ops->owns(s, path);
}

void store_free(struct store *s)
{
    if (!s)
        return;
    mem_free(TAKE(s->drafts));
    mem_free(TAKE(s->place));
    s->ops->free(s);
}

/* --- what all adapters share --- */

static bool is_id_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

bool store_id_is_valid(struct str id)
{
    if (id.n == 0 || id.n > MAX_ID_BYTES || id.p[0] == '.')
        return false;
    for (size_t i = 0; i < id.n; i++)
        if (!is_id_char(id.p[i]))
            return false;
    return true;
}

struct err *store_check_append(uint64_t next_seq, uint64_t expected_seq,
                               const struct store_record *records, size_t n)
{
    uint64_t seq = expected_seq;

    if (expected_seq != next_seq)
        return err_hint(err_new(ERR_STORAGE,
                                "stale writer: the session has %llu events, expected %llu; another "
                                "process wrote to it",
                                (unsigned long long)(next_seq - 1),
                                (unsigned long long)(expected_seq - 1)),
                        "open the session again");
    for (size_t i = 0; i < n; i++) {
        BUG_IF(records[i].seq != seq || records[i].n_events == 0);
        seq += records[i].n_events;
    }
    return NULL;
}

#define MISSING "cannot store a record: its content %" STR_FMT " is missing"

struct err *store_no_session(struct str given)
{
    return err_hint(err_new(ERR_STORAGE, "session \"%" STR_FMT "\" not found", STR_ARG(given)),
                    "keel session list --all lists the sessions by id and name");
}

struct err *store_payload_missing(struct str handle)
{
    return err_hint(err_new(ERR_STORAGE, MISSING, STR_ARG(handle)),
                    "it was removed in the meantime; try again");
}

bool store_lacks_payload(const struct err *e, struct str handle)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, MISSING, STR_ARG(handle));
    return e && str_is(strbuf_str(&text), e->text);
}

static void add_text(struct strbuf *out, struct str text)
{
    if (text.n == 0)
        return;
    if (out->n)
        strbuf_add_char(out, '\n');
    strbuf_add(out, text);
}

const char *const store_text_types[] = {"user_input", "history_mutation", "provider_response_raw",
                                        "tool_end", NULL};

static bool has_text(struct str type)
{
    for (const char *const *t = store_text_types; *t; t++)
        if (str_is(type, *t))
            return true;
    return false;
}

static bool is_context(const struct json *part)
{
    return str_is(json_get_text(part, "type"), "context");
}

static bool has_other_than_context(const struct json *parts)
{
    json_each (part, parts)
        if (!is_context(part))
            return true;
    return false;
}

/* A message, or an answer as it came. What keel adds to a prompt is in every session, and nobody
 * has said it; what it tells without a prompt holds what commands have printed. */
static void add_message(struct strbuf *out, const struct json *message)
{
    const struct json *parts = json_get(message, "parts");
    bool omits_context = has_other_than_context(parts);

    if (!parts)
        add_text(out, json_get_text(message, "content"));
    json_each (part, parts) {
        if (omits_context && is_context(part))
            continue;
        add_text(out, json_get_text(part, "text"));
        json_each (piece, json_get(part, "content"))
            add_text(out, json_get_text(piece, "text"));
    }
}

void store_record_text(const struct store_record *r, struct strbuf *out)
{
    AUTO(arena) struct arena scratch = {0};
    struct json_where where;
    struct json *body;

    if (!has_text(r->type) || !json_parse_at(&scratch, r->body, JSON_REPAIR_UTF8, &body, &where))
        return;
    if (str_is(json_get_text(body, "mutation"), "rewind"))
        return; /* what is left after it was there before it */
    add_message(out, json_has(body, "parts") ? body : json_get(body, "message"));
    json_each (piece, json_get(json_get(body, "result"), "content"))
        add_text(out, json_get_text(piece, "text"));
}

bool store_query_leaves(const struct store_query *q, struct str type)
{
    for (size_t i = 0; i < q->n_leaves; i++)
        if (str_eq(q->leaves[i], type))
            return true;
    return false;
}

int64_t store_list_bound(const struct store_list_query *q)
{
    return q->before_ms || q->before_id.n ? q->before_ms : INT64_MAX;
}

bool store_is_listed(const struct store_summary *s, const struct store_list_query *q)
{
    int64_t bound = store_list_bound(q);

    if (!str_eq(s->parent, q->parent) || (q->cwd.n && !str_eq(s->cwd, q->cwd)) ||
        (q->name.n && !str_eq(s->name, q->name)))
        return false;
    return s->updated_ms < bound || (s->updated_ms == bound && str_cmp(s->id, q->before_id) < 0);
}
