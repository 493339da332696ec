/* sqlite_store.h - the store over SQLite, as its files share it.
 *
 *     sqlite.c          jobs: from tasks to workers, many in one transaction
 *     sqlite_write.c    changes the database, within a transaction
 *     sqlite_removal.c  removes sessions on a full disk; knows where payloads are
 *     sqlite_read.c     looks at the database
 *     sqlite_search.c   the index of words, updated by each search
 *     sqlite_db.c       connections and statements
 *     sqlite_log.c      the log that changes go to first */
#ifndef KEEL_STORE_SQLITE_STORE_H
#define KEEL_STORE_SQLITE_STORE_H

#include "port/store.h"
#include "store/sqlite_db.h"

/* A change that waits for its transaction. The caller owns arguments and results. */
struct sqlite_job {
    /* NULL: changes nothing, and waits until the changes of others are durable. */
    struct err *(*run)(struct sqlite_db *db, struct sqlite_job *job);
    struct str id;
    uint64_t fence, expected_seq;
    const struct store_summary *summary;
    const struct store_record *records;
    size_t n_records;
    struct arena *arena;
    struct store_lease *ret_lease;
    struct blob_store *blobs;
    bool has_more; /* to collect */
    int64_t unix_ms;
    int64_t clamp_after_ms, clamp_to_ms;
    const struct store_belief *belief;
    const char *lock_dir;
    bool may_be_lost; /* by a power loss: the next job that may not be lost makes it durable, too */
    bool is_urgent;   /* to collect: also what somebody may be about to refer to */
    bool lacks_room;  /* result: it failed because the disk is full */
};

/* ERR_VALIDATION: this job has changed nothing and the transaction continues; the caller gets it as
 * ERR_STORAGE. Other errors end the transaction. */
MUST_USE struct err *sqlite_job_open(struct sqlite_db *db, struct sqlite_job *j);
MUST_USE struct err *sqlite_job_close(struct sqlite_db *db, struct sqlite_job *j);
MUST_USE struct err *sqlite_job_add_child(struct sqlite_db *db, struct sqlite_job *j);
MUST_USE struct err *sqlite_job_append(struct sqlite_db *db, struct sqlite_job *j);
MUST_USE struct err *sqlite_job_clamp_times(struct sqlite_db *db, struct sqlite_job *j);
MUST_USE struct err *sqlite_job_believe(struct sqlite_db *db, struct sqlite_job *j);
MUST_USE struct err *sqlite_job_update(struct sqlite_db *db, struct sqlite_job *j);
MUST_USE struct err *sqlite_job_remove(struct sqlite_db *db, struct sqlite_job *j);
/* Removes some of the blobs without a reference: here, because no append can add a reference at the
 * same time. A process that is killed before the commit leaves the rest to the next one. */
MUST_USE struct err *sqlite_job_collect(struct sqlite_db *db, struct sqlite_job *j);
/* Removes payloads that only sessions with a mark refer to. */
MUST_USE struct err *sqlite_job_drop_payloads(struct sqlite_db *db, struct sqlite_job *j);
MUST_USE struct err *sqlite_job_index(struct sqlite_db *db, struct sqlite_job *j);
MUST_USE struct err *sqlite_job_forget_words(struct sqlite_db *db, struct sqlite_job *j);

/* A look. The caller owns its results. */
struct sqlite_look {
    struct err *(*run)(struct sqlite_db *db, struct sqlite_look *look);
    struct str id;
    const struct store_query *query;
    struct store_page *ret_page;
    const struct store_list_query *list;
    struct str words;
    size_t n_max;
    struct arena *arena;
    struct store_summary *ret_summary;
    bool *ret_found;
    struct store_summary **ret_items;
    struct store_hit **ret_hits;
    size_t *ret_n;
    struct store_belief *ret_belief;
    struct str **ret_texts;
    const char *lock_dir;
};
MUST_USE struct err *sqlite_look_at_belief(struct sqlite_db *db, struct sqlite_look *l);
MUST_USE struct err *sqlite_look_read(struct sqlite_db *db, struct sqlite_look *l);
MUST_USE struct err *sqlite_look_keeps(struct sqlite_db *db, struct sqlite_look *l); /* `words` */
/* Counts the events that are missing at the end. */
MUST_USE struct err *sqlite_look_check(struct sqlite_db *db, struct sqlite_look *l);
/* Describes records without a session, in `arena`. */
MUST_USE struct err *sqlite_look_for_strays(struct sqlite_db *db, struct sqlite_look *l);
MUST_USE struct err *sqlite_look_find(struct sqlite_db *db, struct sqlite_look *l);
MUST_USE struct err *sqlite_look_list(struct sqlite_db *db, struct sqlite_look *l);
MUST_USE struct err *sqlite_look_search(struct sqlite_db *db, struct sqlite_look *l);

/* Where a stream ends, by its last record. */
struct sqlite_end {
    uint64_t next_seq;
    int64_t total; /* bytes of its records and payloads */
};
MUST_USE struct err *sqlite_find_end(struct sqlite_db *db, int64_t number,
                                     struct sqlite_end *ret_end);

/* Finds the streams of a session and of all below it. */
MUST_USE struct err *sqlite_find_tree(struct sqlite_db *db, struct str id, struct arena *a,
                                      int64_t **ret_numbers, size_t *ret_n);

/* Sessions that are gone, with all below them, while their rows still exist. All calls block. */
struct sqlite_marks {
    struct str *ids;
    size_t n;
};
void sqlite_marks_read(const char *lock_dir, struct arena *a, struct sqlite_marks *ret_marks);
bool sqlite_marks_have(const struct sqlite_marks *m, struct str id);
MUST_USE struct err *sqlite_is_removed(struct sqlite_db *db, const struct sqlite_marks *m,
                                       struct str id, bool *ret_removed);
bool sqlite_is_marked(const char *lock_dir, struct str id);
MUST_USE struct err *sqlite_mark(const char *lock_dir, struct str id); /* needs no room */
void sqlite_unmark(const char *lock_dir, struct str id);

/* Is the disk that the database is on nearly full? Blocks. */
bool sqlite_has_little_room(const char *path);

/* Where this database has its payloads, together with all others in its directory. */
const char *sqlite_blob_dir(struct arena *a, const char *path);
/* Is another database there? It may need what this one does not. Blocks. */
bool sqlite_has_neighbour(const char *path);

#endif
