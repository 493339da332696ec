/* sqlite.c - passes changes and looks from tasks to workers. Changes that wait together share one
 * transaction.
 *
 * The first task carries out all changes that wait; the others wait. So one fsync serves all that
 * came during the one before it, and no store has a thread of its own. Looks have a connection of
 * their own, because readers do not wait for writers. */
#include "store/sqlite.h"

#include "store/blob_files.h"
#include "store/leases.h"
#include "store/record_sum.h"
#include "store/session_lock.h"
#include "store/sqlite_log.h"
#include "store/sqlite_store.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/loop.h"
#include "sys/work.h"

#include <pthread.h>
#include <string.h>

#define GLANCE_ROWS 4 /* of a list that is read on the writer's connection */

struct waiting_job {
    struct sqlite_job *job;
    struct waker waker;
    struct err *error;
    struct waiting_job *next;
};

struct sqlite_store {
    struct store store;
    char *path, *lock_dir;
    struct blob_store *blobs;
    struct leases *leases;

    struct sqlite_db writer; /* used by one worker at a time */
    bool is_writing;
    bool has_writer, has_reader; /* the connection is open, or a task is opening it */
    struct waiting_job *first, **last;

    pthread_mutex_t looking; /* guards the reader */
    struct sqlite_db reader;
};

static struct sqlite_store *sqlite_of(struct store *s)
{
    return (struct sqlite_store *)s;
}

static struct err *open_db(struct sqlite_db *db, const char *path)
{
    struct err *e;

    if (db->handle)
        return NULL;
    e = sqlite_db_open(db, path);
    if (e)
        sqlite_db_close(db);
    return e;
}

/* --- changes --- */

struct sqlite_batch {
    struct sqlite_store *store;
    struct waiting_job *first;
    bool lacks_room;
};

/* A job that was refused has changed nothing; the others must not suffer for it. */
static struct err *run_jobs(struct sqlite_db *db, struct waiting_job *first)
{
    for (struct waiting_job *w = first; w; w = w->next) {
        struct err *e = w->job->run ? w->job->run(db, w->job) : NULL;

        if (e && !err_is(e, ERR_VALIDATION))
            return e;
        w->error = e;
        if (e)
            e->kind = ERR_STORAGE;
    }
    return NULL;
}

/* What a batch needs. */
struct batch_needs {
    bool changes;        /* it changes something */
    bool durable_change; /* which a power loss must not undo */
    bool sync;           /* of earlier changes, or of its own */
};

static struct batch_needs find_needs(const struct waiting_job *first)
{
    struct batch_needs needs = {0};

    for (const struct waiting_job *w = first; w; w = w->next) {
        needs.changes |= w->job->run != NULL;
        needs.durable_change |= w->job->run && !w->job->may_be_lost;
        needs.sync |= !w->job->run;
    }
    return needs;
}

/* A commit stays committed: a failing sync is the error only of those who wait for the disk. */
static void sync_log(struct sqlite_db *db, struct waiting_job *first)
{
    AUTO(err) struct err *e = sqlite_log_sync(db);

    for (struct waiting_job *w = first; e && w; w = w->next)
        if (!w->job->run)
            w->error = err_copy(e);
}

static struct err *run_transactions(struct sqlite_db *db, struct waiting_job *first)
{
    struct batch_needs needs = find_needs(first);

    if (needs.changes) {
        TRY(sqlite_set_durable(db, needs.durable_change));
        TRY(sqlite_begin_transaction(db));
        sqlite_log_make_room(db);
        TRY(sqlite_end_transaction(db, run_jobs(db, first)));
    }
    if (needs.sync)
        sync_log(db, first);
    return NULL;
}

static struct err *batch_commit(void *arg)
{
    struct sqlite_batch *b = arg;
    struct sqlite_db *db = &b->store->writer;
    struct err *e;

    TRY(open_db(db, b->store->path));
    db->lacks_room = false;
    e = run_transactions(db, b->first);
    b->lacks_room = e && db->lacks_room;
    return e;
}

/* If the transaction failed, all of them failed. */
static void end_batch(const struct sqlite_batch *b, const struct err *failure,
                      const struct waiting_job *own)
{
    for (struct waiting_job *w = b->first, *next; w; w = next) {
        next = w->next;                                  /* a woken waiter is gone */
        w->job->lacks_room = b->lacks_room && !w->error; /* a refused job would be refused anyway */
        if (failure && !w->error)
            w->error = err_copy(failure);
        if (w != own)
            waker_wake(&w->waker);
    }
}

static void write_all(struct sqlite_store *s, const struct waiting_job *own)
{
    s->is_writing = s->has_writer = true;
    task_shield_begin(); /* others wait for this */
    while (s->first) {
        struct sqlite_batch b = {.store = s, .first = s->first};
        AUTO(err) struct err *e = NULL;

        s->first = NULL;
        s->last = &s->first;
        e = work_run(batch_commit, &b);
        end_batch(&b, e, own);
    }
    task_shield_end();
    s->is_writing = false;
}

/* A change that was handed in is made, even if its task no longer waits. */
static struct err *change(struct store *store, struct sqlite_job *job)
{
    struct sqlite_store *s = sqlite_of(store);
    struct waiting_job w = {.job = job};

    job->unix_ms = clock_unix_ms(loop_clock(task_loop()));
    waker_init(&w.waker);
    *s->last = &w;
    s->last = &w.next;
    if (!s->is_writing) {
        write_all(s, &w);
        return w.error;
    }
    task_shield_begin();
    err_ignore(waker_park(&w.waker), "a shielded wait is not interrupted");
    task_shield_end();
    return w.error;
}

/* --- leases --- */

struct lock_call {
    struct sqlite_store *store;
    struct str id;
};

static struct err *lock_take(void *arg)
{
    const struct lock_call *c = arg;

    return leases_take(c->store->leases, c->id);
}

/* Under its lock: a session that was removed on a full disk must not come back. */
static struct err *finish_removal(struct sqlite_store *s, struct str id)
{
    struct sqlite_job job = {.run = sqlite_job_remove, .id = id, .lock_dir = s->lock_dir};

    if (!sqlite_is_marked(s->lock_dir, id))
        return NULL;
    TRY(change(&s->store, &job));
    sqlite_unmark(s->lock_dir, id);
    return NULL;
}

static struct err *sqlite_open_session(struct store *store, struct str id,
                                       const struct store_summary *create, struct arena *a,
                                       struct store_lease *ret_lease)
{
    struct lock_call lock = {.store = sqlite_of(store), .id = id};
    /* A power loss may undo a new session or its lease: nothing was reported yet. */
    struct sqlite_job job = {.run = sqlite_job_open,
                             .id = id,
                             .summary = create,
                             .ret_lease = ret_lease,
                             .arena = a,
                             .may_be_lost = true};
    struct err *e;

    TRY(work_run(lock_take, &lock));
    e = finish_removal(lock.store, id);
    if (!e)
        e = change(store, &job);
    if (e)
        leases_release(lock.store->leases, id, 0);
    else
        leases_set_fence(lock.store->leases, id, ret_lease->fence);
    return e;
}

static void sqlite_close_session(struct store *store, struct str id, uint64_t fence)
{
    struct sqlite_job job = {
        .run = sqlite_job_close, .id = id, .fence = fence, .may_be_lost = true};

    err_ignore(change(store, &job), "the next opener checks the lock");
    leases_release(sqlite_of(store)->leases, id, fence);
}

/* --- changes of the port --- */

static struct err *sqlite_add_child(struct store *store, const struct store_summary *child,
                                    uint64_t fence)
{
    struct sqlite_job job = {
        .run = sqlite_job_add_child, .id = child->id, .summary = child, .fence = fence};

    return change(store, &job);
}

static struct sqlite_job append_job(struct store *store, struct str stream, uint64_t expected_seq,
                                    uint64_t fence, const struct store_record *records, size_t n,
                                    const struct store_summary *update)
{
    return (struct sqlite_job){.run = sqlite_job_append,
                               .blobs = sqlite_of(store)->blobs,
                               .id = stream,
                               .fence = fence,
                               .expected_seq = expected_seq,
                               .records = records,
                               .n_records = n,
                               .summary = update};
}

static struct err *sqlite_append(struct store *store, struct str stream, uint64_t expected_seq,
                                 uint64_t fence, const struct store_record *records, size_t n,
                                 const struct store_summary *update)
{
    struct sqlite_job job = append_job(store, stream, expected_seq, fence, records, n, update);

    return change(store, &job);
}

static struct err *sqlite_append_soon(struct store *store, struct str stream, uint64_t expected_seq,
                                      uint64_t fence, const struct store_record *records, size_t n,
                                      const struct store_summary *update)
{
    struct sqlite_job job = append_job(store, stream, expected_seq, fence, records, n, update);

    job.may_be_lost = true;
    return change(store, &job);
}

static struct err *sqlite_sync(struct store *store)
{
    struct sqlite_job job = {0};

    return change(store, &job);
}

static struct err *sqlite_update_session(struct store *store, const struct store_summary *update)
{
    struct sqlite_job job = {.run = sqlite_job_update, .id = update->id, .summary = update};

    return change(store, &job);
}

/* --- removing --- */

/* What must be known before something is removed. */
struct removal_look {
    const struct sqlite_store *store;
    bool has_neighbour, has_little_room;
    struct arena arena;
    struct sqlite_marks marks;
};

static struct err *removal_prepare(void *arg)
{
    struct removal_look *l = arg;

    l->has_neighbour = sqlite_has_neighbour(l->store->path);
    l->has_little_room = sqlite_has_little_room(l->store->path);
    sqlite_marks_read(l->store->lock_dir, &l->arena, &l->marks);
    return NULL;
}

static struct err *remove_rows(struct sqlite_store *s, struct str id, bool *ret_lacks_room)
{
    struct sqlite_job job = {.run = sqlite_job_remove, .id = id, .lock_dir = s->lock_dir};
    struct err *e = change(&s->store, &job);

    *ret_lacks_room = e && job.lacks_room;
    return e;
}

/* Under its lock. The session is gone already; its rows go now, or when there is room. */
static struct err *remove_marked(struct sqlite_store *s, struct str id, bool has_neighbour)
{
    struct sqlite_job job = {
        .run = sqlite_job_drop_payloads, .blobs = s->blobs, .lock_dir = s->lock_dir};
    bool lacks_room;
    struct err *e = remove_rows(s, id, &lacks_room);

    if (e && lacks_room && !has_neighbour) {
        err_free(e);
        TRY(change(&s->store, &job));
        e = remove_rows(s, id, &lacks_room);
    }
    if (!e)
        sqlite_unmark(s->lock_dir, id);
    if (!lacks_room)
        return e;
    err_ignore(e, "the next sweep tries it again");
    return NULL;
}

static void finish_marked(struct sqlite_store *s, const struct removal_look *l)
{
    for (size_t i = 0; i < l->marks.n; i++) {
        struct lock_call lock = {.store = s, .id = l->marks.ids[i]};
        struct err *e = work_run(lock_take, &lock);

        if (!e) {
            e = remove_marked(s, lock.id, l->has_neighbour);
            leases_release(s->leases, lock.id, 0);
        }
        err_ignore(e, "it counts as gone; the next sweep tries it again");
    }
}

/* A neighbour may need what this database does not. On a full disk the files are removed before the
 * commit fails, which makes room for the next try. */
static struct err *collect(struct sqlite_store *s, const struct removal_look *l)
{
    struct sqlite_job job = {.run = sqlite_job_collect,
                             .blobs = s->blobs,
                             .is_urgent = l->has_little_room,
                             .has_more = !l->has_neighbour};
    unsigned n_failures = 0;

    while (job.has_more && n_failures < 2) {
        struct err *e = change(&s->store, &job);

        if (e && !job.lacks_room)
            return e;
        job.has_more |= job.lacks_room;
        n_failures = e ? n_failures + 1 : 0;
        err_ignore(e, "the next sweep notes that they are gone");
        TRY(task_yield());
    }
    return NULL;
}

static struct err *locks_sweep(void *arg)
{
    session_locks_sweep(arg);
    return NULL;
}

static struct err *sweep_after(struct sqlite_store *s, struct removal_look *l)
{
    TRY(work_run(removal_prepare, l));
    TRY(collect(s, l));
    finish_marked(s, l);
    if (l->marks.n)
        TRY(collect(s, l));
    return work_run(locks_sweep, s->lock_dir);
}

static struct err *sqlite_sweep(struct store *store)
{
    struct removal_look look = {.store = sqlite_of(store)};
    struct err *e = sweep_after(sqlite_of(store), &look);

    arena_done(&look.arena);
    return e;
}

struct mark_call {
    const char *lock_dir;
    struct str id;
};

static struct err *mark_make(void *arg)
{
    struct mark_call *c = arg;

    return sqlite_mark(c->lock_dir, c->id);
}

static struct err *sqlite_remove_session(struct store *store, struct str id)
{
    struct sqlite_store *s = sqlite_of(store);
    struct lock_call lock = {.store = s, .id = id};
    struct mark_call mark = {s->lock_dir, id};
    bool lacks_room;
    struct err *e;

    TRY(work_run(lock_take, &lock));
    e = remove_rows(s, id, &lacks_room);
    if (lacks_room) {
        err_ignore(e, "it is gone when it has a mark, and the sweep does what can be done");
        e = work_run(mark_make, &mark);
    }
    leases_release(s->leases, id, 0);
    return e ? e : sqlite_sweep(store);
}

static struct err *sqlite_rebuild(struct store *store)
{
    struct sqlite_job job = {.run = sqlite_job_forget_words};

    return change(store, &job);
}

static struct err *sqlite_clamp_times(struct store *store, int64_t after_ms, int64_t to_ms)
{
    struct sqlite_job job = {
        .run = sqlite_job_clamp_times, .clamp_after_ms = after_ms, .clamp_to_ms = to_ms};

    return change(store, &job);
}

static struct err *sqlite_write_belief(struct store *store, const struct store_belief *b)
{
    struct sqlite_job job = {.run = sqlite_job_believe, .belief = b, .may_be_lost = true};

    return change(store, &job);
}

/* --- looks --- */

struct look_call {
    struct sqlite_store *store;
    struct sqlite_look *look;
};

static struct err *look_run(void *arg)
{
    struct look_call *c = arg;
    struct err *e;

    pthread_mutex_lock(&c->store->looking);
    e = open_db(&c->store->reader, c->store->path);
    if (!e)
        e = c->look->run(&c->store->reader, c->look);
    pthread_mutex_unlock(&c->store->looking);
    return e;
}

static struct err *look(struct store *store, struct sqlite_look *l)
{
    struct look_call c = {sqlite_of(store), l};

    l->lock_dir = c.store->lock_dir;
    c.store->has_reader = true;
    return work_run(look_run, &c);
}

static struct err *glance_run(void *arg)
{
    struct look_call *c = arg;
    struct err *e = open_db(&c->store->writer, c->store->path);

    return e ? e : c->look->run(&c->store->writer, c->look);
}

/* A look that takes no time: opening a second connection would take longer than making others
 * wait. */
static struct err *glance(struct store *store, struct sqlite_look *l)
{
    struct look_call c = {sqlite_of(store), l};
    struct sqlite_store *s = c.store;
    struct err *e;

    if (s->has_reader || !s->has_writer || s->is_writing)
        return look(store, l);
    l->lock_dir = s->lock_dir;
    s->is_writing = true;
    e = work_run(glance_run, &c);
    write_all(s, NULL);
    return e;
}

static struct err *sqlite_read_records(struct store *store, struct str stream,
                                       const struct store_query *q, struct store_page *ret_page)
{
    struct sqlite_look l = {
        .run = sqlite_look_read, .id = stream, .query = q, .ret_page = ret_page};

    return look(store, &l);
}

static struct err *sqlite_find(struct store *store, struct str id, struct arena *a,
                               struct store_summary *ret_summary, bool *ret_found)
{
    struct sqlite_look l = {.run = sqlite_look_find,
                            .id = id,
                            .arena = a,
                            .ret_summary = ret_summary,
                            .ret_found = ret_found};

    return look(store, &l);
}

static struct err *sqlite_list(struct store *store, const struct store_list_query *q,
                               struct arena *a, struct store_summary **ret_items, size_t *ret_n)
{
    struct sqlite_look l = {
        .run = sqlite_look_list, .list = q, .arena = a, .ret_items = ret_items, .ret_n = ret_n};
    bool is_short = q->n_max && q->n_max <= GLANCE_ROWS && !q->name.n; /* no index covers names */

    return (is_short ? glance : look)(store, &l);
}

static struct err *sqlite_search(struct store *store, struct str words, size_t n_max,
                                 struct arena *a, struct store_hit **ret_hits, size_t *ret_n)
{
    struct sqlite_job index = {.run = sqlite_job_index};
    struct sqlite_look l = {.run = sqlite_look_search,
                            .words = words,
                            .n_max = n_max,
                            .arena = a,
                            .ret_hits = ret_hits,
                            .ret_n = ret_n};

    TRY(change(store, &index));
    return look(store, &l);
}

static struct err *sqlite_read_belief(struct store *store, struct store_belief *ret_belief)
{
    struct sqlite_look l = {.run = sqlite_look_at_belief, .ret_belief = ret_belief};

    return glance(store, &l);
}

static struct err *sqlite_check(struct store *store, struct str stream,
                                struct store_damage_sink sink)
{
    AUTO(arena) struct arena a = {0};
    size_t n_missing = 0;
    bool is_row_whole = true;
    struct sqlite_look l = {
        .run = sqlite_look_check, .id = stream, .ret_n = &n_missing, .ret_found = &is_row_whole};

    TRY(look(store, &l));
    if (!is_row_whole)
        sink.on_damage(sink.self, row_damaged(&a, stream, sqlite_of(store)->path));
    if (n_missing)
        sink.on_damage(
            sink.self,
            arena_format(&a,
                         "%zu event%s missing at the end; the session had more when it was closed",
                         n_missing, n_missing == 1 ? " is" : "s are"));
    return NULL;
}

static struct err *sqlite_check_all(struct store *store, struct store_damage_sink sink)
{
    AUTO(arena) struct arena a = {0};
    struct str *texts = NULL;
    size_t n = 0;
    struct sqlite_look l = {
        .run = sqlite_look_for_strays, .arena = &a, .ret_texts = &texts, .ret_n = &n};

    TRY(look(store, &l));
    for (size_t i = 0; i < n; i++)
        sink.on_damage(sink.self, texts[i]);
    return NULL;
}

static struct err *sqlite_keeps(struct store *store, struct str stream, struct str handle,
                                bool *ret_keeps)
{
    struct sqlite_look l = {
        .run = sqlite_look_keeps, .id = stream, .words = handle, .ret_found = ret_keeps};

    return look(store, &l);
}

static struct blob_store *sqlite_blobs(struct store *store, struct str stream)
{
    return sqlite_of(store)->blobs;
}

/* --- its files --- */

static bool is_or_is_below(struct str path, struct str dir)
{
    return str_starts(path, dir) && (path.n == dir.n || path.p[dir.n] == '/');
}

static bool sqlite_owns(const struct store *store, struct str path)
{
    static const char *const endings[] = {"", "-wal", "-shm", "-journal", "-locks"};
    AUTO(strbuf) struct strbuf own = {0};
    size_t slash = str_rfind_char(str_of(store->place), '/');

    for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
        strbuf_clear(&own);
        strbuf_addf(&own, "%s%s", store->place, endings[i]);
        if (is_or_is_below(path, strbuf_str(&own)))
            return true;
    }
    strbuf_clear(&own);
    strbuf_addf(&own, "%.*s/blobs", (int)slash, store->place);
    return is_or_is_below(path, strbuf_str(&own));
}

/* --- the store --- */

static void sqlite_free(struct store *store)
{
    struct sqlite_store *s = sqlite_of(store);

    leases_free(s->leases);
    sqlite_db_close(&s->writer);
    sqlite_db_close(&s->reader);
    pthread_mutex_destroy(&s->looking);
    blob_store_free(s->blobs);
    mem_free(s->lock_dir);
    mem_free(s->path);
    mem_free(s);
}

struct store *store_sqlite_new(const char *path)
{
    static const struct store_ops ops = {
        .name = "sqlite",
        .open = sqlite_open_session,
        .close = sqlite_close_session,
        .add_child = sqlite_add_child,
        .append = sqlite_append,
        .append_soon = sqlite_append_soon,
        .sync = sqlite_sync,
        .read = sqlite_read_records,
        .find = sqlite_find,
        .list = sqlite_list,
        .search = sqlite_search,
        .remove = sqlite_remove_session,
        .sweep = sqlite_sweep,
        .update = sqlite_update_session,
        .rebuild = sqlite_rebuild,
        .clamp_times = sqlite_clamp_times,
        .read_belief = sqlite_read_belief,
        .write_belief = sqlite_write_belief,
        .blobs = sqlite_blobs,
        .owns = sqlite_owns,
        .check = sqlite_check,
        .check_all = sqlite_check_all,
        .keeps = sqlite_keeps,
        .free = sqlite_free,
    };
    AUTO(arena) struct arena a = {0};
    struct sqlite_store *s = mem_alloc(sizeof *s);

    s->store.ops = &ops;
    s->path = mem_strdup(path);
    s->lock_dir = mem_strdup(arena_format(&a, "%s-locks", path).p);
    s->leases = leases_new(s->lock_dir);
    s->blobs = blob_files_new(sqlite_blob_dir(&a, path), 0);
    s->last = &s->first;
    pthread_mutex_init(&s->looking, NULL);
    return &s->store;
}
