/* seen.h - which files the model has read, and whether they are still as it knows them.
 *
 * Kept in the session under "file:PATH", so that it outlives the process. Only tasks of the
 * session's loop may look it up; what was found may then be carried to a worker. */
#ifndef KEEL_TOOL_FILE_SEEN_H
#define KEEL_TOOL_FILE_SEEN_H

#include "port/tool_session.h"
#include "tool/file/open.h"

struct file_seen {
    bool is_seen;
    bool whole; /* all of it, not some lines */
    struct file_stamp stamp;
};

struct file_seen file_seen_find(const struct tool_session *s, const char *path);
void file_seen_remember(struct tool_session *s, const char *path, const struct file_stamp *stamp,
                        bool whole);

/* May the file that is there now be changed? Not if it was not read, or has changed since. */
MUST_USE struct err *file_seen_check(const struct file_seen *seen, const struct file_stamp *now,
                                     const char *shown_path);

#endif
