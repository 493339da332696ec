/* seen.h - which files the model has read, how much of them, and whether they are still as it knows
 * them.
 *
 * Kept in the tools' state (STATE_FILE), so that it outlives the process. Only tasks of the
 * session's loop may look it up; what was found may then be carried to a worker. A file is the same
 * while its content is: its time and its number may change. */
#ifndef KEEL_TOOL_FILE_SEEN_H
#define KEEL_TOOL_FILE_SEEN_H

#include "base/sha256.h"
#include "port/tool_state.h"
#include "tool/file/target.h"

#define SEEN_MAX_SPANS 32
#define SEEN_MAX_CUTS 16

struct seen_span {
    size_t from, to; /* lines, from 1 */
};
struct seen_cut {
    size_t line, n_chars; /* of a long line the characters that were shown */
};
/* More of such a line: its characters from one to another, counted from 1. */
struct seen_part {
    size_t line, from, to; /* line 0: none */
    bool is_end;           /* of the line */
};

struct file_seen {
    bool is_seen;
    bool whole; /* all of it, not some lines */
    struct file_stamp stamp;
    char sha256[SHA256_HEX_SIZE];           /* of its content; empty: not known */
    size_t n_lines;                         /* 0: not known */
    struct seen_span spans[SEEN_MAX_SPANS]; /* in order, with gaps between them */
    size_t n_spans;
    struct seen_cut cuts[SEEN_MAX_CUTS];
    size_t n_cuts;
};

struct file_seen file_seen_find(const struct tool_state *s, const char *path);
void file_seen_remember(struct tool_state *s, const char *path, const struct file_seen *seen);

/* More of the same file: whole lines, or a part of a long one, which counts if it goes on from what
 * was shown before. What finds no room is forgotten. */
void file_seen_add_lines(struct file_seen *seen, size_t from, size_t to);
void file_seen_add_part(struct file_seen *seen, const struct seen_part *part);
/* What an earlier call has shown, if the content is the same. */
void file_seen_add_earlier(struct file_seen *seen, const struct file_seen *earlier);
/* Sets `whole` if all lines are there. */
void file_seen_settle(struct file_seen *seen);

/* May the file that is there now be changed? Not if it was not read, or has changed since. `bytes`
 * are what it holds; NULL: it is too large to be compared, and its stamp decides. */
MUST_USE struct err *file_seen_check(const struct file_seen *seen, const struct file_stamp *now,
                                     const struct str *bytes, const char *shown_path);
/* May all of it be replaced? Not if the model has not seen all of it. */
MUST_USE struct err *file_seen_check_whole(const struct file_seen *seen, const char *shown_path);

#endif
