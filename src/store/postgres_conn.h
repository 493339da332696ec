/* postgres_conn.h - one connection to PostgreSQL: statements, rows, errors, the tables.
 *
 * Asking waits on the loop, not in a worker; only connecting, which may look up names, runs in one.
 * Outside of tasks both block the thread. A connection serves one task (or thread) at a time: take
 * its turn first. One that is lost, or whose task was interrupted in the middle of a question, is
 * closed; the next question connects again. */
#ifndef KEEL_STORE_POSTGRES_CONN_H
#define KEEL_STORE_POSTGRES_CONN_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "store/postgres_api.h"
#include "store/postgres_sql.h"
#include "sys/task.h"

enum postgres_statement {
#define X(name, sql) PG_##name,
    POSTGRES_STATEMENTS(X)
#undef X
        PG_N
};

struct postgres_waiter;

struct postgres_conn {
    struct postgres_api api;
    char *url;
    PGconn *handle;      /* NULL: not connected */
    uint64_t generation; /* grows with every connection */
    bool is_prepared[PG_N];
    bool is_taken;
    struct postgres_waiter *first, **last;
};
void postgres_conn_init(struct postgres_conn *c, const char *url);
void postgres_conn_done(struct postgres_conn *c);

MUST_USE struct err *postgres_take_turn(struct postgres_conn *c);
void postgres_give_turn(struct postgres_conn *c);

/* Connects if need be, and makes the tables; tries again for a while when nobody answers. */
MUST_USE struct err *postgres_connect(struct postgres_conn *c);

/* --- asking --- */

#define POSTGRES_MAX_ARGS 24
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
/* One element of an array that is written piece by piece: {1,"two"}. */
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

/* ERR_NETWORK: the connection is lost, and nobody knows whether it was done. */
MUST_USE struct err *postgres_ask(struct postgres_conn *c, enum postgres_statement s,
                                  const struct postgres_args *args, struct postgres_rows *ret_rows);
/* The same, with bytes as the answer. */
MUST_USE struct err *postgres_ask_bytes(struct postgres_conn *c, enum postgres_statement s,
                                        const struct postgres_args *args,
                                        struct postgres_rows *ret_rows);
/* Several times the same statement in one transaction, without waiting in between. All of them
 * have been done, or none. */
MUST_USE struct err *postgres_ask_all(struct postgres_conn *c, enum postgres_statement s,
                                      const struct postgres_args *args, size_t n,
                                      struct postgres_rows *ret_rows);

#endif
