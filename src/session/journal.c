/* journal.c - events pile up, a task writes them. */
#include "session/journal.h"

#include "session/codec/codec.h"
#include "session/digest.h"
#include "sys/loop.h"

#define NOTICE_SOURCE "store"
#define MAX_PUTS 3 /* of a blob that is removed again and again before the append */

/* Somebody who waits until all before `seq` is as safe as that. */
struct waiting {
    uint64_t seq;
    enum recorder_safety safety;
    struct waker waker;
    struct err *error;
    bool is_answered;
    struct waiting *next;
};

/* Each has its own memory: more may come while one is being written. */
struct records {
    struct codec_record **items;
    size_t n, room;
};

struct journal {
    struct recorder recorder;
    struct journal_options options;
    char *stream;
    struct codec_writer *writer;
    struct records pending; /* in order; the first n_writing of them are being written */
    size_t n_writing;
    size_t n_bytes;
    size_t n_core; /* since the last checkpoint */
    uint64_t next_seq;
    uint64_t flushed_seq, durable_seq; /* the number after the last event that is so safe */
    bool is_running, is_broken, has_warned;
    bool is_hurried; /* what is pending is written at once, although no one waits for it yet */
    enum recorder_safety hurried_to;
    struct waker *sleeper; /* of the writing task while it waits for more; NULL: it does not */
    struct waker *joiner;  /* of the task that waits for that task's end; NULL: none */
    struct waiting *waiting;
    struct arena arena; /* of the update */
    struct store_summary update;
    bool has_update;
    bool is_copy; /* see digest.h */
};

static struct journal *journal_of(struct recorder *r)
{
    return (struct journal *)r;
}

/* --- writing --- */

static struct err *put_blobs(struct blob_store *blobs, struct codec_record *r)
{
    char handle[SHA256_HEX_SIZE];

    r->record.n_payload_bytes = r->n_blob_bytes;
    for (size_t i = 0; i < r->n_blobs; i++) {
        uint64_t n_bytes = r->blobs[i].is_counted ? 0 : r->blobs[i].n_bytes;

        if (!r->blobs[i].is_there) {
            struct err *e = blob_put_soon(blobs, r->blobs[i].bytes, handle);

            if (err_is(e, ERR_VALIDATION))
                e->kind = ERR_STORAGE; /* all that comes from outside has smaller limits */
            TRY(e);
        } else if (!r->blobs[i].is_counted && !n_bytes)
            err_ignore(blob_size(blobs, str_of(r->blobs[i].handle), &n_bytes), "it only counts");
        r->record.n_payload_bytes += n_bytes;
    }
    return NULL;
}

static struct err *append_with(struct journal *j, size_t n, const struct store_summary *update,
                               enum recorder_safety safety)
{
    AUTO(arena) struct arena a = {0};
    struct store_record *records = ARENA_ARRAY(&a, n, struct store_record);
    struct blob_store *blobs = store_blobs(j->options.store, str_of(j->stream));
    size_t n_blobs = 0;

    for (size_t i = 0; i < n; i++) {
        struct codec_record *r = j->pending.items[i];

        codec_record_end(r);
        TRY(put_blobs(blobs, r));
        n_blobs += r->n_blobs;
        records[i] = r->record;
    }
    if (n_blobs && safety == RECORDER_DURABLE)
        TRY(blob_sync(blobs));
    return (safety == RECORDER_DURABLE ? store_append : store_append_soon)(
        j->options.store, str_of(j->stream), records[0].seq, j->options.fence, records, n, update);
}

/* Events that come while this waits change the update, and are part of the next append. */
static struct err *append_records(struct journal *j, size_t n, enum recorder_safety safety)
{
    struct store_summary update = j->update;
    bool has_update = j->has_update;
    struct err *e;

    j->has_update = false;
    e = append_with(j, n, has_update ? &update : NULL, safety);
    j->has_update |= e && has_update;
    return e;
}

static void report_lost(struct journal *j, const char *handle)
{
    AUTO(strbuf) struct strbuf notice = {0};

    strbuf_addf(&notice,
                "stored content %.12s... was removed before the session referred to it: a stored "
                "tool result or the copy of a file is lost",
                handle);
    event_stream_notice(j->options.notices, SEVERITY_ERROR, NOTICE_SOURCE, strbuf_str(&notice));
}

/* A blob whose bytes are not here cannot be put again. The record keeps its name and refers to it
 * no more: without it all that follows would be lost, too. */
static void drop_blob(struct codec_record *r, size_t i)
{
    memmove(&r->blobs[i], &r->blobs[i + 1], (--r->n_blobs - i) * sizeof *r->blobs);
}

/* The store lacks a blob: can the next append do better? */
static bool make_good(struct journal *j, size_t n, const struct err *e, unsigned n_tries)
{
    for (size_t i = 0; i < n; i++) {
        struct codec_record *r = j->pending.items[i];

        for (size_t k = 0; k < r->n_blobs; k++) {
            if (!store_lacks_payload(e, str_of(r->blobs[k].handle)))
                continue;
            if (!r->blobs[k].is_there)
                return n_tries < MAX_PUTS; /* it is put again */
            report_lost(j, r->blobs[k].handle);
            drop_blob(r, k);
            return true;
        }
    }
    return false;
}

/* Others remove blobs that nothing refers to. One that goes after it was put and before the store
 * has the reference is put again. */
static struct err *write_records(struct journal *j, size_t n, enum recorder_safety safety)
{
    for (unsigned n_tries = 1;; n_tries++) {
        struct err *e = append_records(j, n, safety);

        if (!e || !make_good(j, n, e, n_tries))
            return e;
        err_ignore(e, "the next try reports it");
    }
}

static void forget_update(struct journal *j)
{
    if (j->has_update)
        return; /* a newer one came meanwhile */
    arena_done(&j->arena);
    j->arena = (struct arena){0};
    j->update = (struct store_summary){0};
}

static void free_record(struct codec_record *r)
{
    codec_record_done(r);
    mem_free(r);
}

static size_t size_of(const struct codec_record *r)
{
    return r->body.n + r->n_blob_bytes;
}

static void drop_written(struct journal *j, size_t n)
{
    const struct store_record *last = &j->pending.items[n - 1]->record;

    j->flushed_seq = last->seq + last->n_events;
    for (size_t i = 0; i < n; i++)
        free_record(j->pending.items[i]);
    j->pending.n -= n;
    memmove(j->pending.items, j->pending.items + n, j->pending.n * sizeof *j->pending.items);
    j->n_bytes = 0;
    for (size_t i = 0; i < j->pending.n; i++)
        j->n_bytes += size_of(j->pending.items[i]);
}

static bool is_safe(const struct journal *j, uint64_t seq, enum recorder_safety safety)
{
    return seq <= (safety == RECORDER_DURABLE ? j->durable_seq : j->flushed_seq);
}

static void answer(struct journal *j, const struct err *failure)
{
    for (struct waiting *w = j->waiting; w; w = w->next)
        if (failure || is_safe(j, w->seq, w->safety)) {
            if (!w->is_answered && failure)
                w->error = err_copy(failure);
            w->is_answered = true;
            waker_wake(&w->waker);
        }
}

static void warn(struct journal *j, const struct err *e)
{
    AUTO_FREE char *text = err_message(e);
    AUTO(strbuf) struct strbuf notice = {0};

    if (j->has_warned)
        return;
    j->has_warned = true;
    strbuf_addf(&notice, "the session is not being stored: %s", text);
    event_stream_notice(j->options.notices, SEVERITY_ERROR, NOTICE_SOURCE, strbuf_str(&notice));
}

/* For a moment, or until a task waits for it: what comes together is written together. */
static void wait_for_more(struct journal *j)
{
    struct waker waker;
    struct deadline deadline;

    if (j->waiting || j->is_hurried)
        return;
    waker_init(&waker);
    j->sleeper = &waker;
    deadline_begin(&deadline, JOURNAL_DELAY_MS, "collecting events");
    err_ignore(waker_park(&waker), "woken, late or cancelled: it is written now");
    deadline_end(&deadline);
    j->sleeper = NULL;
}

/* What is pending is only flushed if no task asks for more. */
static enum recorder_safety wanted_safety(const struct journal *j)
{
    bool is_wanted = j->is_hurried;
    enum recorder_safety safety = j->is_hurried ? j->hurried_to : RECORDER_FLUSHED;

    for (const struct waiting *w = j->waiting; w; w = w->next) {
        is_wanted |= !w->is_answered;
        safety = w->is_answered ? safety : MAX(safety, w->safety);
    }
    return is_wanted ? safety : RECORDER_DURABLE;
}

static void note_durable(struct journal *j, uint64_t seq)
{
    j->durable_seq = seq;
    if (j->recorder.on_durable)
        j->recorder.on_durable(j->recorder.durable_self, seq);
}

static struct err *write_pending(struct journal *j)
{
    enum recorder_safety safety;
    struct err *e;

    wait_for_more(j);
    safety = wanted_safety(j);
    task_shield_begin();
    j->n_writing = j->pending.n;
    j->is_hurried = false;
    e = write_records(j, j->n_writing, safety);
    if (!e) {
        drop_written(j, j->n_writing);
        forget_update(j);
    }
    j->n_writing = 0;
    task_shield_end();
    if (!e && safety == RECORDER_DURABLE)
        note_durable(j, j->flushed_seq);
    return e;
}

/* Blobs first, as records refer to them. */
static struct err *sync_flushed(struct journal *j)
{
    struct blob_store *blobs = store_blobs(j->options.store, str_of(j->stream));
    uint64_t seq = j->flushed_seq;
    struct err *e;

    task_shield_begin();
    e = blob_sync(blobs);
    if (!e)
        e = store_sync(j->options.store);
    task_shield_end();
    if (!e)
        note_durable(j, seq);
    return e;
}

/* What fails stays for the next try. */
static struct err *write_task(void *arg)
{
    struct journal *j = arg;
    struct err *e = NULL;

    while (!e && (j->pending.n || j->durable_seq < j->flushed_seq)) {
        e = j->durable_seq < j->flushed_seq ? sync_flushed(j) : write_pending(j);
        answer(j, e);
    }
    if (e)
        warn(j, e);
    err_free(e);
    j->is_running = false;
    if (j->joiner)
        waker_wake(j->joiner);
    return NULL;
}

static void start_writing(struct journal *j)
{
    if (j->is_running || (!j->pending.n && j->durable_seq == j->flushed_seq))
        return;
    j->is_running = true;
    group_spawn(j->options.tasks, "journal", write_task, j);
}

/* --- recording --- */

/* How many messages there are with this event; 0: it does not change that. */
static uint64_t digest(struct journal *j, const struct event *e)
{
    uint64_t before = j->update.n_messages, now;

    j->update.n_messages = 0;
    j->has_update |= digest_event(&j->update, &j->arena, e, &j->is_copy);
    now = j->update.n_messages;
    if (!now)
        j->update.n_messages = before;
    return now;
}

static void append(struct recorder *recorder, const struct event *e)
{
    struct journal *j = journal_of(recorder);
    struct records *p = &j->pending;
    struct codec_record *last = p->n > j->n_writing ? p->items[p->n - 1] : NULL, next;
    size_t before = last ? size_of(last) : 0;
    uint64_t n_messages;

    j->next_seq = e->seq + 1;
    j->n_core = e->type == EVENT_CHECKPOINT ? 0 : j->n_core + event_has_trait(e->type, TRAIT_CORE);
    if (j->is_broken)
        return;
    n_messages = digest(j, e);
    if (codec_write(j->writer, e, last, &next)) {
        j->n_bytes += size_of(last) - before;
    } else {
        if (p->n == p->room) {
            p->room = p->room ? 2 * p->room : 16;
            p->items = mem_resize(p->items, p->room * sizeof *p->items);
        }
        p->items[p->n++] = mem_copy(&next, sizeof next);
        j->n_bytes += size_of(&next);
    }
    if (n_messages)
        p->items[p->n - 1]->record.n_messages = n_messages;
    j->is_broken = j->n_bytes > JOURNAL_MAX_BACKLOG_BYTES;
    start_writing(j);
}

static void write_now(struct journal *j)
{
    start_writing(j);
    if (j->sleeper)
        waker_wake(j->sleeper);
}

static void hurry(struct recorder *recorder, enum recorder_safety safety)
{
    struct journal *j = journal_of(recorder);

    j->hurried_to = j->is_hurried ? MAX(safety, j->hurried_to) : safety;
    j->is_hurried = j->pending.n > j->n_writing;
    write_now(j);
}

static void leave(struct journal *j, struct waiting *w)
{
    struct waiting **at = &j->waiting;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
}

static struct err *wait_until_safe(struct journal *j, enum recorder_safety safety)
{
    struct waiting w = {.seq = j->next_seq, .safety = safety};
    struct err *e;

    if (is_safe(j, w.seq, safety))
        return NULL;
    if (j->is_broken)
        return err_new(ERR_STORAGE,
                       "session %s: the store is not accepting writes; the backlog is full",
                       j->stream);
    waker_init(&w.waker);
    w.next = j->waiting;
    j->waiting = &w;
    write_now(j);
    e = waker_park(&w.waker);
    leave(j, &w);
    if (!e)
        return w.error;
    err_free(w.error);
    return e;
}

static struct err *wait_for_all(struct recorder *recorder, enum recorder_safety safety)
{
    struct journal *j = journal_of(recorder);
    struct err *e = wait_until_safe(j, safety);

    if (!err_is(e, ERR_STORAGE) || j->options.on_failure == JOURNAL_STOPS)
        return e;
    err_free(e);
    return NULL;
}

/* --- its life --- */

struct journal *journal_new(const struct journal_options *options)
{
    struct journal *j = mem_alloc(sizeof *j);

    j->recorder = (struct recorder){.append = append, .wait = wait_for_all, .hurry = hurry};
    j->options = *options;
    j->stream = str_dup(options->stream);
    j->writer = codec_writer_new();
    if (options->pack_from)
        codec_writer_pack_from(j->writer, options->pack_from);
    j->next_seq = j->flushed_seq = j->durable_seq = options->next_seq;
    return j;
}

void journal_continue(struct journal *j, const struct codec_position *at)
{
    codec_writer_continue(j->writer, at);
    j->is_copy = at->n_messages > 0; /* where no run has begun yet: else it does not matter */
}

struct recorder *journal_recorder(struct journal *j)
{
    return &j->recorder;
}

struct err *journal_sync(struct journal *j)
{
    return wait_for_all(&j->recorder, RECORDER_DURABLE);
}

uint64_t journal_durable_seq(const struct journal *j)
{
    return j->durable_seq;
}

uint64_t journal_flushed_seq(const struct journal *j)
{
    return j->flushed_seq;
}

static struct store_record copy_record(struct arena *a, const struct store_record *r)
{
    struct store_record copy = *r;

    copy.type = arena_str(a, r->type);
    copy.run_id = arena_str(a, r->run_id);
    copy.body = arena_str(a, r->body);
    copy.payloads = NULL; /* readers find them by what the body says */
    copy.n_payloads = 0;
    return copy;
}

void journal_unwritten(struct journal *j, uint64_t from, struct store_page *ret_page)
{
    struct store_page *page = ret_page;

    *page = (struct store_page){.arena = page->arena};
    page->records = ARENA_ARRAY(&page->arena, j->pending.n, struct store_record);
    for (size_t i = 0; i < j->pending.n; i++) {
        struct codec_record *r = j->pending.items[i];

        if (r->record.seq + r->record.n_events <= from)
            continue;
        codec_record_end(r);
        page->records[page->n++] = copy_record(&page->arena, &r->record);
    }
}

bool journal_unwritten_blob(const struct journal *j, struct str handle, struct str *ret_bytes)
{
    for (size_t i = 0; i < j->pending.n; i++) {
        const struct codec_record *r = j->pending.items[i];

        for (size_t k = 0; k < r->n_blobs; k++)
            if (!r->blobs[k].is_there && str_is(handle, r->blobs[k].handle)) {
                *ret_bytes = r->blobs[k].bytes;
                return true;
            }
    }
    return false;
}

uint64_t journal_base_seq(const struct journal *j)
{
    return codec_writer_base(j->writer);
}

bool journal_has_warned(const struct journal *j)
{
    return j->has_warned;
}

size_t journal_n_core(const struct journal *j)
{
    return j->n_core;
}

void journal_join(struct journal *j)
{
    struct waker waker;

    if (!j->is_running)
        return;
    waker_init(&waker);
    j->joiner = &waker;
    task_shield_begin();
    err_ignore(waker_park(&waker), "nothing reaches into a shield");
    task_shield_end();
    j->joiner = NULL;
}

void journal_free(struct journal *j)
{
    if (!j)
        return;
    BUG_IF(j->is_running);
    for (size_t i = 0; i < j->pending.n; i++)
        free_record(j->pending.items[i]);
    mem_free(j->pending.items);
    codec_writer_free(j->writer);
    arena_done(&j->arena);
    mem_free(j->stream);
    mem_free(j);
}
