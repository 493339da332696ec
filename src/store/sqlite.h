/* sqlite.h - sessions in one SQLite file, which many processes may share.
 *
 * Appends that wait at the same time share one transaction, so that many sessions cost one fsync.
 * Blobs are files in the directory `blobs` beside the database, locks in the directory
 * FILE-locks. A store belongs to the tasks of one loop. */
#ifndef KEEL_STORE_SQLITE_H
#define KEEL_STORE_SQLITE_H

#include "port/store.h"
#include "sys/dylib.h"

extern const struct library sqlite_library;

/* `path` must not be a link to the file, because locks, log and blobs are beside the name;
 * store_from_url() follows links. The first call that needs the file opens or creates it, and
 * reports what is wrong with it. */
struct store *store_sqlite_new(const char *path) MUST_USE;

/* Loads SQLite's library, which the first call would do. Needs no task, and blocks. */
MUST_USE struct err *store_sqlite_load(void);

#endif
