/* undo_log.h - a log of the files that a command was about to change: for the next process, if this
 * one is killed before it can report them.
 *
 * A file in keel's home, created with the first record, readable only by its owner. An added record
 * survives the death of the process; nothing waits for the disk. Records end in NUL, as paths may
 * contain anything else, and each has a sum: records after the first damaged one do not count. An
 * empty record is the end, which the next record overwrites: a log without it is incomplete.
 *
 *     keel-undo 3
 *     SUM KIND MODE UID GID NAMES MTIME CTIME SIZE INODE DEVICE CONTENT [WHY]<tab>PATH
 *     SUM reported
 *
 * A sum includes the log's name: a reused log still has records of its former use after its own.
 * CONTENT is "attributes", a SHA-256, or "-" for neither; with "ignored:" before it for files that
 * git ignores; with "=" and base64 after it for content that is in the log instead of the blob
 * store. WHY: why it cannot be undone or, with "attributes", why the content is unknown. The first
 * record of a path counts, with the content of a later one if the first has only attributes. A file
 * that had changed before it was announced has the kind "other". Version 2 had no end, version 1
 * only sums of the record alone and contents by their SHA-256; both can still be read. These calls
 * block. */
#ifndef KEEL_SNAPSHOT_UNDO_LOG_H
#define KEEL_SNAPSHOT_UNDO_LOG_H

#include "snapshot/state.h"

#include <pthread.h>

#define UNDO_LOG_MAX_BYTES ((size_t)256 << 20)
#define UNDO_LOG_NAME_SIZE 33

/* A log that is not needed any more: renaming it for the next command is faster than creating a
 * file. Any thread. */
struct undo_log_spare {
    pthread_mutex_t lock;
    char name[UNDO_LOG_NAME_SIZE]; /* "": none */
};
void undo_log_spare_init(struct undo_log_spare *s);
void undo_log_spare_done(struct undo_log_spare *s);
/* The journal has this log durably. */
void undo_log_spare_put(struct undo_log_spare *s, const char *home, struct str name);
void undo_log_spare_remove(struct undo_log_spare *s, const char *home);

struct undo_log {
    struct undo_log_spare *spare; /* borrowed; NULL: none */
    char *dir;                    /* NULL: nothing is written */
    char name[UNDO_LOG_NAME_SIZE];
    uint64_t first_sum; /* of the name */
    int fd;             /* -1: not created yet */
    size_t n_bytes, n_written;
    bool is_full, has_failed;
};
/* `home` NULL: nothing is written. */
void undo_log_init(struct undo_log *l, const char *home, struct undo_log_spare *spare);
void undo_log_done(struct undo_log *l); /* the file stays */

/* False: no room for it. Write errors are not reported: only the next process after a kill would
 * need the log. */
bool undo_log_add(struct undo_log *l, const struct file_state *f, bool has_attributes_only);
/* All of it is in the journal, or will be: see undo_log_find(). */
void undo_log_end(struct undo_log *l);
/* The journal has it durably. */
void undo_log_remove(const char *home, struct str name);
/* Removes logs of sessions that were not resumed for UNDO_LOG_KEPT_DAYS. */
void undo_log_sweep(const char *home);

struct undo_record {
    struct file_state state; /* its path and texts live in the arena */
    bool has_attributes_only;
};
struct undo_records {
    struct undo_record *items;
    size_t n, room;
    bool is_reported; /* undo_log_end() was called */
    bool is_cut;      /* records are missing or damaged, or it is of another version */
};
#define UNDO_LOG_KEPT_DAYS 30
/* *ret_exists false: the file does not exist, because the command has changed nothing or the log
 * was swept. ERR_STORAGE if it cannot be read. */
MUST_USE struct err *undo_log_read(const char *home, struct str name, struct arena *a,
                                   struct undo_records *ret_records, bool *ret_exists);
/* The same for a text, as far as it is valid. Pure. */
void undo_log_parse(struct str text, struct str name, struct arena *a,
                    struct undo_records *ret_records);

#endif
