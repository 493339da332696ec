/* postgres_conn.c - connecting, asking without blocking, and saying what went wrong. */
#include "store/postgres_conn.h"

#include "sys/work.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define VERSION "1"
#define N_TRIES 8 /* to get back a connection that there was: 13 seconds */
#define FIRST_PAUSE_MS 100
#define ANSWER_MS 60000 /* a server that says nothing for so long is lost */

static const char *const statement_texts[] = {
#define X(name, sql) sql,
    POSTGRES_STATEMENTS(X)
#undef X
};

/* Ids are compared byte by byte, as everywhere in keel. */
static const char tables[] =
    "BEGIN; SELECT pg_advisory_xact_lock(7811887);"
    "CREATE TABLE IF NOT EXISTS keel_version (version integer NOT NULL);"
    "INSERT INTO keel_version SELECT " VERSION " WHERE NOT EXISTS (SELECT 1 FROM keel_version);"
    "CREATE TABLE IF NOT EXISTS keel_sessions (number bigserial PRIMARY KEY,"
    " id text COLLATE \"C\" NOT NULL UNIQUE, parent text COLLATE \"C\" NOT NULL,"
    " root text COLLATE \"C\" NOT NULL, cwd text NOT NULL, name text NOT NULL,"
    " provider text NOT NULL, model text NOT NULL, preview text NOT NULL,"
    " created bigint NOT NULL, updated bigint NOT NULL, next_seq bigint NOT NULL DEFAULT 1,"
    " n_messages bigint NOT NULL, n_bytes bigint NOT NULL DEFAULT 0,"
    " fence bigint NOT NULL DEFAULT 0, is_leased boolean NOT NULL DEFAULT false,"
    " holder text NOT NULL DEFAULT '', backend integer NOT NULL DEFAULT 0,"
    " indexed bigint NOT NULL DEFAULT 1);"
    "CREATE INDEX IF NOT EXISTS keel_sessions_by_time"
    " ON keel_sessions (parent, updated DESC, id DESC);"
    "CREATE INDEX IF NOT EXISTS keel_sessions_unindexed ON keel_sessions (number)"
    " WHERE indexed < next_seq;"
    "CREATE TABLE IF NOT EXISTS keel_records (stream bigint NOT NULL, seq bigint NOT NULL,"
    " n bigint NOT NULL, ms bigint NOT NULL, type text NOT NULL, run text NOT NULL,"
    " turn bigint NOT NULL, round bigint NOT NULL, attempt bigint NOT NULL,"
    " core boolean NOT NULL, body text NOT NULL, PRIMARY KEY (stream, seq));"
    "CREATE INDEX IF NOT EXISTS keel_records_core ON keel_records (stream, seq) WHERE core;"
    "CREATE TABLE IF NOT EXISTS keel_payloads (handle text NOT NULL, stream bigint NOT NULL,"
    " PRIMARY KEY (handle, stream));"
    "CREATE INDEX IF NOT EXISTS keel_payloads_by_stream ON keel_payloads (stream);"
    "CREATE TABLE IF NOT EXISTS keel_blobs (handle text PRIMARY KEY, bytes bytea NOT NULL);"
    "CREATE TABLE IF NOT EXISTS keel_doomed (handle text PRIMARY KEY,"
    " since timestamptz NOT NULL DEFAULT now());"
    "CREATE TABLE IF NOT EXISTS keel_words (stream bigint NOT NULL, seq bigint NOT NULL,"
    " words tsvector NOT NULL, PRIMARY KEY (stream, seq));"
    "CREATE INDEX IF NOT EXISTS keel_words_gin ON keel_words USING gin (words);"
    "COMMIT";

void postgres_conn_init(struct postgres_conn *c, const char *url)
{
    *c = (struct postgres_conn){.url = mem_strdup(url)};
    c->last = &c->first;
}

static void disconnect(struct postgres_conn *c)
{
    if (c->handle)
        c->api.finish(c->handle);
    c->handle = NULL;
    memset(c->is_prepared, 0, sizeof c->is_prepared);
}

void postgres_conn_done(struct postgres_conn *c)
{
    disconnect(c);
    if (c->url)
        mem_wipe(c->url, strlen(c->url)); /* it may hold a password */
    mem_free(c->url);
    *c = (struct postgres_conn){0};
}

/* --- turns --- */

struct postgres_waiter {
    struct waker waker;
    struct postgres_waiter *next;
};

static void leave_queue(struct postgres_conn *c, const struct postgres_waiter *w)
{
    struct postgres_waiter **at = &c->first;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    if (c->last == &w->next)
        c->last = at;
}

struct err *postgres_take_turn(struct postgres_conn *c)
{
    struct postgres_waiter w = {0};
    struct err *e;

    if (!c->is_taken) {
        c->is_taken = true;
        return NULL;
    }
    waker_init(&w.waker);
    *c->last = &w;
    c->last = &w.next;
    e = waker_park(&w.waker);
    if (e)
        leave_queue(c, &w);
    return e;
}

void postgres_give_turn(struct postgres_conn *c)
{
    struct postgres_waiter *w = c->first;

    if (!w) {
        c->is_taken = false;
        return;
    }
    c->first = w->next; /* the turn is his now */
    if (!c->first)
        c->last = &c->first;
    waker_wake(&w->waker);
}

/* --- errors --- */

static struct str first_line(const char *text)
{
    struct str line, rest = str_trim(str_of(text));

    return str_split(&rest, '\n', &line) ? line : rest;
}

static struct err *lost(struct postgres_conn *c)
{
    struct err *e = err_hint(err_new(ERR_NETWORK, "the connection to PostgreSQL is lost: %" STR_FMT,
                                     STR_ARG(first_line(c->api.errorMessage(c->handle)))),
                             "see that the server runs and can be reached, then open the session "
                             "again");

    disconnect(c);
    return e;
}

static const char *advice(const char *state)
{
    if (!state)
        return NULL;
    if (strcmp(state, "53100") == 0)
        return "the server's disk is full: make room there";
    if (strcmp(state, "42501") == 0 || strcmp(state, "25006") == 0)
        return "give the user of the store's URL the right to write and to make tables there";
    if (strncmp(state, "22", 2) == 0)
        return "PostgreSQL keeps only UTF-8 text without NUL; another store keeps everything";
    return NULL;
}

static struct err *refused(struct postgres_conn *c, const PGresult *result)
{
    const char *text = c->api.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *hint = advice(c->api.resultErrorField(result, PG_DIAG_SQLSTATE));
    struct err *e = err_new(ERR_STORAGE, "PostgreSQL says: %s", text ? text : "nothing");

    return hint ? err_hint(e, "%s", hint) : e;
}

/* A wait that was interrupted leaves a question without its answer. */
static struct err *interrupted(struct postgres_conn *c, struct err *take_error)
{
    disconnect(c);
    return take_error;
}

/* --- connecting --- */

static void ignore_notice(void *arg, const char *text)
{
}

static struct err *cannot_connect(struct postgres_conn *c)
{
    struct err *e = err_hint(err_new(ERR_NETWORK, "cannot connect to PostgreSQL: %" STR_FMT,
                                     STR_ARG(first_line(c->api.errorMessage(c->handle)))),
                             "see that the server runs and that address, user and password of the "
                             "store's URL are right");

    disconnect(c);
    return e;
}

static struct err *check_version(struct postgres_conn *c)
{
    PGresult *result = c->api.exec(c->handle, "SELECT version FROM keel_version");
    struct err *e = NULL;

    if (c->api.resultStatus(result) != PGRES_TUPLES_OK)
        e = refused(c, result);
    else if (c->api.ntuples(result) != 1 || strcmp(c->api.getvalue(result, 0, 0), VERSION) != 0)
        e = err_hint(err_new(ERR_STORAGE, "the database was made by a newer keel"),
                     "update keel, or use another store with --store");
    c->api.clear(result);
    return e;
}

static struct err *make_tables(struct postgres_conn *c)
{
    PGresult *result = c->api.exec(c->handle, tables);
    struct err *e = c->api.resultStatus(result) == PGRES_COMMAND_OK ? NULL : refused(c, result);

    c->api.clear(result);
    return e ? e : check_version(c);
}

/* In a worker. */
static struct err *connect_once(void *arg)
{
    struct postgres_conn *c = arg;
    /* What the URL says counts for more than what stands before it. */
    static const char *const keys[] = {"connect_timeout",  "keepalives_idle", "dbname",
                                       "application_name", "client_encoding", NULL};
    const char *const values[] = {"10", "30", c->url, "keel", "UTF8", NULL};
    struct err *e;

    TRY(postgres_api_load(&c->api));
    c->handle = c->api.connectdbParams(keys, values, /* expand_dbname= */ 1);
    if (!c->handle)
        return err_new(ERR_STORAGE, "cannot connect to PostgreSQL: out of memory");
    if (c->api.status(c->handle) != CONNECTION_OK)
        return cannot_connect(c);
    c->api.setNoticeProcessor(c->handle, ignore_notice, NULL);
    e = make_tables(c);
    if (!e && c->api.setnonblocking(c->handle, 1) != 0)
        e = lost(c);
    if (e)
        disconnect(c);
    return e;
}

static struct err *pause_ms_long(uint64_t pause_ms)
{
    struct timespec t = {(time_t)(pause_ms / 1000), (long)(pause_ms % 1000) * 1000000};

    if (task_self())
        return task_sleep(pause_ms);
    nanosleep(&t, NULL);
    return NULL;
}

struct err *postgres_connect(struct postgres_conn *c)
{
    uint64_t pause_ms = FIRST_PAUSE_MS;
    struct err *e = NULL;

    if (c->handle)
        return NULL;
    for (unsigned i = 0;; i++, pause_ms *= 2) {
        e = task_self() ? work_run(connect_once, c) : connect_once(c);
        if (!e || !err_is(e, ERR_NETWORK) || i + 1 == (c->generation ? N_TRIES : 1))
            break;
        err_ignore(e, "the next try tells");
        TRY(pause_ms_long(pause_ms));
    }
    if (e)
        return e;
    c->generation++;
    return NULL;
}

/* --- arguments --- */

void postgres_args_done(struct postgres_args *a)
{
    arena_done(&a->arena);
    *a = (struct postgres_args){0};
}

static void add_value(struct postgres_args *a, const char *value, size_t n, int format)
{
    BUG_IF(a->n == POSTGRES_MAX_ARGS);
    a->values[a->n] = value;
    a->lengths[a->n] = (int)n;
    a->formats[a->n++] = format;
}

static void look_for_nul(struct postgres_args *a, struct str text)
{
    a->has_nul |= str_find_char(text, '\0') != STR_NONE;
}

void postgres_text(struct postgres_args *a, struct str text)
{
    look_for_nul(a, text);
    add_value(a, arena_cstr(&a->arena, text), text.n, 0);
}

void postgres_int(struct postgres_args *a, int64_t value)
{
    postgres_text(a, arena_format(&a->arena, "%" PRId64, value));
}

void postgres_bytes(struct postgres_args *a, struct str bytes)
{
    add_value(a, bytes.n ? bytes.p : "", bytes.n, 1);
}

static void next_element(struct strbuf *out)
{
    strbuf_add_char(out, out->n ? ',' : '{');
}

void postgres_array_text(struct strbuf *out, struct postgres_args *a, struct str text)
{
    look_for_nul(a, text);
    next_element(out);
    strbuf_add_char(out, '"');
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '"' || text.p[i] == '\\')
            strbuf_add_char(out, '\\');
        strbuf_add_char(out, text.p[i]);
    }
    strbuf_add_char(out, '"');
}

void postgres_array_int(struct strbuf *out, int64_t value)
{
    next_element(out);
    strbuf_addf(out, "%" PRId64, value);
}

void postgres_array_end(struct strbuf *out, struct postgres_args *a)
{
    strbuf_add_cstr(out, out->n ? "}" : "{}");
    postgres_text(a, strbuf_str(out));
    strbuf_clear(out);
}

/* --- rows --- */

void postgres_rows_done(struct postgres_rows *r)
{
    if (r->result)
        r->api->clear(r->result);
    *r = (struct postgres_rows){0};
}

struct str postgres_row_text(const struct postgres_rows *r, int row, int column)
{
    return str_make(r->api->getvalue(r->result, row, column),
                    (size_t)r->api->getlength(r->result, row, column));
}

int64_t postgres_row_int(const struct postgres_rows *r, int row, int column)
{
    return strtoll(r->api->getvalue(r->result, row, column), NULL, 10);
}

bool postgres_row_bool(const struct postgres_rows *r, int row, int column)
{
    return r->api->getvalue(r->result, row, column)[0] == 't';
}

/* --- asking --- */

static struct err *wait_in_task(struct postgres_conn *c, int events, int *ret_ready)
{
    AUTO(deadline) struct deadline d;
    struct err *e;

    deadline_begin(&d, ANSWER_MS, "PostgreSQL's answer");
    e = task_wait_fd(c->api.socket(c->handle), events, ret_ready);
    if (e && d.expired)
        e->kind = ERR_NETWORK;
    return e;
}

static struct err *wait_in_thread(struct postgres_conn *c, int events, int *ret_ready)
{
    struct pollfd p = {.fd = c->api.socket(c->handle),
                       .events = (short)(((events & TASK_FD_READ) ? POLLIN : 0) |
                                         ((events & TASK_FD_WRITE) ? POLLOUT : 0))};
    int n;

    do
        n = poll(&p, 1, ANSWER_MS);
    while (n < 0 && errno == EINTR);
    if (n == 0)
        return err_new(ERR_NETWORK, "PostgreSQL has not answered for %d seconds", ANSWER_MS / 1000);
    *ret_ready =
        ((p.revents & ~POLLOUT) ? TASK_FD_READ : 0) | ((p.revents & POLLOUT) ? TASK_FD_WRITE : 0);
    return NULL;
}

static struct err *wait_for_server(struct postgres_conn *c, int events)
{
    struct err *e;
    int ready;

    e = task_self() ? wait_in_task(c, events, &ready) : wait_in_thread(c, events, &ready);
    if (e)
        return interrupted(c, e);
    if ((ready & TASK_FD_READ) && !c->api.consumeInput(c->handle))
        return lost(c);
    return NULL;
}

/* The server may answer before it has read everything. */
static struct err *flush(struct postgres_conn *c)
{
    int left;

    while ((left = c->api.flush(c->handle)) > 0)
        TRY(wait_for_server(c, TASK_FD_READ | TASK_FD_WRITE));
    return left < 0 ? lost(c) : NULL;
}

static struct err *next_result(struct postgres_conn *c, PGresult **ret_result)
{
    while (c->api.isBusy(c->handle))
        TRY(wait_for_server(c, TASK_FD_READ));
    *ret_result = c->api.getResult(c->handle);
    return NULL;
}

static bool is_good(ExecStatusType status)
{
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

/* The answer to one question, up to its end. What is no longer connected did not refuse. */
static struct err *read_answer(struct postgres_conn *c, struct postgres_rows *ret_rows)
{
    PGresult *result, *end = NULL;
    struct err *e;

    TRY(next_result(c, &result));
    if (!result)
        return lost(c);
    *ret_rows = (struct postgres_rows){&c->api, result, c->api.ntuples(result)};
    e = is_good(c->api.resultStatus(result)) ? NULL : refused(c, result);
    if (e && c->api.status(c->handle) != CONNECTION_OK) {
        err_free(e);
        e = lost(c);
    }
    while (c->handle) {
        struct err *failure = next_result(c, &end);

        if (failure || !end) {
            if (failure)
                err_free(e);
            e = failure ? failure : e;
            break;
        }
        c->api.clear(end);
    }
    if (e)
        postgres_rows_done(ret_rows);
    return e;
}

static void name_statement(char name[16], enum postgres_statement s)
{
    snprintf(name, 16, "keel%d", (int)s);
}

static struct err *prepare(struct postgres_conn *c, enum postgres_statement s)
{
    AUTO(postgres_rows) struct postgres_rows rows = {0};
    char name[16];

    if (c->is_prepared[s])
        return NULL;
    name_statement(name, s);
    if (!c->api.sendPrepare(c->handle, name, statement_texts[s], 0, NULL))
        return lost(c);
    TRY(flush(c));
    TRY(read_answer(c, &rows));
    c->is_prepared[s] = true;
    return NULL;
}

static struct err *send(struct postgres_conn *c, enum postgres_statement s,
                        const struct postgres_args *a, int result_format)
{
    char name[16];

    name_statement(name, s);
    if (!c->api.sendQueryPrepared(c->handle, name, a->n, a->values, a->lengths, a->formats,
                                  result_format))
        return lost(c);
    return NULL;
}

static struct err *check_args(const struct postgres_args *a)
{
    if (!a->has_nul)
        return NULL;
    return err_hint(err_new(ERR_STORAGE, "PostgreSQL keeps no text with a NUL character"),
                    "use another store with --store for this session");
}

static struct err *ask(struct postgres_conn *c, enum postgres_statement s,
                       const struct postgres_args *args, int format, struct postgres_rows *ret_rows)
{
    TRY(check_args(args));
    TRY(postgres_connect(c));
    TRY(prepare(c, s));
    TRY(send(c, s, args, format));
    TRY(flush(c));
    return read_answer(c, ret_rows);
}

struct err *postgres_ask(struct postgres_conn *c, enum postgres_statement s,
                         const struct postgres_args *args, struct postgres_rows *ret_rows)
{
    return ask(c, s, args, 0, ret_rows);
}

struct err *postgres_ask_bytes(struct postgres_conn *c, enum postgres_statement s,
                               const struct postgres_args *args, struct postgres_rows *ret_rows)
{
    return ask(c, s, args, 1, ret_rows);
}

static struct err *send_all(struct postgres_conn *c, enum postgres_statement s,
                            const struct postgres_args *args, size_t n)
{
    for (size_t i = 0; i < n; i++)
        TRY(send(c, s, &args[i], 0));
    return c->api.pipelineSync(c->handle) ? flush(c) : lost(c);
}

/* The first refusal counts; what comes behind it was not even tried. */
static struct err *read_all(struct postgres_conn *c, size_t n, struct postgres_rows *ret_rows)
{
    struct err *first = NULL;
    PGresult *sync;

    for (size_t i = 0; i < n; i++) {
        struct err *e = read_answer(c, &ret_rows[i]);

        if (!first || !c->handle) {
            err_free(first);
            first = e;
        } else {
            err_ignore(e, "the pipeline was aborted by the first one");
        }
        if (!c->handle)
            return first;
    }
    {
        struct err *e = next_result(c, &sync);

        if (e) {
            err_free(first);
            return e;
        }
    }
    c->api.clear(sync);
    return first;
}

struct err *postgres_ask_all(struct postgres_conn *c, enum postgres_statement s,
                             const struct postgres_args *args, size_t n,
                             struct postgres_rows *ret_rows)
{
    struct err *e;

    TRY(postgres_connect(c));
    TRY(prepare(c, s));
    if (!c->api.enterPipelineMode(c->handle))
        return lost(c);
    e = send_all(c, s, args, n);
    if (!e)
        e = read_all(c, n, ret_rows);
    if (c->handle && !c->api.exitPipelineMode(c->handle)) {
        err_free(e);
        e = lost(c);
    }
    if (e)
        for (size_t i = 0; i < n; i++)
            postgres_rows_done(&ret_rows[i]);
    return e;
}
