/* files.h - sessions as plain files that people and other programs can read.
 *
 *     DIR/ID.jsonl                   the log, a JSON object a line; see files_line.h
 *     DIR/ID.payloads/SHA256.json    what is too long for a line
 *     DIR/ID.json                    the session's record, when somebody saved it
 *     DIR/ID.jsonl.torn-TIME         what a crash had left at the end of the log
 *     DIR/.index, DIR/.locks         the list of sessions, and who has which open
 *     DIR/.clock                     which time was believed when old ones were looked for last
 *
 * Appends to one session that wait at the same time share a write and an fsync; different sessions
 * do not wait for each other. Directories are 0700, files 0600. A store belongs to the tasks of
 * one loop; any number of processes may share the directory. */
#ifndef KEEL_STORE_FILES_H
#define KEEL_STORE_FILES_H

#include "port/store.h"

/* The directory is made with the first session. */
struct store *store_files_new(const char *dir) MUST_USE;

#endif
