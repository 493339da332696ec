/* postgres_store.h - the store over PostgreSQL, as its files share it.
 *
 *     postgres.c          the calls of the port, and their turns
 *     postgres_lease.c    takes leases and gives them back
 *     postgres_renew.c    the thread that renews them
 *     postgres_append.c   appends in one pipeline, and what became of lost ones
 *     postgres_read.c     records, the list, the search
 *     postgres_blobs.c    payloads
 *     postgres_conn.c     a connection: statements, answers, time-outs
 *     postgres_connect.c  makes connections and tables
 *     postgres_args.c     arguments and rows */
#ifndef KEEL_STORE_POSTGRES_STORE_H
#define KEEL_STORE_POSTGRES_STORE_H

#include "port/store.h"
#include "store/postgres_conn.h"

#include <pthread.h>

/* A session that is open here. */
struct postgres_lease {
    struct postgres_lease *next;
    char *id;
    uint64_t fence;
};

/* The thread that renews them. */
struct postgres_renewer {
    pthread_mutex_t lock; /* guards the list of leases: one thread changes it, the other reads */
    pthread_t thread;
    bool is_running;
    int stop_fd; /* readable when the thread must end */
};

/* An append that waits for its turn. The caller owns the arguments. */
struct postgres_append {
    struct str stream;
    uint64_t expected_seq, fence;
    const struct store_record *records;
    size_t n_records;
    const struct store_summary *update;
    struct err *error;
    struct waker waker;
    struct postgres_append *next;
};

#define POSTGRES_OWNER_SIZE 33

struct postgres_store {
    struct store store;
    struct postgres_server server;
    struct postgres_conn writer; /* leases and appends */
    struct postgres_conn reader; /* looks, and payloads */
    pthread_mutex_t outside_lock;
    struct postgres_conn outside; /* the same for threads that are not tasks; guarded by the lock */
    char owner[POSTGRES_OWNER_SIZE]; /* of leases: only this store's */
    uint64_t lease_ms;
    struct postgres_lease *leases;
    struct postgres_renewer renewer;
    struct postgres_append *first, **last;
    bool is_writing;
    struct blob_store *blobs;
};

static inline struct postgres_store *postgres_of(struct store *s)
{
    return (struct postgres_store *)s;
}

/* The error of a call: a lost connection is a failure of the store. */
MUST_USE struct err *postgres_call_error(struct err *take_error);

/* Makes a look, or a change without a lease, in its turn, and repeats it once if the connection was
 * lost. Outside of tasks it blocks. */
MUST_USE struct err *postgres_look(struct postgres_store *p, enum postgres_statement s,
                                   const struct postgres_args *args, bool is_bytes,
                                   struct postgres_rows *ret_rows);

/* --- leases: the caller has the writer's turn --- */

MUST_USE struct err *postgres_open(struct postgres_store *p, struct str id,
                                   const struct store_summary *create, struct arena *a,
                                   struct store_lease *ret_lease);
void postgres_close(struct postgres_store *p, struct str id, uint64_t fence);
void postgres_forget_lease(struct postgres_store *p, struct str id);

/* The state of a stream and of the lease of its root. */
struct postgres_standing {
    bool exists;
    uint64_t next_seq;
    struct str root, holder, parent;
    bool is_ours; /* with this fence; also after it expired, if no other has taken it */
    bool is_held; /* by any store, and has not expired */
};
MUST_USE struct err *postgres_look_at_lease(struct postgres_store *p, struct str stream,
                                            uint64_t fence, struct arena *a,
                                            struct postgres_standing *ret);
NEVER_NULL MUST_USE struct err *postgres_written_by_others(struct str root);
NEVER_NULL MUST_USE struct err *postgres_cannot_remove(struct postgres_store *p,
                                                       const struct postgres_standing *now);
/* Adds the eight values of a new session, and its id. */
void postgres_add_new(struct postgres_args *args, const struct store_summary *s, struct str id);

/* Renews those that are still ours, and leaves others alone. */
MUST_USE struct err *postgres_renew(struct postgres_conn *c, const char *owner, uint64_t lease_ms,
                                    const struct str *ids, const uint64_t *fences, size_t n);
MUST_USE struct err *postgres_start_renewing(struct postgres_store *p);
void postgres_stop_renewing(struct postgres_store *p);

/* --- appends --- */

void postgres_append_all(struct postgres_store *p, struct postgres_append *first);

/* --- looks: members of struct store_ops --- */

MUST_USE struct err *postgres_keeps(struct store *store, struct str id, struct str handle,
                                    bool *ret_keeps);
MUST_USE struct err *postgres_read(struct store *store, struct str id, const struct store_query *q,
                                   struct store_page *ret_page);
MUST_USE struct err *postgres_find(struct store *store, struct str id, struct arena *a,
                                   struct store_summary *ret_summary, bool *ret_found);
MUST_USE struct err *postgres_last(struct store *store, const struct store_last_query *q,
                                   struct arena *a, struct store_record *ret_records);
MUST_USE struct err *postgres_list(struct store *store, const struct store_list_query *q,
                                   struct arena *a, struct store_summary **ret_items,
                                   size_t *ret_n);
MUST_USE struct err *postgres_search(struct store *store, struct str words, size_t n_max,
                                     struct arena *a, struct store_hit **ret_hits, size_t *ret_n);

struct blob_store *postgres_blobs_new(struct postgres_store *p) MUST_USE;

#endif
