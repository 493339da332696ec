/* postgres.c - the calls of the port. Leases and appends share one connection; appends that wait
 * together share one transaction. Looks have another connection, and threads outside of the loop a
 * third. */
#include "store/postgres.h"

#include "store/postgres_store.h"
#include "store/record_sum.h"
#include "sys/random.h"

#include <stdio.h>

#define DEFAULT_TIMEOUT_MS 30000
#define LEASE_MS 6000
#define MAX_COLLECTIONS 200 /* in one sweep, of 500 blobs each; the next sweep does the rest */

struct err *postgres_call_error(struct err *take_error)
{
    if (err_is(take_error, ERR_NETWORK))
        take_error->kind = ERR_STORAGE;
    return take_error;
}

/* --- looks --- */

static struct err *ask_once(struct postgres_conn *c, enum postgres_statement s,
                            const struct postgres_args *args, bool is_bytes,
                            struct postgres_rows *ret_rows)
{
    return is_bytes ? postgres_ask_bytes(c, s, args, ret_rows) : postgres_ask(c, s, args, ret_rows);
}

/* Looks, and the changes made this way, can be repeated without harm. */
static struct err *ask_twice(struct postgres_conn *c, enum postgres_statement s,
                             const struct postgres_args *args, bool is_bytes,
                             struct postgres_rows *ret_rows)
{
    struct err *e = ask_once(c, s, args, is_bytes, ret_rows);

    if (!postgres_may_retry(c, e))
        return e;
    err_ignore(e, "the second try tells");
    return ask_once(c, s, args, is_bytes, ret_rows);
}

struct err *postgres_look(struct postgres_store *p, enum postgres_statement s,
                          const struct postgres_args *args, bool is_bytes,
                          struct postgres_rows *ret_rows)
{
    struct err *e;

    if (!task_self()) {
        pthread_mutex_lock(&p->outside_lock);
        e = ask_twice(&p->outside, s, args, is_bytes, ret_rows);
        pthread_mutex_unlock(&p->outside_lock);
        return postgres_call_error(e);
    }
    TRY(postgres_take_turn(&p->reader));
    e = ask_twice(&p->reader, s, args, is_bytes, ret_rows);
    postgres_give_turn(&p->reader);
    return postgres_call_error(e);
}

/* --- appends --- */

static void write_waiting(struct postgres_store *p, const struct postgres_append *own)
{
    p->is_writing = true;
    task_shield_begin(); /* others wait for this */
    while (p->first) {
        struct postgres_append *first;

        err_ignore(postgres_take_turn(&p->writer), "nothing interrupts a shielded wait");
        first = p->first;
        p->first = NULL;
        p->last = &p->first;
        postgres_append_all(p, first);
        postgres_give_turn(&p->writer);
        for (struct postgres_append *w = first, *next; w; w = next) {
            next = w->next; /* a woken waiter is gone */
            if (w != own)
                waker_wake(&w->waker);
        }
    }
    task_shield_end();
    p->is_writing = false;
}

/* What is handed in is written, even if its task no longer waits. */
static struct err *postgres_append_records(struct store *store, struct str stream,
                                           uint64_t expected_seq, uint64_t fence,
                                           const struct store_record *records, size_t n,
                                           const struct store_summary *update)
{
    struct postgres_store *p = postgres_of(store);
    struct postgres_append w = {.stream = stream,
                                .expected_seq = expected_seq,
                                .fence = fence,
                                .records = records,
                                .n_records = n,
                                .update = update};

    waker_init(&w.waker);
    *p->last = &w;
    p->last = &w.next;
    if (!p->is_writing) {
        write_waiting(p, &w);
        return w.error;
    }
    task_shield_begin();
    err_ignore(waker_park(&w.waker), "a shielded wait is not interrupted");
    task_shield_end();
    return w.error;
}

/* --- changes --- */

/* Shields the change: an interrupted caller would not know what was done. */
static struct err *begin_change(struct postgres_store *p)
{
    TRY(postgres_take_turn(&p->writer));
    task_shield_begin();
    return NULL;
}

static struct err *end_change(struct postgres_store *p, struct err *take_error)
{
    task_shield_end();
    postgres_give_turn(&p->writer);
    return postgres_call_error(take_error);
}

static struct err *postgres_open_session(struct store *store, struct str id,
                                         const struct store_summary *create, struct arena *a,
                                         struct store_lease *ret_lease)
{
    struct postgres_store *p = postgres_of(store);

    TRY(begin_change(p));
    return end_change(p, postgres_open(p, id, create, a, ret_lease));
}

static void postgres_close_session(struct store *store, struct str id, uint64_t fence)
{
    struct postgres_store *p = postgres_of(store);

    task_shield_begin();
    err_ignore(postgres_take_turn(&p->writer), "nothing interrupts a shielded wait");
    postgres_close(p, id, fence);
    postgres_give_turn(&p->writer);
    task_shield_end();
}

static struct err *create_child(struct postgres_store *p, const struct store_summary *child,
                                uint64_t fence, bool was_lost)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    AUTO(arena) struct arena a = {0};
    struct postgres_standing of_child, of_parent;

    postgres_add_new(&args, child, child->id);
    postgres_text(&args, child->parent);
    postgres_text(&args, str_of(p->owner));
    postgres_int(&args, (int64_t)fence);
    TRY(postgres_ask(&p->writer, PG_CREATE_CHILD, &args, &rows));
    if (rows.n)
        return NULL;
    TRY(postgres_look_at_lease(p, child->id, fence, &a, &of_child));
    if (was_lost && of_child.is_ours && str_eq(of_child.parent, child->parent))
        return NULL;
    if (of_child.exists)
        return err_new(ERR_STORAGE, "session %" STR_FMT " already exists", STR_ARG(child->id));
    TRY(postgres_look_at_lease(p, child->parent, fence, &a, &of_parent));
    if (!of_parent.exists)
        return store_no_session(child->parent);
    if (!of_parent.is_ours || was_lost)
        return postgres_written_by_others(of_parent.root);
    TRY(postgres_renew(&p->writer, p->owner, p->lease_ms, &of_parent.root, &fence, 1));
    return create_child(p, child, fence, /* was_lost= */ true);
}

static struct err *postgres_add_child(struct store *store, const struct store_summary *child,
                                      uint64_t fence)
{
    struct postgres_store *p = postgres_of(store);
    struct err *e;

    TRY(begin_change(p));
    e = create_child(p, child, fence, /* was_lost= */ false);
    if (postgres_may_retry(&p->writer, e)) {
        err_ignore(e, "the second try tells");
        e = create_child(p, child, fence, /* was_lost= */ true);
    }
    return end_change(p, e);
}

static struct err *postgres_update(struct store *store, const struct store_summary *u)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, u->id);
    postgres_text(&args, u->cwd);
    postgres_text(&args, u->name);
    postgres_text(&args, u->provider);
    postgres_text(&args, u->model);
    postgres_text(&args, u->preview);
    postgres_int(&args, u->updated_ms);
    postgres_int(&args, (int64_t)u->n_messages);
    TRY(postgres_look(postgres_of(store), PG_UPDATE, &args, false, &rows));
    return rows.n ? NULL : store_no_session(u->id);
}

/* --- removing --- */

/* Blobs are removed an hour after their last reference: somebody may be about to refer to one. */
static struct err *postgres_sweep(struct store *store)
{
    struct postgres_store *p = postgres_of(store);

    for (unsigned i = 0; i < MAX_COLLECTIONS; i++) {
        AUTO(postgres_args) struct postgres_args none = {0};
        AUTO(postgres_rows) struct postgres_rows collected = {0}, more = {0};

        TRY(postgres_look(p, PG_COLLECT, &none, false, &collected));
        TRY(postgres_look(p, PG_COLLECTABLE, &none, false, &more));
        if (!more.n)
            return NULL;
    }
    return NULL;
}

/* One statement checks that it is not open, and removes it. */
static struct err *postgres_remove_session(struct store *store, struct str id)
{
    struct postgres_store *p = postgres_of(store);
    AUTO(arena) struct arena a = {0};
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows removed = {0};
    struct postgres_standing now;
    struct err *e;

    postgres_text(&args, id);
    TRY(postgres_look(p, PG_REMOVE, &args, false, &removed));
    if (removed.n)
        return postgres_sweep(store);
    TRY(begin_change(p));
    e = postgres_look_at_lease(p, id, 0, &a, &now);
    if (!e && now.exists)
        e = postgres_cannot_remove(p, &now);
    return end_change(p, e);
}

static struct err *postgres_rebuild(struct store *store)
{
    AUTO(postgres_args) struct postgres_args none = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    return postgres_look(postgres_of(store), PG_FORGET_WORDS, &none, false, &rows);
}

static struct err *postgres_check(struct store *store, struct str stream,
                                  struct store_damage_sink sink)
{
    AUTO(arena) struct arena a = {0};
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, stream);
    TRY(postgres_look(postgres_of(store), PG_ROW, &args, false, &rows));
    if (rows.n && !postgres_row_bool(&rows, 0, 0))
        sink.on_damage(sink.self, row_damaged(&a, stream, "the database"));
    return NULL;
}

static struct err *postgres_check_all(struct store *store, struct store_damage_sink sink)
{
    AUTO(arena) struct arena a = {0};
    AUTO(postgres_args) struct postgres_args none = {0};
    AUTO(postgres_rows) struct postgres_rows strays = {0}, orphans = {0};

    TRY(postgres_look(postgres_of(store), PG_STRAY, &none, false, &strays));
    for (int i = 0; i < strays.n; i++)
        sink.on_damage(sink.self, store_stray(&a, postgres_row_text(&strays, i, 0),
                                              postgres_row_text(&strays, i, 1)));
    TRY(postgres_look(postgres_of(store), PG_ORPHANS, &none, false, &orphans));
    for (int i = 0; i < orphans.n; i++)
        sink.on_damage(sink.self, store_orphan(&a, postgres_row_int(&orphans, i, 0)));
    return NULL;
}

static struct blob_store *postgres_payloads(struct store *store, struct str stream)
{
    return postgres_of(store)->blobs;
}

/* --- the store --- */

static struct err *postgres_read_clock(struct store *store, int64_t *ret_unix_ms)
{
    AUTO(postgres_args) struct postgres_args none = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    TRY(postgres_look(postgres_of(store), PG_NOW, &none, false, &rows));
    *ret_unix_ms = postgres_row_int(&rows, 0, 0);
    return NULL;
}

static struct err *postgres_clamp_times(struct store *store, int64_t after_ms, int64_t to_ms)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_int(&args, after_ms);
    postgres_int(&args, to_ms);
    return postgres_look(postgres_of(store), PG_CLAMP, &args, false, &rows);
}

static struct err *postgres_read_belief(struct store *store, struct store_belief *ret_belief)
{
    AUTO(postgres_args) struct postgres_args none = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    TRY(postgres_look(postgres_of(store), PG_BELIEF, &none, false, &rows));
    if (rows.n)
        *ret_belief = (struct store_belief){.looked_ms = postgres_row_int(&rows, 0, 0),
                                            .believed_ms = postgres_row_int(&rows, 0, 1)};
    return NULL;
}

static struct err *postgres_write_belief(struct store *store, const struct store_belief *b)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_int(&args, b->looked_ms);
    postgres_int(&args, b->believed_ms);
    return postgres_look(postgres_of(store), PG_BELIEVE, &args, false, &rows);
}

/* Leases that were not given back expire. */
static void postgres_free(struct store *store)
{
    struct postgres_store *p = postgres_of(store);

    postgres_stop_renewing(p);
    while (p->leases)
        postgres_forget_lease(p, str_of(p->leases->id));
    postgres_conn_done(&p->writer);
    postgres_conn_done(&p->reader);
    postgres_conn_done(&p->outside);
    postgres_server_done(&p->server);
    pthread_mutex_destroy(&p->outside_lock);
    pthread_mutex_destroy(&p->renewer.lock);
    blob_store_free(p->blobs);
    mem_free(p);
}

struct store *store_postgres_new(const char *url, const struct postgres_options *options)
{
    static const struct store_ops ops = {
        .name = "postgres",
        .open = postgres_open_session,
        .close = postgres_close_session,
        .add_child = postgres_add_child,
        .append = postgres_append_records,
        .read = postgres_read,
        .find = postgres_find,
        .list = postgres_list,
        .last = postgres_last,
        .search = postgres_search,
        .remove = postgres_remove_session,
        .sweep = postgres_sweep,
        .update = postgres_update,
        .rebuild = postgres_rebuild,
        .now = postgres_read_clock,
        .clamp_times = postgres_clamp_times,
        .read_belief = postgres_read_belief,
        .write_belief = postgres_write_belief,
        .blobs = postgres_payloads,
        .check = postgres_check,
        .check_all = postgres_check_all,
        .keeps = postgres_keeps,
        .free = postgres_free,
    };
    struct postgres_store *p = mem_alloc(sizeof *p);
    uint64_t timeout_ms = options ? options->timeout_ms : 0;
    uint64_t lease_ms = options ? options->lease_ms : 0;
    unsigned char bytes[(POSTGRES_OWNER_SIZE - 1) / 2];

    p->store.ops = &ops;
    p->last = &p->first;
    p->lease_ms = lease_ms ? lease_ms : LEASE_MS;
    random_fill(&random_system, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(p->owner + 2 * i, 3, "%02x", bytes[i]);
    postgres_server_init(&p->server, url, timeout_ms ? timeout_ms : DEFAULT_TIMEOUT_MS);
    postgres_conn_init(&p->writer, &p->server);
    postgres_conn_init(&p->reader, &p->server);
    postgres_conn_init(&p->outside, &p->server);
    pthread_mutex_init(&p->outside_lock, NULL);
    pthread_mutex_init(&p->renewer.lock, NULL);
    p->blobs = postgres_blobs_new(p);
    return &p->store;
}
