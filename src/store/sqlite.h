/* sqlite.h - sessions in one SQLite file, which many processes may share.
 *
 * Appends that wait at the same time share one transaction, so that many sessions cost one fsync.
 * Blobs are files in the directory `blobs` beside the database, locks in the directory
 * FILE-locks. A store belongs to the tasks of one loop. */
#ifndef KEEL_STORE_SQLITE_H
#define KEEL_STORE_SQLITE_H

#include "port/store.h"

/* `path` must not be a link to the file: locks, log and blobs stand beside the name, and
 * store_from_url() follows links. The file is opened, and made, with the first call that needs it:
 * that one tells what is wrong with it. */
struct store *store_sqlite_new(const char *path) MUST_USE;

/* Loads SQLite's library, which the first call would load. Needs no task, and blocks. */
MUST_USE struct err *store_sqlite_load(void);

#endif
