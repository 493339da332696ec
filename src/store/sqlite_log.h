/* sqlite_log.h - SQLite's write-ahead log: room in it, and when it goes into the database.
 *
 * While a file grows, every fsync has to write its new size as well, which doubles what a commit
 * costs. So zeros are written behind the log's end ahead of time, more of them the longer it is.
 * SQLite takes them for nothing: a log ends where the checksums of its frames do. */
#ifndef KEEL_STORE_SQLITE_LOG_H
#define KEEL_STORE_SQLITE_LOG_H

#include "store/sqlite_db.h"

/* Has the log stay where it is when the database is closed; a new one takes two more fsyncs. */
MUST_USE struct err *sqlite_log_set_up(struct sqlite_db *db);

/* Before the connection is closed: takes a log that has grown into the database, and empties it;
 * any log where the disk is nearly full. A short one is left as it is, with all that it holds: to
 * empty it takes three fsyncs now, and one more before the next process can store anything, which
 * reads it faster than that. */
void sqlite_log_leave(struct sqlite_db *db);

/* After a commit that failed, before the next: takes the log into the database and begins it anew.
 * When an fsync has failed the kernel takes pages for written that are not, also those of commits
 * that left the waiting to this one; only writing them again, elsewhere, makes them durable. */
MUST_USE struct err *sqlite_log_restart(struct sqlite_db *db);

/* Makes durable what was committed without waiting for the disk. One that fails can be repeated. */
MUST_USE struct err *sqlite_log_sync(struct sqlite_db *db);

/* Within a transaction that may write: does the log have its name, and all that was committed to
 * it? Somebody may have removed it or cut it short. */
bool sqlite_log_is_whole(struct sqlite_db *db);

/* Within a transaction that may write: nobody else appends to the log then. */
void sqlite_log_make_room(struct sqlite_db *db);

#endif
