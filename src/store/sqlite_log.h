/* sqlite_log.h - SQLite's write-ahead log: room in it, and when it goes into the database.
 *
 * While a file grows, every fsync also writes its new size, which doubles the cost of a commit. So
 * zeros are written after the log's end ahead of time; the longer the log, the more. SQLite ignores
 * them: a log ends where the checksums of its frames end. */
#ifndef KEEL_STORE_SQLITE_LOG_H
#define KEEL_STORE_SQLITE_LOG_H

#include "store/sqlite_db.h"

/* Keeps the log file when the database is closed; a new one costs two more fsyncs. */
MUST_USE struct err *sqlite_log_set_up(struct sqlite_db *db);

/* Before the connection is closed: moves a log that has grown into the database, and empties it;
 * any log if the disk is nearly full. A short one stays as it is. Emptying it takes three fsyncs
 * now, and one more before the next process can store anything; that process reads it faster. */
void sqlite_log_leave(struct sqlite_db *db);

/* After a commit that failed, before the next one: moves the log into the database and restarts it.
 * After a failed fsync the kernel takes unwritten pages for written ones, also those of commits
 * that left the waiting to this one. Only writing them again, elsewhere, makes them durable. */
MUST_USE struct err *sqlite_log_restart(struct sqlite_db *db);

/* Makes commits durable that did not wait for the disk. Can be repeated after a failure. */
MUST_USE struct err *sqlite_log_sync(struct sqlite_db *db);

/* Within a transaction that may write: does the log still have its name, and all that was committed
 * to it? Somebody may have removed or truncated it. */
bool sqlite_log_is_whole(struct sqlite_db *db);

/* Within a transaction that may write: no other process appends to the log then. */
void sqlite_log_make_room(struct sqlite_db *db);

#endif
