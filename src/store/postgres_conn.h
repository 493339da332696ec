/* postgres_conn.h - one connection to PostgreSQL: statements, rows, errors, the tables.
 *
 * Asking waits on the loop. Only connecting, which may look up names, has a thread of its own.
 * Outside of tasks everything blocks the thread. A connection serves one task (or thread) at a
 * time: take its turn first. A connection that is lost, or whose task was interrupted during a
 * question, is closed; the next question connects again.
 *
 * No wait is endless. A server that is silent for the store's time-out is given up with an error
 * that names it. A cancelled task gives it a second, in a shield too. When even connecting ended
 * this way, questions fail at once for as long as the time-out. */
#ifndef KEEL_STORE_POSTGRES_CONN_H
#define KEEL_STORE_POSTGRES_CONN_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "store/postgres_sql.h"
#include "sys/task.h"

#include <libpq-fe.h>
#include <stdatomic.h>

/* libpq's functions without their prefix, looked up by name when a connection is made: keel does
 * not link the library. */
#define POSTGRES_API_TABLE(X)                                                                      \
    X(connectdbParams)                                                                             \
    X(finish)                                                                                      \
    X(status)                                                                                      \
    X(socket)                                                                                      \
    X(errorMessage)                                                                                \
    X(setnonblocking)                                                                              \
    X(setNoticeProcessor)                                                                          \
    X(sendQuery)                                                                                   \
    X(sendPrepare)                                                                                 \
    X(sendQueryPrepared)                                                                           \
    X(enterPipelineMode)                                                                           \
    X(exitPipelineMode)                                                                            \
    X(pipelineSync)                                                                                \
    X(flush)                                                                                       \
    X(consumeInput)                                                                                \
    X(isBusy)                                                                                      \
    X(getResult)                                                                                   \
    X(resultStatus)                                                                                \
    X(resultErrorField)                                                                            \
    X(clear)                                                                                       \
    X(ntuples)                                                                                     \
    X(getvalue)                                                                                    \
    X(getlength)

struct postgres_api {
#define X(name) __typeof__(PQ##name) *name;
    POSTGRES_API_TABLE(X)
#undef X
};

enum postgres_statement {
#define X(name, sql) PG_##name,
    POSTGRES_STATEMENTS(X)
#undef X
        PG_N
};

/* Shared by the connections of a store. */
struct postgres_server {
    char *url;
    char *place; /* "db.example.com:5432", for people */
    uint64_t timeout_ms;
    atomic_uint_least64_t silent_until_ms; /* not asked before this; monotonic */
};
void postgres_server_init(struct postgres_server *s, const char *url, uint64_t timeout_ms);
void postgres_server_done(struct postgres_server *s);

struct postgres_waiter;

struct postgres_conn {
    struct postgres_server *server;
    struct postgres_api api;
    PGconn *handle;     /* NULL: not connected */
    bool was_connected; /* at least once */
    bool was_silent;    /* the last question was given up */
    bool is_prepared[PG_N];
    uint64_t heard_ms; /* when the server was asked or said something; monotonic */
    uint64_t limit_ms; /* how long it may be silent */
    int stop_fd;       /* outside of tasks: readable when waits must end; -1: none */
    bool is_taken;
    struct postgres_waiter *first, **last;
};
void postgres_conn_init(struct postgres_conn *c, struct postgres_server *server);
void postgres_conn_done(struct postgres_conn *c);

MUST_USE struct err *postgres_take_turn(struct postgres_conn *c);
void postgres_give_turn(struct postgres_conn *c);

/* Connects if necessary, and creates the tables. Tries for a while to get back a server that was
 * there: it may be restarting. */
MUST_USE struct err *postgres_connect(struct postgres_conn *c);

/* Was the connection lost, and is the server worth another try? */
bool postgres_may_retry(const struct postgres_conn *c, const struct err *e);

/* --- for the files of the connection --- */

uint64_t postgres_now_ms(void); /* monotonic, the machine's */
void postgres_disconnect(struct postgres_conn *c);
/* Waits until fd is ready. ERR_NETWORK when the server was silent for too long. */
MUST_USE struct err *postgres_wait(struct postgres_conn *c, int fd, int events, int *ret_ready);
/* Runs statements separated by semicolons. `value` becomes the first column of the last row, or
 * empty. `state` becomes the server's code of the error, or empty. */
#define POSTGRES_VALUE_SIZE 64
MUST_USE struct err *postgres_run_script(struct postgres_conn *c, const char *sql,
                                         char value[POSTGRES_VALUE_SIZE], char state[6]);
/* Makes an error of libpq's last message, and closes the connection. */
NEVER_NULL MUST_USE struct err *postgres_lost(struct postgres_conn *c, const char *what,
                                              const char *hint);

/* --- asking --- */

#define POSTGRES_MAX_ARGS 26
struct postgres_args { /* zeroed is empty */
    struct arena arena;
    const char *values[POSTGRES_MAX_ARGS];
    int lengths[POSTGRES_MAX_ARGS], formats[POSTGRES_MAX_ARGS];
    int n;
    bool has_nul; /* which no text may hold there */
};
void postgres_args_done(struct postgres_args *a);
DEFINE_AUTO_VAL(postgres_args, postgres_args_done)
void postgres_text(struct postgres_args *a, struct str text);
void postgres_int(struct postgres_args *a, int64_t value);
void postgres_bytes(struct postgres_args *a, struct str bytes); /* borrowed */
/* Adds one element to an array that is written in pieces: {1,"two"}. */
void postgres_array_text(struct strbuf *out, struct postgres_args *a, struct str text);
void postgres_array_int(struct strbuf *out, int64_t value);
void postgres_array_end(struct strbuf *out, struct postgres_args *a);

struct postgres_rows { /* zeroed is empty */
    const struct postgres_api *api;
    PGresult *result;
    int n;
};
void postgres_rows_done(struct postgres_rows *r);
DEFINE_AUTO_VAL(postgres_rows, postgres_rows_done)
struct str postgres_row_text(const struct postgres_rows *r, int row, int column);
int64_t postgres_row_int(const struct postgres_rows *r, int row, int column);
bool postgres_row_bool(const struct postgres_rows *r, int row, int column);

/* ERR_NETWORK: the connection is lost; whether the statement was carried out is unknown. */
MUST_USE struct err *postgres_ask(struct postgres_conn *c, enum postgres_statement s,
                                  const struct postgres_args *args, struct postgres_rows *ret_rows);
/* The same, with bytes as the answer. */
MUST_USE struct err *postgres_ask_bytes(struct postgres_conn *c, enum postgres_statement s,
                                        const struct postgres_args *args,
                                        struct postgres_rows *ret_rows);
/* Runs the same statement several times in one transaction, without waiting in between. All of them
 * take effect, or none. */
MUST_USE struct err *postgres_ask_all(struct postgres_conn *c, enum postgres_statement s,
                                      const struct postgres_args *args, size_t n,
                                      struct postgres_rows *ret_rows);

#endif
