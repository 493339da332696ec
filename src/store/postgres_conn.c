/* postgres_conn.c - asks without blocking, and describes what went wrong. */
#include "store/postgres_conn.h"

#include "sys/work.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define CANCELLED_MS 1000 /* how long a cancelled task waits for a silent server */
#define LOOK_UP_MS 200    /* how often a wait checks whether its task was cancelled */

static const char *const statement_texts[] = {
#define X(name, sql) sql,
    POSTGRES_STATEMENTS(X)
#undef X
};

void postgres_conn_init(struct postgres_conn *c, struct postgres_server *server)
{
    *c = (struct postgres_conn){.server = server, .stop_fd = -1};
    c->last = &c->first;
}

void postgres_disconnect(struct postgres_conn *c)
{
    if (c->handle)
        c->api.finish(c->handle);
    c->handle = NULL;
    memset(c->is_prepared, 0, sizeof c->is_prepared);
}

void postgres_conn_done(struct postgres_conn *c)
{
    postgres_disconnect(c);
    *c = (struct postgres_conn){0};
}

/* --- turns --- */

struct postgres_waiter {
    struct waker waker;
    struct postgres_waiter *next;
};

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
    if (e) { /* it leaves the queue */
        struct postgres_waiter **at = &c->first;

        while (*at != &w)
            at = &(*at)->next;
        *at = w.next;
        if (c->last == &w.next)
            c->last = at;
    }
    return e;
}

void postgres_give_turn(struct postgres_conn *c)
{
    struct postgres_waiter *w = c->first;

    if (!w) {
        c->is_taken = false;
        return;
    }
    c->first = w->next; /* the waiter has the turn now */
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

struct err *postgres_lost(struct postgres_conn *c, const char *what, const char *hint)
{
    struct err *e =
        err_hint(err_new(ERR_NETWORK, "%s PostgreSQL at %s: %" STR_FMT, what, c->server->place,
                         STR_ARG(first_line(c->api.errorMessage(c->handle)))),
                 "%s", hint);

    postgres_disconnect(c);
    return e;
}

static struct err *lost(struct postgres_conn *c)
{
    return postgres_lost(c, "lost the connection to",
                         "check that the server is running and reachable");
}

static const char *advice(const char *state)
{
    if (!state)
        return NULL;
    if (strcmp(state, "53100") == 0)
        return "the server's disk is full: free some space there";
    if (strcmp(state, "42501") == 0 || strcmp(state, "25006") == 0)
        return "grant the user of the store's URL the right to write and to create tables";
    if (strncmp(state, "22", 2) == 0)
        return "PostgreSQL stores only UTF-8 text without NUL; choose another store with --store";
    return NULL;
}

static struct err *refused(struct postgres_conn *c, const PGresult *result)
{
    const char *text = c->api.resultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    const char *hint = advice(c->api.resultErrorField(result, PG_DIAG_SQLSTATE));
    struct err *e = err_new(ERR_STORAGE, "PostgreSQL says: %s", text ? text : "nothing");

    return hint ? err_hint(e, "%s", hint) : e;
}

/* --- waiting --- */

uint64_t postgres_now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static struct err *silent(const struct postgres_conn *c, const char *how, uint64_t ms)
{
    return err_hint(err_new(ERR_NETWORK, "PostgreSQL at %s %s %.1f s", c->server->place, how,
                            (double)ms / 1000),
                    "check that the server is running and reachable; the setting "
                    "sessions.storeTimeoutSeconds (now %g) limits how long keel waits",
                    (double)c->server->timeout_ms / 1000);
}

/* *ret_ready is 0 when the time has passed. */
static struct err *wait_in_task(int fd, int events, uint64_t duration_ms, int *ret_ready)
{
    AUTO(deadline) struct deadline d;
    struct err *e;

    deadline_begin(&d, duration_ms, "PostgreSQL's answer");
    e = task_wait_fd(fd, events, ret_ready);
    if (!e || !d.expired)
        return e;
    err_free(e);
    *ret_ready = 0;
    return NULL;
}

static struct err *wait_in_thread(const struct postgres_conn *c, int fd, int events,
                                  uint64_t duration_ms, int *ret_ready)
{
    struct pollfd p[] = {{.fd = fd,
                          .events = (short)(((events & TASK_FD_READ) ? POLLIN : 0) |
                                            ((events & TASK_FD_WRITE) ? POLLOUT : 0))},
                         {.fd = c->stop_fd, .events = POLLIN}};
    int n;

    do
        n = poll(p, ARRAY_LEN(p), (int)duration_ms);
    while (n < 0 && errno == EINTR);
    if (p[1].revents)
        return err_new(ERR_CANCELLED, "cancelled");
    *ret_ready = ((p[0].revents & ~POLLOUT) ? TASK_FD_READ : 0) |
                 ((p[0].revents & POLLOUT) ? TASK_FD_WRITE : 0);
    return NULL;
}

struct err *postgres_wait(struct postgres_conn *c, int fd, int events, int *ret_ready)
{
    for (;;) {
        uint64_t silent_ms = postgres_now_ms() - c->heard_ms, limit_ms = c->limit_ms, piece_ms;

        if (task_was_cancelled() || work_cancelled())
            limit_ms = MIN(limit_ms, (uint64_t)CANCELLED_MS);
        if (silent_ms >= limit_ms) {
            /* A new connection may find a server that answers. When there is no time to try, the
             * next calls must not wait again. */
            c->was_silent = true;
            if (task_was_cancelled() || work_cancelled())
                atomic_store(&c->server->silent_until_ms,
                             postgres_now_ms() + c->server->timeout_ms);
            return silent(c, "has not answered for", silent_ms);
        }
        piece_ms = MIN(limit_ms - silent_ms, (uint64_t)LOOK_UP_MS);
        if (task_self())
            TRY(wait_in_task(fd, events, piece_ms, ret_ready));
        else
            TRY(wait_in_thread(c, fd, events, piece_ms, ret_ready));
        if (*ret_ready)
            return NULL;
    }
}

/* --- asking --- */

/* An interrupted wait leaves a question without its answer. */
static struct err *wait_for_server(struct postgres_conn *c, int events)
{
    int ready;
    struct err *e = postgres_wait(c, c->api.socket(c->handle), events, &ready);

    if (e) {
        postgres_disconnect(c);
        return e;
    }
    c->heard_ms = postgres_now_ms();
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

/* Reads the answer to one question to its end. A lost connection is not a refusal. */
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

struct err *postgres_run_script(struct postgres_conn *c, const char *sql,
                                char value[POSTGRES_VALUE_SIZE], char state[6])
{
    struct err *e = NULL, *failure;
    PGresult *result;

    value[0] = state[0] = '\0';
    if (!c->api.sendQuery(c->handle, sql))
        return lost(c);
    failure = flush(c);
    while (!failure && !(failure = next_result(c, &result)) && result) {
        const char *code = c->api.resultErrorField(result, PG_DIAG_SQLSTATE);

        if (!is_good(c->api.resultStatus(result)) && !e) {
            e = refused(c, result);
            snprintf(state, 6, "%s", code ? code : "");
        } else if (c->api.ntuples(result) > 0) {
            snprintf(value, POSTGRES_VALUE_SIZE, "%s", c->api.getvalue(result, 0, 0));
        }
        c->api.clear(result);
    }
    if (!failure && e && c->api.status(c->handle) != CONNECTION_OK)
        failure = lost(c);
    if (failure)
        err_free(e);
    return failure ? failure : e;
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
    return err_hint(err_new(ERR_STORAGE, "PostgreSQL cannot store text with a NUL character"),
                    "choose another store for this session with --store");
}

bool postgres_may_retry(const struct postgres_conn *c, const struct err *e)
{
    return err_is(e, ERR_NETWORK) && c->was_connected && !task_was_cancelled() &&
           postgres_now_ms() >= atomic_load(&c->server->silent_until_ms);
}

/* The time limit of a question begins here. */
static struct err *begin(struct postgres_conn *c)
{
    uint64_t now_ms = postgres_now_ms(), until_ms = atomic_load(&c->server->silent_until_ms);

    if (now_ms < until_ms)
        return silent(c, "has not answered before; keel asks it again in", until_ms - now_ms);
    c->heard_ms = now_ms;
    TRY(postgres_connect(c));
    c->limit_ms = c->server->timeout_ms;
    return NULL;
}

static struct err *ask(struct postgres_conn *c, enum postgres_statement s,
                       const struct postgres_args *args, int format, struct postgres_rows *ret_rows)
{
    TRY(check_args(args));
    TRY(begin(c));
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

/* The first refusal counts; the statements after it were not tried. */
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

    TRY(begin(c));
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
