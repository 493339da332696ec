/* seen.h - which files the model has read, how much of them, and whether they are unchanged.
 *
 * Stored in the tools' state (STATE_FILE), so that it outlives the process. Only tasks of the
 * session's loop may look it up; workers may use the result. A file is unchanged if its content is:
 * its time and inode may differ. */
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
    size_t line, n_chars; /* how many characters of a long line were shown */
};
/* A further part of such a line: characters from one to another, counted from 1. */
struct seen_part {
    size_t line, from, to; /* line 0: none */
    bool is_end;           /* of the line */
};

struct file_seen {
    bool is_seen;
    bool whole; /* all of it, not only some lines */
    struct file_stamp stamp;
    char sha256[SHA256_HEX_SIZE];           /* of the content; empty: unknown */
    size_t n_lines;                         /* 0: not known */
    struct seen_span spans[SEEN_MAX_SPANS]; /* in order, with gaps between them */
    size_t n_spans;
    struct seen_cut cuts[SEEN_MAX_CUTS];
    size_t n_cuts;
};

struct file_seen file_seen_find(const struct tool_state *s, const char *path);
void file_seen_remember(struct tool_state *s, const char *path, const struct file_seen *seen);

/* Adds what was shown: whole lines, or a part of a long line, which counts if it continues what was
 * shown before. Forgets what exceeds the limits. */
void file_seen_add_lines(struct file_seen *seen, size_t from, size_t to);
void file_seen_add_part(struct file_seen *seen, const struct seen_part *part);
/* Adds what an earlier call showed, if the content is the same. */
void file_seen_add_earlier(struct file_seen *seen, const struct file_seen *earlier);
/* Sets `whole` if all lines were shown. */
void file_seen_settle(struct file_seen *seen);

/* May the file be changed? Not if the model has not read it, or if it has changed since. `bytes` is
 * its content; NULL: it is too large to compare, and its stamp decides. */
MUST_USE struct err *file_seen_check(const struct file_seen *seen, const struct file_stamp *now,
                                     const struct str *bytes, const char *shown_path);
/* May the whole file be replaced? Not if the model has seen only a part. */
MUST_USE struct err *file_seen_check_whole(const struct file_seen *seen, const char *shown_path);

#endif
