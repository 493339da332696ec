/* files.h - sessions as plain files that people and other programs can read.
 *
 *     DIR/ID.jsonl                   the log, one JSON object per line (files_line.h)
 *     DIR/ID.payloads/SHA256.json    what is too long for a line
 *     DIR/ID.json                    the session's record, if one was saved
 *     DIR/ID.jsonl.torn-TIME         what a crash left at the end of the log
 *     DIR/.index, DIR/.locks         the list of sessions; which process has which one open
 *     DIR/.clock                     the time that the last search for old sessions believed
 *
 * Appends to one session that wait at the same time share a write and an fsync. Different sessions
 * do not wait for each other. Directories have mode 0700, files 0600. A store belongs to the tasks
 * of one loop. Any number of processes may share the directory. */
#ifndef KEEL_STORE_FILES_H
#define KEEL_STORE_FILES_H

#include "port/store.h"

/* The first session creates the directory. */
struct store *store_files_new(const char *dir) MUST_USE;

#endif
