/* postgres_append.c - appends in one pipeline, and what became of those that were lost.
 *
 * All that wait together are one transaction. A refusal is no error for the database: the statement
 * then changes nothing, and why is found out afterwards. What is an error takes back all of them;
 * then each is tried alone, so that nobody suffers for another. */
#include "store/postgres_store.h"

/* --- arguments --- */

static void add_numbers(struct postgres_args *a, const struct postgres_append *w,
                        int64_t (*of)(const struct store_record *r))
{
    AUTO(strbuf) struct strbuf array = {0};

    for (size_t i = 0; i < w->n_records; i++)
        postgres_array_int(&array, of(&w->records[i]));
    postgres_array_end(&array, a);
}

static void add_texts(struct postgres_args *a, const struct postgres_append *w,
                      struct str (*of)(const struct store_record *r))
{
    AUTO(strbuf) struct strbuf array = {0};

    strbuf_init(&array, (size_t)512 << 20);
    for (size_t i = 0; i < w->n_records; i++)
        postgres_array_text(&array, a, of(&w->records[i]));
    postgres_array_end(&array, a);
}

static int64_t seq_of(const struct store_record *r)
{
    return (int64_t)r->seq;
}
static int64_t n_of(const struct store_record *r)
{
    return r->n_events;
}
static int64_t ms_of(const struct store_record *r)
{
    return r->unix_ms;
}
static struct str type_of(const struct store_record *r)
{
    return r->type;
}
static struct str run_of(const struct store_record *r)
{
    return r->run_id;
}
static int64_t turn_of(const struct store_record *r)
{
    return r->turn;
}
static int64_t round_of(const struct store_record *r)
{
    return r->round;
}
static int64_t attempt_of(const struct store_record *r)
{
    return r->attempt;
}
static int64_t core_of(const struct store_record *r)
{
    return r->is_core;
}
static struct str body_of(const struct store_record *r)
{
    return r->body;
}

static void add_handles(struct postgres_args *a, const struct postgres_append *w)
{
    AUTO(strbuf) struct strbuf array = {0};

    for (size_t i = 0; i < w->n_records; i++)
        for (size_t k = 0; k < w->records[i].n_payloads; k++)
            postgres_array_text(&array, a, w->records[i].payloads[k]);
    postgres_array_end(&array, a);
}

static uint64_t seq_after(const struct postgres_append *w)
{
    uint64_t seq = w->expected_seq;

    for (size_t i = 0; i < w->n_records; i++)
        seq += w->records[i].n_events;
    return seq;
}

static void add_args(struct postgres_args *a, const struct postgres_append *w)
{
    const struct store_summary none = {0}, *u = w->update ? w->update : &none;
    int64_t n_bytes = 0, newest_ms = u->updated_ms;

    for (size_t i = 0; i < w->n_records; i++) {
        n_bytes += (int64_t)(w->records[i].body.n + w->records[i].n_payload_bytes);
        newest_ms = MAX(newest_ms, w->records[i].unix_ms);
    }
    postgres_text(a, w->stream);
    postgres_text(a, u->cwd);
    postgres_text(a, u->name);
    postgres_text(a, u->provider);
    postgres_text(a, u->model);
    postgres_text(a, u->preview);
    postgres_int(a, newest_ms);
    postgres_int(a, (int64_t)u->n_messages);
    postgres_int(a, (int64_t)w->fence);
    postgres_int(a, (int64_t)w->expected_seq);
    postgres_int(a, (int64_t)seq_after(w));
    postgres_int(a, n_bytes);
    add_numbers(a, w, seq_of);
    add_numbers(a, w, n_of);
    add_numbers(a, w, ms_of);
    add_texts(a, w, type_of);
    add_texts(a, w, run_of);
    add_numbers(a, w, turn_of);
    add_numbers(a, w, round_of);
    add_numbers(a, w, attempt_of);
    add_numbers(a, w, core_of);
    add_texts(a, w, body_of);
    add_handles(a, w);
}

/* --- refusals --- */

static struct err *written_by_others(struct str root)
{
    return err_hint(
        err_new(ERR_STORAGE, "session %" STR_FMT " is written by somebody else now", STR_ARG(root)),
        "open it again, or go on in a copy of it with --fork-session");
}

static struct err *connection_was_lost(struct str stream)
{
    return err_hint(err_new(ERR_STORAGE,
                            "session %" STR_FMT " is not ours any more: the connection to "
                            "PostgreSQL was lost meanwhile",
                            STR_ARG(stream)),
                    "open it again, or go on in a copy of it with --fork-session");
}

static struct err *find_reason(struct postgres_store *p, const struct postgres_append *w)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, w->stream);
    TRY(postgres_ask(&p->writer, PG_STREAM, &args, &rows));
    if (rows.n == 0)
        return postgres_no_session(w->stream);
    if ((uint64_t)postgres_row_int(&rows, 0, 2) != w->fence || !postgres_row_bool(&rows, 0, 3))
        return written_by_others(postgres_row_text(&rows, 0, 4));
    if (!postgres_row_bool(&rows, 0, 5))
        return connection_was_lost(postgres_row_text(&rows, 0, 4));
    TRY(store_check_append((uint64_t)postgres_row_int(&rows, 0, 1), w->expected_seq, w->records,
                           w->n_records));
    return written_by_others(w->stream);
}

/* --- appends that were under way when the connection was lost --- */

static bool is_same(const struct postgres_rows *rows, const struct postgres_append *w)
{
    if ((size_t)rows->n != w->n_records)
        return false;
    for (int i = 0; i < rows->n; i++) {
        const struct store_record *r = &w->records[i];

        if ((uint64_t)postgres_row_int(rows, i, 0) != r->seq ||
            !str_eq(postgres_row_text(rows, i, 1), r->type) ||
            !str_eq(postgres_row_text(rows, i, 2), r->body))
            return false;
    }
    return true;
}

/* The old connection may still be at work as long as it has its lock. */
static struct err *wait_for_old_lock(struct postgres_store *p, const struct postgres_append *w)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    struct str root;

    postgres_text(&args, w->stream);
    TRY(postgres_ask(&p->writer, PG_STREAM, &args, &rows));
    if (rows.n == 0)
        return postgres_no_session(w->stream);
    if ((uint64_t)postgres_row_int(&rows, 0, 2) != w->fence)
        return NULL; /* somebody has taken over since: the old one is gone */
    root = postgres_row_text(&rows, 0, 4);
    TRY(postgres_lock(p, root));
    postgres_unlock(p, root);
    return NULL;
}

static struct err *look_for(struct postgres_store *p, const struct postgres_append *w,
                            bool *ret_found)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    TRY(wait_for_old_lock(p, w));
    postgres_text(&args, w->stream);
    postgres_int(&args, (int64_t)w->expected_seq);
    postgres_int(&args, (int64_t)seq_after(w));
    TRY(postgres_ask(&p->writer, PG_WRITTEN, &args, &rows));
    *ret_found = w->n_records > 0 && is_same(&rows, w);
    return NULL;
}

/* NULL: it had been done. */
static struct err *find_fate(struct postgres_store *p, const struct postgres_append *w,
                             const struct err *lost)
{
    bool found = false;
    struct err *e = look_for(p, w, &found);

    if (e)
        return err_hint(err_wrap(e,
                                 "the connection to PostgreSQL was lost while session %" STR_FMT
                                 " was written, and nobody knows yet if it was",
                                 STR_ARG(w->stream)),
                        "open the session again: it then shows what is there");
    return found ? NULL : err_copy(lost);
}

/* --- all of them --- */

static void append_one(struct postgres_store *p, struct postgres_append *w,
                       const struct postgres_args *args)
{
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    AUTO(err) struct err *e = postgres_ask_all(&p->writer, PG_APPEND, args, 1, &rows);

    if (err_is(e, ERR_NETWORK))
        w->error = find_fate(p, w, e);
    else if (e)
        w->error = TAKE(e);
    else if (rows.n == 0)
        w->error = find_reason(p, w);
}

/* Those that may be sent. */
static size_t select_good(struct postgres_append *first, struct postgres_append **good,
                          struct postgres_args *args)
{
    size_t n = 0;

    for (struct postgres_append *w = first; w; w = w->next) {
        add_args(&args[n], w);
        if (args[n].has_nul) {
            w->error =
                err_hint(err_new(ERR_STORAGE, "PostgreSQL keeps no text with a NUL character"),
                         "use another store with --store for this session");
            postgres_args_done(&args[n]);
            continue;
        }
        good[n++] = w;
    }
    return n;
}

static void append_good(struct postgres_store *p, struct postgres_append **good,
                        struct postgres_args *args, struct postgres_rows *rows, size_t n)
{
    AUTO(err) struct err *e = postgres_ask_all(&p->writer, PG_APPEND, args, n, rows);

    for (size_t i = 0; i < n; i++) {
        if (err_is(e, ERR_NETWORK))
            good[i]->error = find_fate(p, good[i], e);
        else if (e && n == 1)
            good[i]->error = err_copy(e);
        else if (e)
            append_one(p, good[i], &args[i]);
        else if (rows[i].n == 0)
            good[i]->error = find_reason(p, good[i]);
        postgres_rows_done(&rows[i]);
    }
}

void postgres_append_all(struct postgres_store *p, struct postgres_append *first)
{
    AUTO(arena) struct arena a = {0};
    size_t n = 0;
    struct postgres_append **good;
    struct postgres_args *args;

    for (struct postgres_append *w = first; w; w = w->next)
        n++;
    good = ARENA_ARRAY(&a, n, struct postgres_append *);
    args = ARENA_ARRAY(&a, n, struct postgres_args);
    n = select_good(first, good, args);
    if (n)
        append_good(p, good, args, ARENA_ARRAY(&a, n, struct postgres_rows), n);
    for (size_t i = 0; i < n; i++)
        postgres_args_done(&args[i]);
    for (struct postgres_append *w = first; w; w = w->next)
        w->error = postgres_told(w->error);
}
