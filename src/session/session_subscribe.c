/* session_subscribe.c - who attaches late hears the stored events first, then the live ones.
 *
 * The streams of the session and of its children are read from the store and from their journals
 * until nothing is left to read at one moment, in which the subscriber joins the stream. Reading
 * what a journal holds does not wait, so that moment comes however fast a run emits. */
#include "session/session_parts.h"

/* --- the store, as it will be when all is written --- */

struct live_store {
    struct store store; /* first */
    struct blob_store blobs;
    struct session *root;
    struct store *inner;
    struct str stream; /* whose blobs were asked for last */
};

/* Sessions begin and end while others wait: this is looked up after each wait. */
static struct session *find_live(struct session *s, struct str id)
{
    if (str_eq(s->options.id, id))
        return s;
    for (struct session *c = s->live_children; c; c = c->next_sibling) {
        struct session *found = find_live(c, id);

        if (found)
            return found;
    }
    return NULL;
}

static struct journal *find_journal(const struct live_store *x, struct str stream)
{
    struct session *s = find_live(x->root, stream);

    return s ? s->journal : NULL;
}

static struct err *live_read(struct store *store, struct str stream, const struct store_query *q,
                             struct store_page *page)
{
    struct live_store *x = (struct live_store *)store;
    struct journal *j = find_journal(x, stream);

    if (!j || q->from < journal_flushed_seq(j))
        return store_read_over(x->inner, stream, q, page);
    journal_unwritten(j, q->from, page);
    return NULL;
}

static struct blob_store *live_blobs(struct store *store, struct str stream)
{
    struct live_store *x = (struct live_store *)store;

    x->stream = stream;
    x->blobs.max_bytes = store_blobs(x->inner, stream)->max_bytes;
    return &x->blobs;
}

static struct live_store *store_of_blobs(struct blob_store *b)
{
    return (struct live_store *)((char *)b - offsetof(struct live_store, blobs));
}

static bool find_unwritten(const struct live_store *x, struct str handle, struct str *ret_bytes)
{
    const struct journal *j = find_journal(x, x->stream);

    return j && journal_unwritten_blob(j, handle, ret_bytes);
}

static struct err *live_blob_get(struct blob_store *b, struct str handle, uint64_t from, size_t n,
                                 struct strbuf *out)
{
    struct live_store *x = store_of_blobs(b);
    struct str bytes;

    if (!find_unwritten(x, handle, &bytes))
        return blob_get_range(store_blobs(x->inner, x->stream), handle, from, n, out);
    strbuf_add(out, str_slice(bytes, MIN(from, bytes.n), n));
    return NULL;
}

static struct err *live_blob_size(struct blob_store *b, struct str handle, uint64_t *ret_bytes)
{
    struct live_store *x = store_of_blobs(b);
    struct str bytes;

    if (!find_unwritten(x, handle, &bytes))
        return blob_size(store_blobs(x->inner, x->stream), handle, ret_bytes);
    *ret_bytes = bytes.n;
    return NULL;
}

static void live_store_init(struct live_store *x, struct session *root)
{
    static const struct store_ops ops = {.read = live_read, .blobs = live_blobs};
    static const struct blob_ops blob_ops = {.get = live_blob_get, .size = live_blob_size};

    *x = (struct live_store){
        .store.ops = &ops, .blobs.ops = &blob_ops, .root = root, .inner = root->options.store};
}

/* --- one stream --- */

struct feed {
    struct feed *next;
    struct str id;
    struct codec_reader *reader;
    uint64_t end; /* of one that is not open; 0: that must be asked for */
};

struct late_subscriber {
    struct session *session;
    struct event_subscriber *subscriber;
    struct live_store store;
    struct feed *feeds, **last; /* the session's own first */
    uint64_t from_seq;          /* of its own events */
};

static struct feed *find_feed(const struct late_subscriber *a, struct str id)
{
    struct feed *f = a->feeds;

    while (f && !str_eq(f->id, id))
        f = f->next;
    return f;
}

static struct feed *add_feed(struct late_subscriber *a, struct str id, uint64_t from,
                             struct str parent)
{
    struct feed *f = mem_alloc(sizeof *f);

    f->id = str_make(str_dup(id), id.n);
    f->reader = codec_reader_new(&a->store.store, id, from, CODEC_READ_ALL);
    codec_reader_leave(f->reader, CODEC_LEAVE_REQUESTS);
    codec_reader_below(f->reader, parent);
    *a->last = f;
    a->last = &f->next;
    return f;
}

static void feed_free(struct feed *f)
{
    codec_reader_free(f->reader);
    mem_free((char *)f->id.p);
    mem_free(f);
}

static void drop_feed(struct late_subscriber *a, struct feed *f)
{
    struct feed **at = &a->feeds;

    while (*at != f)
        at = &(*at)->next;
    *at = f->next;
    if (a->last == &f->next)
        a->last = at;
    feed_free(f);
}

/* The number after the last event that was emitted, or stored if its session is closed; 0: the
 * store must be asked. Does not wait. */
static uint64_t known_end(const struct late_subscriber *a, struct feed *f)
{
    const struct session *s = find_live(a->session, f->id);

    if (!s || !s->conversation.stream.next_seq)
        return f->end;
    f->end = 0;
    return event_stream_told_seq(&s->conversation.stream);
}

static struct err *find_end(struct late_subscriber *a, struct feed *f, uint64_t *ret_end)
{
    AUTO(arena) struct arena scratch = {0};
    struct store_summary found;
    bool exists;

    while (!(*ret_end = known_end(a, f))) {
        TRY(store_find(a->session->options.store, f->id, &scratch, &found, &exists));
        f->end = exists ? found.next_seq : 1;
    }
    return NULL;
}

static bool is_behind(const struct late_subscriber *a, struct feed *f)
{
    uint64_t end = known_end(a, f);

    return !end || codec_reader_next_seq(f->reader) < end;
}

static struct feed *find_behind(const struct late_subscriber *a, struct feed *from)
{
    while (from && !is_behind(a, from))
        from = from->next;
    return from;
}

/* --- its events --- */

static struct err *catch_up(struct late_subscriber *a, struct feed *f);

static bool is_over(const struct late_subscriber *a)
{
    return !a->subscriber->stream; /* it has unsubscribed */
}

/* Feeds come and go while one is read. */
static struct err *catch_up_children(struct late_subscriber *a)
{
    struct feed *f;

    while (!is_over(a) && (f = find_behind(a, a->feeds->next)))
        TRY(catch_up(a, f));
    return NULL;
}

static struct err *give_event(struct late_subscriber *a, const struct event *e)
{
    struct event_subscriber *x = a->subscriber;

    if (is_over(a))
        return NULL;
    x->on_event(x->self, e);
    return !is_over(a) && x->pace ? x->pace(x->self) : NULL;
}

/* All of the child comes before its end. */
static struct err *give_end(struct late_subscriber *a, const struct event *e, bool is_wanted)
{
    struct feed *child = find_feed(a, e->body.child.id);

    if (is_wanted && child) {
        child->end = 0;
        TRY(catch_up(a, child));
    }
    if (child)
        drop_feed(a, child);
    return is_wanted ? give_event(a, e) : NULL;
}

static struct err *give_begin(struct late_subscriber *a, const struct feed *of,
                              const struct event *e, bool is_wanted)
{
    struct feed *child = find_feed(a, e->body.child.id);

    if (!child)
        child = add_feed(a, e->body.child.id, 1, of->id);
    if (!is_wanted)
        return NULL;
    TRY(give_event(a, e));
    child->end = 0;
    return catch_up(a, child);
}

static struct err *take(struct late_subscriber *a, const struct feed *f, const struct event *e)
{
    bool is_wanted = f != a->feeds || e->seq >= a->from_seq;

    if (f == a->feeds && e->seq == a->from_seq)
        TRY(catch_up_children(a)); /* those that are open there */
    if (e->type == EVENT_CHILD_BEGIN)
        return give_begin(a, f, e, is_wanted);
    if (e->type == EVENT_CHILD_END)
        return give_end(a, e, is_wanted);
    return is_wanted ? give_event(a, e) : NULL;
}

static struct err *read_next(struct feed *f, uint64_t end, const struct event **ret_event)
{
    AUTO(err) struct err *failure = NULL;

    codec_reader_go_on(f->reader);
    failure = codec_read(f->reader, ret_event);
    if (codec_reader_has_failed(f->reader))
        return TAKE(failure);
    TRY(task_check());
    if (*ret_event && (*ret_event)->seq >= end) { /* behind a gap: it comes live */
        codec_reader_skip_to(f->reader, (*ret_event)->seq);
        *ret_event = NULL;
    } else if (!*ret_event && !failure) { /* it could not be stored, and there was too much of it */
        codec_reader_skip_to(f->reader, end);
    }
    return NULL;
}

/* Up to what has been emitted when this returns. A record that cannot be read is skipped. */
static struct err *catch_up(struct late_subscriber *a, struct feed *f)
{
    for (;;) {
        const struct event *e;
        uint64_t end;

        TRY(find_end(a, f, &end));
        if (is_over(a) || codec_reader_next_seq(f->reader) >= end)
            return NULL;
        TRY(read_next(f, end, &e));
        if (e)
            TRY(take(a, f, e));
    }
}

/* --- all of it --- */

static struct err *attach(struct late_subscriber *a)
{
    struct feed *f;

    while (!is_over(a) && (f = find_behind(a, a->feeds)))
        TRY(catch_up(a, f));
    return NULL;
}

static void join(struct late_subscriber *a)
{
    struct event_subscriber *x = a->subscriber;

    event_stream_subscribe(&a->session->conversation.stream, x);
    if (x->on_durable && a->session->journal)
        x->on_durable(x->self, journal_durable_seq(a->session->journal));
}

struct err *session_subscribe(struct session *s, uint64_t from_seq,
                              struct event_subscriber *subscriber)
{
    struct event_stream *stream = &s->conversation.stream;
    struct late_subscriber a = {.session = s, .subscriber = subscriber, .from_seq = from_seq};
    uint64_t base_seq = s->journal ? journal_base_seq(s->journal) : 0;
    struct err *e;

    if (from_seq > stream->next_seq)
        return err_new(ERR_VALIDATION, "session %s has no event %llu: its next one is %llu",
                       s->conversation.id, (unsigned long long)from_seq,
                       (unsigned long long)stream->next_seq);
    event_stream_reserve(stream, subscriber);
    live_store_init(&a.store, s);
    a.last = &a.feeds;
    /* What a history begins with refers to nothing before it. */
    add_feed(&a, s->options.id, base_seq && base_seq <= from_seq ? base_seq : 1,
             stream->parent ? stream->parent->id : (struct str){0});
    e = attach(&a);
    while (a.feeds)
        drop_feed(&a, a.feeds);
    if (e)
        event_stream_unsubscribe(subscriber);
    else if (!is_over(&a))
        join(&a);
    return e;
}
