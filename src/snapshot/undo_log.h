/* undo_log.h - what a command was about to change, in a file of its own: for the next process,
 * should this one be killed before it can report it.
 *
 * A file in keel's home, made with the first record, readable by its owner only. A record is
 * durable against the death of the process when it is added; nothing waits for the disk. Records
 * end in NUL, as paths may hold everything else, and each has a sum: what is behind the first
 * damaged one does not count. An empty record is the end, which the next record replaces: a log
 * without it is not all of it.
 *
 *     keel-undo 3
 *     SUM KIND MODE UID GID NAMES MTIME CTIME SIZE INODE DEVICE CONTENT [WHY]<tab>PATH
 *     SUM reported
 *
 * A sum begins with the log's name: a log that is used again still holds records of the last one,
 * behind its own. Version 2 had no end. CONTENT is "attributes", a SHA-256, or "-" for neither; of
 * what git ignores with "ignored:" before it; of content that is in the log and not in the blob
 * store with "=" and its base64 behind it. Version 1 had none of that, and sums of the record
 * alone; both can still be read. WHY: it cannot be undone, or of "attributes", why the content is
 * not known. Of a path the first record counts, and the content of a later one where the first has
 * attributes only. A file that had changed before it was announced is of the kind "other". These
 * calls block. */
#ifndef KEEL_SNAPSHOT_UNDO_LOG_H
#define KEEL_SNAPSHOT_UNDO_LOG_H

#include "snapshot/state.h"

#include <pthread.h>

#define UNDO_LOG_MAX_BYTES ((size_t)256 << 20)
#define UNDO_LOG_NAME_SIZE 33

/* A log that nothing needs any more: to rename it for the next command takes less than to make a
 * file. Any thread. */
struct undo_log_spare {
    pthread_mutex_t lock;
    char name[UNDO_LOG_NAME_SIZE]; /* "": there is none */
};
void undo_log_spare_init(struct undo_log_spare *s);
void undo_log_spare_done(struct undo_log_spare *s);
/* The journal has all of this log for good. */
void undo_log_spare_put(struct undo_log_spare *s, const char *home, struct str name);
void undo_log_spare_remove(struct undo_log_spare *s, const char *home);

struct undo_log {
    struct undo_log_spare *spare; /* borrowed; NULL: there is none */
    char *dir;                    /* NULL: nothing is written */
    char name[UNDO_LOG_NAME_SIZE];
    uint64_t first_sum; /* of the name */
    int fd;             /* -1: not made yet */
    size_t n_bytes, n_written;
    bool is_full, has_failed;
};
/* `home` NULL: nothing is written. */
void undo_log_init(struct undo_log *l, const char *home, struct undo_log_spare *spare);
void undo_log_done(struct undo_log *l); /* the file stays */

/* False: there is no room for it. That it cannot be written is not reported: only a process that
 * is killed would need it. */
bool undo_log_add(struct undo_log *l, const struct file_state *f, bool has_attributes_only);
/* All of it has gone to the journal, or is about to: see undo_log_find(). */
void undo_log_end(struct undo_log *l);
/* The journal has it for good. */
void undo_log_remove(const char *home, struct str name);
/* Removes those that were left behind by sessions that were not resumed for UNDO_LOG_KEPT_DAYS. */
void undo_log_sweep(const char *home);

struct undo_record {
    struct file_state state; /* its path and texts live in the arena */
    bool has_attributes_only;
};
struct undo_records {
    struct undo_record *items;
    size_t n, room;
    bool is_reported; /* undo_log_end() was called */
    bool is_cut;      /* there was more, or it is of another version */
};
#define UNDO_LOG_KEPT_DAYS 30
/* *ret_exists false: the file does not exist: the command has changed nothing, or it was swept.
 * ERR_STORAGE when it cannot be read. */
MUST_USE struct err *undo_log_read(const char *home, struct str name, struct arena *a,
                                   struct undo_records *ret_records, bool *ret_exists);
/* The same of a text, as far as it is whole. Pure. */
void undo_log_parse(struct str text, struct str name, struct arena *a,
                    struct undo_records *ret_records);

#endif
