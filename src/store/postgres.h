/* postgres.h - sessions in a PostgreSQL database, which many machines may share.
 *
 * A lease is an advisory lock of the store's connection, so that it is free as soon as its process
 * or its machine is gone, and a fence in the session's row, which the database compares with every
 * append. When the connection is lost, so are the leases: an append that was under way is looked
 * for and its fate told, later ones fail, and the session must be opened again. Reads connect again
 * by themselves. Payloads are in the database too. A store belongs to the tasks of one loop. */
#ifndef KEEL_STORE_POSTGRES_H
#define KEEL_STORE_POSTGRES_H

#include "port/store.h"

/* postgres://USER:PASSWORD@HOST/DATABASE, or what else libpq takes. Connects with the first call;
 * makes its tables (keel_*) where they are missing. */
struct store *store_postgres_new(const char *url) MUST_USE;

#endif
