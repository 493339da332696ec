/* memory.c - streams as arrays: the plain form of what the other stores do with a database. */
#include "store/memory.h"

#include "base/mem.h"
#include "store/blob_memory.h"
#include "store/excerpt.h"

#include <stdlib.h>

struct memory_stream {
    struct arena texts; /* of the summary */
    struct store_summary summary;
    struct memory_stream *root;
    struct arena arena; /* of the records */
    struct store_record *records;
    size_t n, room;
    uint64_t fence;
    bool is_leased;
};

struct memory {
    struct store store;
    struct memory_stream **streams; /* sorted by their last change, newest last */
    size_t n, room;
    struct blob_store *blobs;
    struct store_belief belief;
};

/* --- streams --- */

static struct memory_stream *find_stream(const struct memory *m, struct str id)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_eq(m->streams[i]->summary.id, id))
            return m->streams[i];
    return NULL;
}

static void copy_text(struct memory_stream *s, struct str *to, struct str from)
{
    if (from.n)
        *to = arena_str(&s->texts, from);
}

static void apply_update(struct memory_stream *s, const struct store_summary *u)
{
    struct store_summary *to = &s->summary;

    copy_text(s, &to->cwd, u->cwd);
    copy_text(s, &to->name, u->name);
    copy_text(s, &to->provider, u->provider);
    copy_text(s, &to->model, u->model);
    copy_text(s, &to->preview, u->preview);
    to->updated_ms = MAX(to->updated_ms, u->updated_ms);
    if (u->n_messages)
        to->n_messages = u->n_messages == STORE_NO_MESSAGES ? 0 : u->n_messages;
}

/* Moves it before those that were used later. */
static void put_back(struct memory *m, size_t i)
{
    struct memory_stream *s = m->streams[i];

    for (; i && m->streams[i - 1]->summary.updated_ms > s->summary.updated_ms; i--)
        m->streams[i] = m->streams[i - 1];
    m->streams[i] = s;
}

/* Sorts it in again after a change. */
static void touch(struct memory *m, struct memory_stream *s)
{
    size_t i = 0;

    while (i < m->n && m->streams[i] != s)
        i++;
    for (; i + 1 < m->n && m->streams[i + 1]->summary.updated_ms <= s->summary.updated_ms; i++)
        m->streams[i] = m->streams[i + 1];
    m->streams[i] = s;
    put_back(m, i);
}

static struct memory_stream *add_stream(struct memory *m, struct str id,
                                        const struct store_summary *c)
{
    struct memory_stream *s = mem_alloc(sizeof *s);

    s->summary = (struct store_summary){.id = arena_str(&s->texts, id),
                                        .parent = arena_str(&s->texts, c->parent),
                                        .created_ms = c->created_ms,
                                        .updated_ms = c->created_ms,
                                        .next_seq = 1};
    s->root = c->parent.n ? find_stream(m, c->parent)->root : s;
    apply_update(s, c);
    m->streams = mem_grow(m->streams, m->n, &m->room, sizeof *m->streams);
    m->streams[m->n++] = s;
    touch(m, s);
    return s;
}

static void free_stream(struct memory_stream *s)
{
    arena_done(&s->texts);
    arena_done(&s->arena);
    mem_free(s);
}

/* --- the lease --- */

static struct err *memory_open(struct store *store, struct str id,
                               const struct store_summary *create, struct arena *a,
                               struct store_lease *ret_lease)
{
    struct memory *m = (struct memory *)store;
    struct memory_stream *s = find_stream(m, id);

    if (!s && !create)
        return store_no_session(id);
    if (s && s->is_leased)
        return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open already", STR_ARG(id)),
                        "close it there, or continue in a copy: keel session fork %" STR_FMT
                        ", or keel -p -r %" STR_FMT " --fork-session PROMPT",
                        STR_ARG(id), STR_ARG(id));
    ret_lease->is_new = !s;
    if (!s)
        s = add_stream(m, id, create);
    s->is_leased = true;
    ret_lease->fence = ++s->fence;
    ret_lease->next_seq = s->summary.next_seq;
    return NULL;
}

static void memory_close(struct store *store, struct str id, uint64_t fence)
{
    struct memory_stream *s = find_stream((struct memory *)store, id);

    if (s && s->fence == fence)
        s->is_leased = false;
}

static struct err *check_fence(const struct memory_stream *s, uint64_t fence)
{
    if (s->root->is_leased && s->root->fence == fence)
        return NULL;
    return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is now written by another process",
                            STR_ARG(s->root->summary.id)),
                    "open it again, or continue in a copy of it with --fork-session");
}

static struct err *memory_add_child(struct store *store, const struct store_summary *child,
                                    uint64_t fence)
{
    struct memory *m = (struct memory *)store;
    struct memory_stream *parent = find_stream(m, child->parent);

    if (!parent)
        return store_no_session(child->parent);
    TRY(check_fence(parent, fence));
    if (find_stream(m, child->id))
        return err_new(ERR_STORAGE, "session %" STR_FMT " already exists", STR_ARG(child->id));
    add_stream(m, child->id, child);
    return NULL;
}

/* --- records --- */

static struct store_record copy_record(struct arena *a, const struct store_record *r)
{
    struct store_record copy = *r;
    struct str *payloads = ARENA_ARRAY(a, r->n_payloads, struct str);

    copy.type = arena_str(a, r->type);
    copy.run_id = arena_str(a, r->run_id);
    copy.body = arena_str(a, r->body);
    for (size_t i = 0; i < r->n_payloads; i++)
        payloads[i] = arena_str(a, r->payloads[i]);
    copy.payloads = payloads;
    return copy;
}

static struct err *check_payloads(struct blob_store *blobs, const struct store_record *r)
{
    for (size_t i = 0; i < r->n_payloads; i++) {
        uint64_t n_bytes;
        struct err *e = blob_size(blobs, r->payloads[i], &n_bytes);

        if (e) {
            err_ignore(e, "the caller gets a better one");
            return store_payload_missing(r->payloads[i]);
        }
    }
    return NULL;
}

static struct err *memory_append(struct store *store, struct str stream, uint64_t expected_seq,
                                 uint64_t fence, const struct store_record *records, size_t n,
                                 const struct store_summary *update)
{
    struct memory *m = (struct memory *)store;
    struct memory_stream *s = find_stream(m, stream);

    if (!s)
        return store_no_session(stream);
    TRY(check_fence(s, fence));
    TRY(store_check_append(s->summary.next_seq, expected_seq, records, n));
    for (size_t i = 0; i < n; i++)
        TRY(check_payloads(m->blobs, &records[i]));
    for (size_t i = 0; i < n; i++) {
        s->records = arena_grow(&s->arena, s->records, s->n, &s->room, sizeof *s->records);
        s->records[s->n++] = copy_record(&s->arena, &records[i]);
        s->summary.next_seq += records[i].n_events;
        s->summary.n_bytes += records[i].body.n + records[i].n_payload_bytes;
        s->summary.updated_ms = MAX(s->summary.updated_ms, records[i].unix_ms);
    }
    if (update)
        apply_update(s, update);
    touch(m, s);
    return NULL;
}

static bool is_wanted(const struct store_record *r, const struct store_query *q)
{
    if (r->seq + r->n_events <= q->from || (q->to && r->seq >= q->to))
        return false;
    return (!q->core_only || r->is_core) && (q->type.n == 0 || str_eq(q->type, r->type)) &&
           !store_query_leaves(q, r->type);
}

static struct err *memory_read(struct store *store, struct str stream, const struct store_query *q,
                               struct store_page *page)
{
    struct memory_stream *s = find_stream((struct memory *)store, stream);
    size_t n_bytes = 0, room = 0;

    if (!s)
        return store_no_session(stream);
    for (size_t i = 0; i < s->n; i++) {
        const struct store_record *r = &s->records[q->newest_first ? s->n - 1 - i : i];

        if (!is_wanted(r, q))
            continue;
        page->has_more = (q->n_max && page->n == q->n_max) || n_bytes >= STORE_PAGE_BYTES;
        if (page->has_more)
            break;
        page->records =
            arena_grow(&page->arena, page->records, page->n, &room, sizeof *page->records);
        page->records[page->n++] = copy_record(&page->arena, r);
        n_bytes += r->body.n;
    }
    return NULL;
}

/* --- the index --- */

static struct store_summary copy_summary(struct arena *a, const struct memory_stream *s)
{
    struct store_summary copy = s->summary;

    copy.id = arena_str(a, copy.id);
    copy.parent = arena_str(a, copy.parent);
    copy.cwd = arena_str(a, copy.cwd);
    copy.name = arena_str(a, copy.name);
    copy.provider = arena_str(a, copy.provider);
    copy.model = arena_str(a, copy.model);
    copy.preview = arena_str(a, copy.preview);
    copy.is_open = s->root->is_leased;
    copy.holder = copy.is_open ? S("this process") : (struct str){0};
    return copy;
}

static struct err *memory_find(struct store *store, struct str id, struct arena *a,
                               struct store_summary *ret_summary, bool *ret_found)
{
    const struct memory_stream *s = find_stream((struct memory *)store, id);

    *ret_found = s != NULL;
    if (s)
        *ret_summary = copy_summary(a, s);
    return NULL;
}

/* Newest first; for equal times the greater id. */
static int compare_summaries(const void *a, const void *b)
{
    const struct store_summary *x = a, *y = b;

    if (x->updated_ms != y->updated_ms)
        return x->updated_ms < y->updated_ms ? 1 : -1;
    return str_cmp(y->id, x->id);
}

static struct err *memory_list(struct store *store, const struct store_list_query *q,
                               struct arena *a, struct store_summary **ret_items, size_t *ret_n)
{
    const struct memory *m = (struct memory *)store;
    struct store_summary *items = ARENA_ARRAY(a, m->n, struct store_summary);
    size_t n = 0;

    for (size_t i = 0; i < m->n; i++)
        if (store_is_listed(&m->streams[i]->summary, q))
            items[n++] = copy_summary(a, m->streams[i]);
    qsort(items, n, sizeof *items, compare_summaries);
    *ret_items = items;
    *ret_n = q->n_max ? MIN(n, q->n_max) : n;
    return NULL;
}

static void search_stream(const struct memory_stream *s, struct str words, size_t n_max,
                          struct arena *a, struct store_hit *hits, size_t *n)
{
    for (size_t i = s->n; i-- > 0 && *n < n_max;) {
        AUTO(strbuf) struct strbuf text = {0};
        struct str excerpt;

        store_record_text(&s->records[i], &text);
        if (!excerpt_find(strbuf_str(&text), words, a, &excerpt))
            continue;
        hits[(*n)++] = (struct store_hit){copy_summary(a, s), s->records[i].seq, excerpt};
    }
}

static struct err *memory_search(struct store *store, struct str words, size_t n_max,
                                 struct arena *a, struct store_hit **ret_hits, size_t *ret_n)
{
    const struct memory *m = (struct memory *)store;

    *ret_hits = ARENA_ARRAY(a, n_max, struct store_hit);
    for (size_t i = m->n; i-- > 0;)
        search_stream(m->streams[i], words, n_max, a, *ret_hits, ret_n);
    return NULL;
}

/* --- ends --- */

static void remove_at(struct memory *m, size_t i)
{
    free_stream(m->streams[i]);
    memmove(&m->streams[i], &m->streams[i + 1], (--m->n - i) * sizeof *m->streams);
}

static struct err *memory_remove(struct store *store, struct str id)
{
    struct memory *m = (struct memory *)store;
    struct memory_stream *s = find_stream(m, id);

    if (!s)
        return NULL;
    if (s->root->is_leased)
        return err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open", STR_ARG(id)),
                        "close it first");
    for (size_t i = m->n; i-- > 0;)
        if (m->streams[i]->root == s && m->streams[i] != s)
            remove_at(m, i);
    for (size_t i = m->n; i-- > 0;)
        if (m->streams[i] == s)
            remove_at(m, i);
    return NULL;
}

static struct err *memory_update(struct store *store, const struct store_summary *u)
{
    struct memory_stream *s = find_stream((struct memory *)store, u->id);

    if (!s)
        return store_no_session(u->id);
    apply_update(s, u);
    touch((struct memory *)store, s);
    return NULL;
}

static struct err *memory_rebuild(struct store *store)
{
    return NULL; /* nothing is derived here */
}

static struct err *memory_clamp_times(struct store *store, int64_t after_ms, int64_t to_ms)
{
    struct memory *m = (struct memory *)store;

    for (size_t i = 0; i < m->n; i++)
        if (m->streams[i]->summary.updated_ms > after_ms)
            m->streams[i]->summary.updated_ms = to_ms;
    for (size_t i = 1; i < m->n; i++)
        put_back(m, i);
    return NULL;
}

static struct err *memory_read_belief(struct store *store, struct store_belief *ret_belief)
{
    *ret_belief = ((struct memory *)store)->belief;
    return NULL;
}

static struct err *memory_write_belief(struct store *store, const struct store_belief *b)
{
    ((struct memory *)store)->belief = *b;
    return NULL;
}

static struct blob_store *memory_blobs(struct store *store, struct str stream)
{
    return ((struct memory *)store)->blobs;
}

static void memory_free(struct store *store)
{
    struct memory *m = (struct memory *)store;

    for (size_t i = 0; i < m->n; i++)
        free_stream(m->streams[i]);
    mem_free(m->streams);
    blob_store_free(m->blobs);
    mem_free(m);
}

struct store *store_memory_new(void)
{
    static const struct store_ops ops = {
        .name = "memory",
        .open = memory_open,
        .close = memory_close,
        .add_child = memory_add_child,
        .append = memory_append,
        .read = memory_read,
        .find = memory_find,
        .list = memory_list,
        .search = memory_search,
        .remove = memory_remove,
        .update = memory_update,
        .rebuild = memory_rebuild,
        .clamp_times = memory_clamp_times,
        .read_belief = memory_read_belief,
        .write_belief = memory_write_belief,
        .blobs = memory_blobs,
        .free = memory_free,
    };
    struct memory *m = mem_alloc(sizeof *m);

    m->store.ops = &ops;
    m->blobs = blob_memory_new(0);
    return &m->store;
}
