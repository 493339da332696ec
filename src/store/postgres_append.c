/* postgres_append.c - appends in one pipeline, and what became of lost ones.
 *
 * Small appends that wait together share a transaction. To the database a refusal is not an error:
 * the statement changes nothing, and a look afterwards says why. An error undoes all of them; then
 * each is tried alone, so that none suffers for another.
 *
 * When the connection was lost, an append is sent again. It counts once, because its number fits
 * once: its records show whether the first attempt was made. */
#include "store/postgres_store.h"

#include "store/record_sum.h"

#define N_TRIES 4
/* As much as the buffers of two kernels hold. The rows of sessions stay locked until the last byte
 * has arrived, and the process may be stopped before it has sent it. */
#define MAX_TOGETHER ((size_t)64 << 10)
#define MAX_COLUMN ((size_t)512 << 20) /* one value of all records of an append */

/* --- arguments --- */

/* Adds each column of the records as an array, in the order of the statement. */
static void add_columns(struct postgres_args *a, const struct postgres_append *w)
{
    struct strbuf columns[10] = {0};

    for (size_t i = 0; i < ARRAY_LEN(columns); i++)
        strbuf_init(&columns[i], MAX_COLUMN);
    for (size_t i = 0; i < w->n_records; i++) {
        const struct store_record *r = &w->records[i];

        postgres_array_int(&columns[0], (int64_t)r->seq);
        postgres_array_int(&columns[1], r->n_events);
        postgres_array_int(&columns[2], r->unix_ms);
        postgres_array_text(&columns[3], a, r->type);
        postgres_array_text(&columns[4], a, r->run_id);
        postgres_array_int(&columns[5], r->turn);
        postgres_array_int(&columns[6], r->round);
        postgres_array_int(&columns[7], r->attempt);
        postgres_array_int(&columns[8], r->is_core);
        postgres_array_text(&columns[9], a, r->body);
    }
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        postgres_array_end(&columns[i], a);
        strbuf_done(&columns[i]);
    }
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

static void add_args(const struct postgres_store *p, struct postgres_args *a,
                     const struct postgres_append *w)
{
    const struct store_summary none = {0}, *u = w->update ? w->update : &none;
    int64_t n_bytes = 0, newest_ms = u->updated_ms;
    AUTO(strbuf) struct strbuf sums = {0};

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
    add_columns(a, w);
    add_handles(a, w);
    postgres_text(a, str_of(p->owner));
    postgres_int(a, (int64_t)p->lease_ms);
    for (size_t i = 0; i < w->n_records; i++)
        postgres_array_int(&sums, record_sum(w->stream, &w->records[i], 0));
    postgres_array_end(&sums, a);
}

/* --- one of them --- */

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

static struct err *look_for_payloads(struct postgres_store *p, const struct postgres_append *w)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, w->stream);
    add_handles(&args, w);
    TRY(postgres_ask(&p->writer, PG_MISSING, &args, &rows));
    return rows.n ? store_payload_missing(postgres_row_text(&rows, 0, 0)) : NULL;
}

/* Finds out why the database has appended nothing. *ret_again: the lease had expired and is renewed
 * now, or the missing payload is there again. `was_lost`: the append may have been made before;
 * NULL without *ret_again means that it was. */
static struct err *find_reason(struct postgres_store *p, const struct postgres_append *w,
                               bool was_lost, bool *ret_again)
{
    AUTO(arena) struct arena a = {0};
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    struct postgres_standing now;
    bool found = false;

    TRY(postgres_look_at_lease(p, w->stream, w->fence, &a, &now));
    if (!now.exists)
        return store_no_session(w->stream);
    if (was_lost && now.next_seq != w->expected_seq) {
        postgres_text(&args, w->stream);
        postgres_int(&args, (int64_t)w->expected_seq);
        postgres_int(&args, (int64_t)seq_after(w));
        TRY(postgres_ask(&p->writer, PG_WRITTEN, &args, &rows));
        found = w->n_records > 0 && is_same(&rows, w);
    }
    if (found)
        return NULL;
    if (!now.is_ours)
        return postgres_written_by_others(now.root);
    TRY(store_check_append(now.next_seq, w->expected_seq, w->records, w->n_records));
    TRY(look_for_payloads(p, w));
    *ret_again = true;
    return postgres_renew(&p->writer, p->owner, p->lease_ms, &now.root, &w->fence, 1);
}

static struct err *append_once(struct postgres_store *p, const struct postgres_append *w,
                               const struct postgres_args *args, bool was_lost, bool *ret_again)
{
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    TRY(postgres_ask_all(&p->writer, PG_APPEND, args, 1, &rows));
    return rows.n ? NULL : find_reason(p, w, was_lost, ret_again);
}

static struct err *append_one(struct postgres_store *p, const struct postgres_append *w,
                              const struct postgres_args *args, bool was_lost)
{
    for (unsigned i = 1;; i++) {
        bool again = false;
        struct err *e = append_once(p, w, args, was_lost, &again);

        if (err_is(e, ERR_NETWORK)) {
            was_lost = again = true;
            if (i == N_TRIES || !postgres_may_retry(&p->writer, e))
                return err_wrap(e,
                                "lost the connection while writing session %" STR_FMT
                                "; open it again to see whether it was written",
                                STR_ARG(w->stream));
            err_ignore(e, "the next try tells");
        } else if (e || !again) {
            return e;
        } else if (i == N_TRIES) {
            return err_hint(err_new(ERR_STORAGE,
                                    "the lease of session %" STR_FMT
                                    " has expired and cannot be renewed",
                                    STR_ARG(w->stream)),
                            "open it again, or continue in a copy of it with --fork-session");
        }
    }
}

/* --- all of them --- */

/* Selects those that can be sent. */
static size_t select_good(const struct postgres_store *p, struct postgres_append *first,
                          struct postgres_append **good, struct postgres_args *args)
{
    size_t n = 0;

    for (struct postgres_append *w = first; w; w = w->next) {
        add_args(p, &args[n], w);
        if (args[n].has_nul) {
            w->error =
                err_hint(err_new(ERR_STORAGE, "PostgreSQL cannot store text with a NUL character"),
                         "choose another store for this session with --store");
            postgres_args_done(&args[n]);
            continue;
        }
        good[n++] = w;
    }
    return n;
}

/* How many go together; at least one. */
static size_t count_together(const struct postgres_args *args, size_t n)
{
    size_t n_bytes = 0;

    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < args[i].n; k++)
            n_bytes += (size_t)args[i].lengths[k];
        if (n_bytes > MAX_TOGETHER)
            return MAX(i, (size_t)1);
    }
    return n;
}

static void append_together(struct postgres_store *p, struct postgres_append **good,
                            struct postgres_args *args, struct postgres_rows *rows, size_t n)
{
    AUTO(err) struct err *e = NULL;

    if (n == 1) {
        good[0]->error = append_one(p, good[0], args, /* was_lost= */ false);
        return;
    }
    e = postgres_ask_all(&p->writer, PG_APPEND, args, n, rows);
    for (size_t i = 0; i < n; i++) {
        if (e || rows[i].n == 0)
            good[i]->error = append_one(p, good[i], &args[i], err_is(e, ERR_NETWORK));
        postgres_rows_done(&rows[i]);
    }
}

void postgres_append_all(struct postgres_store *p, struct postgres_append *first)
{
    AUTO(arena) struct arena a = {0};
    size_t n = 0, n_together;
    struct postgres_append **good;
    struct postgres_args *args;
    struct postgres_rows *rows;

    for (struct postgres_append *w = first; w; w = w->next)
        n++;
    good = ARENA_ARRAY(&a, n, struct postgres_append *);
    args = ARENA_ARRAY(&a, n, struct postgres_args);
    rows = ARENA_ARRAY(&a, n, struct postgres_rows);
    n = select_good(p, first, good, args);
    for (size_t i = 0; i < n; i += n_together) {
        n_together = count_together(args + i, n - i);
        append_together(p, good + i, args + i, rows + i, n_together);
    }
    for (size_t i = 0; i < n; i++)
        postgres_args_done(&args[i]);
    for (struct postgres_append *w = first; w; w = w->next)
        w->error = postgres_call_error(w->error);
}
