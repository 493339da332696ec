/* sqlite_write.c - changes, each within a transaction that others may share. */
#include "store/blob_files.h"
#include "store/leases.h"
#include "store/record_sum.h"
#include "store/sqlite_store.h"

/* Long enough for everybody who is about to refer to a blob. */
#define DOOM_MS ((int64_t)60 * 60 * 1000)
/* In one transaction, because others wait for it. */
#define MAX_COLLECTED 64
/* The time of use is in two indexes. Most appends leave them alone. */
#define TOUCH_EVERY_MS 5000

struct stream_row {
    int64_t number;
    uint64_t fence;
    bool is_leased;
    struct str root; /* in the caller's arena */
    int64_t updated_ms;
};

/* Refuses one job; the others continue. */
static struct err *refuse(struct err *take_error)
{
    take_error->kind = ERR_VALIDATION;
    return take_error;
}

static struct err *find_row(struct sqlite_db *db, struct str id, struct arena *a,
                            struct stream_row *ret_stream)
{
    bool has_row;
    struct err *e;

    TRY(sqlite_begin(db, SQL_STREAM));
    sqlite_text(db, SQL_STREAM, 1, id);
    e = sqlite_step(db, SQL_STREAM, &has_row);
    if (!e && has_row)
        *ret_stream = (struct stream_row){
            .number = sqlite_column_int(db, SQL_STREAM, 0),
            .fence = (uint64_t)sqlite_column_int(db, SQL_STREAM, 1),
            .is_leased = sqlite_column_int(db, SQL_STREAM, 2),
            .root = arena_str(a, sqlite_column_text(db, SQL_STREAM, 3)),
            .updated_ms = sqlite_column_int(db, SQL_STREAM, 4),
        };
    else if (!e)
        e = refuse(store_no_session(id));
    sqlite_end(db, SQL_STREAM);
    return e;
}

/* A session below another is leased with its root. */
static struct err *find_stream(struct sqlite_db *db, struct str id, struct arena *a,
                               struct stream_row *ret_stream)
{
    struct stream_row root;

    TRY(find_row(db, id, a, ret_stream));
    if (str_eq(ret_stream->root, id))
        return NULL;
    TRY(find_row(db, ret_stream->root, a, &root));
    ret_stream->fence = root.fence;
    ret_stream->is_leased = root.is_leased;
    return NULL;
}

static struct err *check_fence(const struct stream_row *s, uint64_t fence)
{
    if (s->is_leased && s->fence == fence)
        return NULL;
    return refuse(
        err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is now written by another process",
                         STR_ARG(s->root)),
                 "open it again, or continue in a copy of it with --fork-session"));
}

static struct err *finish_with(struct sqlite_db *db, enum sqlite_statement s, int64_t first,
                               int64_t second)
{
    TRY(sqlite_begin(db, s));
    sqlite_int(db, s, 1, first);
    if (second)
        sqlite_int(db, s, 2, second);
    return sqlite_finish(db, s);
}

/* --- sessions --- */

static struct err *write_summary(struct sqlite_db *db, struct str id, const struct store_summary *s)
{
    TRY(sqlite_begin(db, SQL_UPDATE));
    sqlite_text(db, SQL_UPDATE, 1, id);
    sqlite_text(db, SQL_UPDATE, 2, s->cwd);
    sqlite_text(db, SQL_UPDATE, 3, s->name);
    sqlite_text(db, SQL_UPDATE, 4, s->provider);
    sqlite_text(db, SQL_UPDATE, 5, s->model);
    sqlite_text(db, SQL_UPDATE, 6, s->preview);
    sqlite_int(db, SQL_UPDATE, 7, s->updated_ms);
    sqlite_int(db, SQL_UPDATE, 8, (int64_t)s->n_messages);
    return sqlite_finish(db, SQL_UPDATE);
}

static struct err *create(struct sqlite_db *db, struct str id, struct str root,
                          const struct store_summary *s)
{
    TRY(sqlite_begin(db, SQL_CREATE));
    sqlite_text(db, SQL_CREATE, 1, id);
    sqlite_text(db, SQL_CREATE, 2, s->parent);
    sqlite_text(db, SQL_CREATE, 3, root);
    sqlite_int(db, SQL_CREATE, 4, s->created_ms);
    TRY(sqlite_finish(db, SQL_CREATE));
    return write_summary(db, id, s);
}

static struct err *lease(struct sqlite_db *db, struct str id, struct arena *a,
                         struct store_lease *ret_lease, bool *ret_found)
{
    struct sqlite_end end;
    int64_t number = 0;
    struct err *e;

    TRY(sqlite_begin(db, SQL_LEASE));
    sqlite_text(db, SQL_LEASE, 1, id);
    e = sqlite_step(db, SQL_LEASE, ret_found);
    if (!e && *ret_found) {
        ret_lease->fence = (uint64_t)sqlite_column_int(db, SQL_LEASE, 0);
        number = sqlite_column_int(db, SQL_LEASE, 1);
        if (!sqlite_column_int(db, SQL_LEASE, 2))
            ret_lease->notice = row_damaged(a, id, db->path);
    }
    sqlite_end(db, SQL_LEASE);
    if (e || !*ret_found)
        return e;
    TRY(sqlite_find_end(db, number, &end));
    ret_lease->next_seq = end.next_seq;
    return NULL;
}

struct err *sqlite_job_open(struct sqlite_db *db, struct sqlite_job *j)
{
    bool found;

    TRY(lease(db, j->id, j->arena, j->ret_lease, &found));
    if (found)
        return NULL;
    if (!j->summary)
        return refuse(store_no_session(j->id));
    TRY(create(db, j->id, j->id, j->summary));
    j->ret_lease->is_new = true;
    return lease(db, j->id, j->arena, j->ret_lease, &found);
}

struct err *sqlite_job_close(struct sqlite_db *db, struct sqlite_job *j)
{
    TRY(sqlite_begin(db, SQL_UNLEASE));
    sqlite_text(db, SQL_UNLEASE, 1, j->id);
    sqlite_int(db, SQL_UNLEASE, 2, (int64_t)j->fence);
    return sqlite_finish(db, SQL_UNLEASE);
}

struct err *sqlite_job_add_child(struct sqlite_db *db, struct sqlite_job *j)
{
    AUTO(arena) struct arena a = {0};
    struct stream_row parent, other;
    struct err *e;

    TRY(find_stream(db, j->summary->parent, &a, &parent));
    TRY(check_fence(&parent, j->fence));
    e = find_stream(db, j->id, &a, &other);
    if (!e)
        return refuse(err_new(ERR_STORAGE, "session %" STR_FMT " already exists", STR_ARG(j->id)));
    if (!err_is(e, ERR_VALIDATION))
        return e;
    err_free(e);
    return create(db, j->id, parent.root, j->summary);
}

struct err *sqlite_job_update(struct sqlite_db *db, struct sqlite_job *j)
{
    AUTO(arena) struct arena a = {0};
    struct stream_row s;

    TRY(find_stream(db, j->id, &a, &s));
    return write_summary(db, j->id, j->summary);
}

struct err *sqlite_job_clamp_times(struct sqlite_db *db, struct sqlite_job *j)
{
    return finish_with(db, SQL_CLAMP, j->clamp_after_ms, j->clamp_to_ms);
}

struct err *sqlite_job_believe(struct sqlite_db *db, struct sqlite_job *j)
{
    TRY(sqlite_begin(db, SQL_BELIEVE));
    sqlite_int(db, SQL_BELIEVE, 1, j->belief->looked_ms);
    sqlite_int(db, SQL_BELIEVE, 2, j->belief->believed_ms);
    return sqlite_finish(db, SQL_BELIEVE);
}

/* --- records --- */

static struct err *append_record(struct sqlite_db *db, struct str id, int64_t stream,
                                 const struct store_record *r, int64_t total)
{
    enum sqlite_statement s = r->is_core ? SQL_APPEND : SQL_APPEND_STREAMED;

    TRY(sqlite_begin(db, s));
    sqlite_int(db, s, 1, sqlite_key(stream, r->seq));
    sqlite_int(db, s, 2, r->n_events);
    sqlite_int(db, s, 3, r->unix_ms);
    sqlite_text(db, s, 4, r->type);
    sqlite_text(db, s, 5, r->run_id);
    sqlite_int(db, s, 6, r->turn);
    sqlite_int(db, s, 7, r->round);
    sqlite_int(db, s, 8, r->attempt);
    sqlite_int(db, s, 9, total);
    sqlite_text(db, s, 10, r->body);
    sqlite_int(db, s, 11, record_sum(id, r, total));
    return sqlite_finish(db, s);
}

/* Payloads that the stream does not refer to yet. */
struct new_payloads {
    struct str *handles;
    size_t n, room;
};

static struct err *refers(struct sqlite_db *db, int64_t stream, struct str handle, bool *ret_refers)
{
    struct err *e;

    TRY(sqlite_begin(db, SQL_REFERS));
    sqlite_text(db, SQL_REFERS, 1, handle);
    sqlite_int(db, SQL_REFERS, 2, stream);
    e = sqlite_step(db, SQL_REFERS, ret_refers);
    sqlite_end(db, SQL_REFERS);
    return e;
}

/* They were put before the transaction, and may have been removed since. From here on they stay:
 * only a writer of the database removes one. */
static struct err *check_payloads(struct sqlite_db *db, int64_t stream, struct blob_store *blobs,
                                  const struct store_record *r, struct arena *a,
                                  struct new_payloads *list)
{
    for (size_t i = 0; i < r->n_payloads; i++) {
        uint64_t n_bytes;
        bool is_known;
        struct err *e;

        TRY(refers(db, stream, r->payloads[i], &is_known));
        if (is_known)
            continue;
        e = blob_size(blobs, r->payloads[i], &n_bytes);
        if (e) {
            err_ignore(e, "the caller gets a better one");
            return refuse(store_payload_missing(r->payloads[i]));
        }
        list->handles = arena_grow(a, list->handles, list->n, &list->room, sizeof *list->handles);
        list->handles[list->n++] = r->payloads[i];
    }
    return NULL;
}

struct err *sqlite_job_append(struct sqlite_db *db, struct sqlite_job *j)
{
    AUTO(arena) struct arena a = {0};
    struct new_payloads payloads = {0};
    int64_t newest_ms = 0;
    struct sqlite_end end;
    struct stream_row s;
    struct err *e;

    TRY(find_stream(db, j->id, &a, &s));
    TRY(check_fence(&s, j->fence));
    TRY(sqlite_find_end(db, s.number, &end));
    e = store_check_append(end.next_seq, j->expected_seq, j->records, j->n_records);
    if (e)
        return refuse(e);
    for (size_t i = 0; i < j->n_records; i++)
        TRY(check_payloads(db, s.number, j->blobs, &j->records[i], &a, &payloads));
    for (size_t i = 0; i < payloads.n; i++) {
        TRY(sqlite_begin(db, SQL_REFER));
        sqlite_text(db, SQL_REFER, 1, payloads.handles[i]);
        sqlite_int(db, SQL_REFER, 2, s.number);
        TRY(sqlite_finish(db, SQL_REFER));
    }
    for (size_t i = 0; i < j->n_records; i++) {
        end.total += (int64_t)(j->records[i].body.n + j->records[i].n_payload_bytes);
        TRY(append_record(db, j->id, s.number, &j->records[i], end.total));
        newest_ms = MAX(newest_ms, j->records[i].unix_ms);
    }
    if (j->summary || newest_ms >= s.updated_ms + TOUCH_EVERY_MS)
        TRY(finish_with(db, SQL_TOUCH, s.number, newest_ms));
    return j->summary ? write_summary(db, j->id, j->summary) : NULL;
}

/* --- removing --- */

struct err *sqlite_find_tree(struct sqlite_db *db, struct str id, struct arena *a,
                             int64_t **ret_numbers, size_t *ret_n)
{
    bool has_row = true;
    size_t room = 0;
    struct err *e;

    *ret_numbers = NULL;
    *ret_n = 0;
    TRY(sqlite_begin(db, SQL_SUBTREE));
    sqlite_text(db, SQL_SUBTREE, 1, id);
    while (!(e = sqlite_step(db, SQL_SUBTREE, &has_row)) && has_row) {
        *ret_numbers = arena_grow(a, *ret_numbers, *ret_n, &room, sizeof **ret_numbers);
        (*ret_numbers)[(*ret_n)++] = sqlite_column_int(db, SQL_SUBTREE, 1);
    }
    sqlite_end(db, SQL_SUBTREE);
    return e;
}

struct doomed {
    struct str handle;
    bool is_needed; /* a session refers to it again */
};

static struct err *find_doomed(struct sqlite_db *db, int64_t before_ms, struct arena *a,
                               struct doomed doomed[MAX_COLLECTED], size_t *ret_n)
{
    bool has_row;
    struct err *e;

    *ret_n = 0;
    TRY(sqlite_begin(db, SQL_DOOMED));
    sqlite_int(db, SQL_DOOMED, 1, before_ms);
    sqlite_int(db, SQL_DOOMED, 2, MAX_COLLECTED);
    while (!(e = sqlite_step(db, SQL_DOOMED, &has_row)) && has_row)
        doomed[(*ret_n)++] =
            (struct doomed){.handle = arena_str(a, sqlite_column_text(db, SQL_DOOMED, 0)),
                            .is_needed = sqlite_column_int(db, SQL_DOOMED, 1)};
    sqlite_end(db, SQL_DOOMED);
    return e;
}

/* A payload that was put lately gets as much time again. */
static struct err *collect(struct sqlite_db *db, const struct sqlite_job *j, const struct doomed *d)
{
    int64_t put_before_ms = j->is_urgent ? INT64_MAX : j->unix_ms - DOOM_MS;
    bool is_gone = false;
    enum sqlite_statement s;

    if (!d->is_needed)
        TRY(blob_files_collect(j->blobs, d->handle, put_before_ms, &is_gone));
    s = d->is_needed || is_gone ? SQL_UNDOOM : SQL_DOOM_LATER;
    TRY(sqlite_begin(db, s));
    sqlite_text(db, s, 1, d->handle);
    if (s == SQL_DOOM_LATER)
        sqlite_int(db, s, 2, j->unix_ms);
    return sqlite_finish(db, s);
}

struct err *sqlite_job_collect(struct sqlite_db *db, struct sqlite_job *j)
{
    AUTO(arena) struct arena a = {0};
    struct doomed doomed[MAX_COLLECTED];
    size_t n;

    TRY(find_doomed(db, j->is_urgent ? INT64_MAX : j->unix_ms - DOOM_MS, &a, doomed, &n));
    for (size_t i = 0; i < n; i++)
        TRY(collect(db, j, &doomed[i]));
    j->has_more = n == MAX_COLLECTED;
    return NULL;
}

/* The caller holds the lock of the session itself; a session below another is open with its
 * root. */
static struct err *check_root(struct sqlite_db *db, struct sqlite_job *j, struct arena *a)
{
    struct stream_row s;
    struct err *e = find_stream(db, j->id, a, &s);

    if (err_is(e, ERR_VALIDATION)) {
        err_free(e);
        return NULL; /* there is none */
    }
    TRY(e);
    if (str_eq(s.root, j->id) || !s.is_leased || !lease_is_held(j->lock_dir, s.root))
        return NULL;
    return refuse(err_hint(err_new(ERR_STORAGE, "session %" STR_FMT " is open", STR_ARG(s.root)),
                           "close it first"));
}

struct err *sqlite_job_remove(struct sqlite_db *db, struct sqlite_job *j)
{
    AUTO(arena) struct arena a = {0};
    int64_t *numbers;
    size_t n;

    TRY(check_root(db, j, &a));
    TRY(sqlite_find_tree(db, j->id, &a, &numbers, &n));
    for (size_t i = 0; i < n; i++) {
        TRY(finish_with(db, SQL_DOOM, numbers[i], j->unix_ms));
        TRY(finish_with(db, SQL_UNREFER, numbers[i], 0));
        TRY(finish_with(db, SQL_REMOVE_RECORDS, sqlite_key(numbers[i], 0),
                        sqlite_key(numbers[i], SQLITE_SEQ_LAST)));
        TRY(finish_with(db, SQL_REMOVE_STREAMED, sqlite_key(numbers[i], 0),
                        sqlite_key(numbers[i], SQLITE_SEQ_LAST)));
        TRY(finish_with(db, SQL_REMOVE_SESSION, numbers[i], 0));
    }
    return NULL;
}
