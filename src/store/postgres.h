/* postgres.h - sessions in a PostgreSQL database, which many machines may share.
 *
 * A lease is a row with an owner, a fence and an end, by the clock of the database. It lasts six
 * seconds; its holder renews it every two. The database compares all three with every append. So a
 * holder that was stopped or cut off changes nothing once its lease has expired and another one has
 * the session. As long as no other has it, the holder may continue. A lost connection loses
 * nothing: the next call connects again, and an append that was under way is sent again and counts
 * once.
 *
 * A silent server is given up after a time. Payloads are in the database too. A store belongs to
 * the tasks of one loop. */
#ifndef KEEL_STORE_POSTGRES_H
#define KEEL_STORE_POSTGRES_H

#include "port/store.h"
#include "sys/dylib.h"

extern const struct library postgres_library;

struct postgres_options {
    uint64_t timeout_ms; /* how long the server may be silent; 0: 30 s */
    uint64_t lease_ms;   /* 0: 6 s */
};

/* postgres://USER:PASSWORD@HOST/DATABASE, or anything else that libpq takes. The first call
 * connects and creates missing tables (keel_*). `options` may be NULL. */
struct store *store_postgres_new(const char *url, const struct postgres_options *options) MUST_USE;

#endif
