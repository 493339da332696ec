/* files_store.h - the store over plain files, as its files share it.
 *
 *     files.c          the store: what the port asks for
 *     files_lease.c    leases, and appends of tasks that write to the same log
 *     files_look.c     what needs no lease: reading, finding, listing, search, checks
 *     files_write.c    changes a log
 *     files_read.c     pages of records, and the search in them
 *     files_log.c      walks through a log and collects what it says of its session
 *     files_line.c     one line of a log
 *     files_check.c    finds damage in logs
 *     files_index.c    the list of all sessions
 *     files_removal.c  removes sessions: a whole tree or nothing
 *
 * Tasks call the first three. The others run in workers and block. */
#ifndef KEEL_STORE_FILES_STORE_H
#define KEEL_STORE_FILES_STORE_H

#include "store/files_line.h"

#include <sys/types.h>

/* --- a log --- */

/* Walks from line to line, up to the size that the file had when it was opened. Zeroed is valid. */
struct files_walk {
    const char *path; /* borrowed */
    int fd;
    uint64_t offset, end; /* of the buffer's content; of the file */
    size_t at;            /* in the buffer */
    struct strbuf buffer;
};
void files_walk_init(struct files_walk *w, const char *path, int fd, uint64_t from, uint64_t end);
void files_walk_done(struct files_walk *w);
DEFINE_AUTO_VAL(files_walk, files_walk_done)
/* Finds the next whole line, without its newline, valid until the next call. *ret_found false:
 * there is none. *ret_start is where the line begins, or where the incomplete rest begins. */
MUST_USE struct err *files_walk_next(struct files_walk *w, struct str *ret_line,
                                     uint64_t *ret_start, bool *ret_found);

/* What a log says of its session. It owns its texts. Zeroed is the state of an empty log. */
struct files_state {
    struct arena arena;
    struct store_summary summary;
    struct str root;
    uint64_t fence;
    uint64_t end;    /* after the last good line */
    bool is_created; /* FILES_CREATED was read or written */
};
void files_state_done(struct files_state *s);
DEFINE_AUTO_VAL(files_state, files_state_done)
void files_state_copy(struct files_state *to, const struct files_state *from); /* `to` is zeroed */
void files_state_init(struct files_state *s, struct str id);
void files_state_update(struct files_state *s, const struct store_summary *u);
void files_state_add(struct files_state *s, const struct files_line *l);
/* Continues from s->end to `end`. Skips broken lines if good lines follow. */
MUST_USE struct err *files_state_scan(struct files_state *s, const char *path, int fd,
                                      uint64_t end);
/* Opens the file and scans it. *ret_found false: there is none. */
MUST_USE struct err *files_state_load(struct files_state *s, const char *dir, bool *ret_found);

/* The lines that the store writes itself. */
#define FILES_CREATED "store_created" /* the whole summary */
#define FILES_OPENED "store_opened"   /* a new lease, with its fence */
#define FILES_UPDATED "store_updated" /* the changed values of the summary */
#define FILES_CLAMPED "store_clamped" /* the time of the last use was in the future */
void files_write_own(struct strbuf *out, uint64_t base, struct str id, const char *type,
                     int64_t unix_ms, uint64_t fence, const struct files_state *created,
                     const struct store_summary *update);

/* --- places --- */

#define FILES_PAYLOADS ".payloads" /* a directory for each session */
#define FILES_MAX_PATH 4096
MUST_USE struct err *files_path(char path[FILES_MAX_PATH], const char *dir, struct str id,
                                const char *suffix);
const char *files_lock_dir(struct arena *a, const char *dir);
/* The error for a missing log: the session was deleted meanwhile, or its log is lost. */
NEVER_NULL MUST_USE struct err *files_no_log(const char *dir, struct str id, const char *path);
NEVER_NULL MUST_USE struct err *files_cannot_open(int error, const char *path); /* for reading */
NEVER_NULL MUST_USE struct err *files_not_a_log(const char *path);
/* Opens a log and reads its size. Without a log *ret_fd is -1 and there is no error. */
MUST_USE struct err *files_open_to_read(const char *path, int *ret_fd, uint64_t *ret_end);
bool files_id_of(const char *name, struct str *ret_id); /* of "ID.jsonl" */
bool files_is_name(struct str name);                    /* "UUID.jsonl" and names like it */
/* Locks the whole file in a worker, and waits for others. Closing unlocks. */
MUST_USE struct err *files_lock(int fd, const char *path);
MUST_USE struct err *files_sync_dir(const char *dir);

/* --- changing a log --- */

/* An append that waits to be written. */
struct files_append {
    uint64_t expected_seq;
    bool is_update; /* only of the summary, at any number */
    bool is_clamp;  /* sets the time, where an update takes the later of the two */
    const struct store_record *records;
    size_t n_records;
    const struct store_summary *update;
    struct err *error;
    struct files_append *next;
};

/* Does the lock file still have its name? True for -1, which is no lease. */
bool files_holds_lease(int lock_fd);
/* Writes all of them with one write and one fsync. `error` of each says why it was refused; the
 * returned error applies to all. `lock_fd` is the lease, or -1. *ret_lost: another process has
 * written to the log, or its content is unknown; nothing more may be written under this lease. */
MUST_USE struct err *files_append_all(const char *dir, struct files_state *s, int lock_fd,
                                      int64_t unix_ms, struct files_append *first, bool *ret_lost);
/* Opens the log of a lease that was just taken: creates or repairs it, and writes the new fence. */
MUST_USE struct err *files_open_log(const char *dir, struct str id,
                                    const struct store_summary *create, int64_t unix_ms,
                                    struct files_state *s, struct strbuf *notice, bool *ret_new);
MUST_USE struct err *files_create_log(const char *dir, struct files_state *s, int64_t unix_ms,
                                      uint64_t fence);

/* --- removing --- */

/* Removes a session and all below it. Takes the lease of its root, which must be free. */
MUST_USE struct err *files_removal_run(const char *dir, struct str id);
/* Completes a removal whose process was killed, under the lease of the root. Without one it does
 * nothing. */
MUST_USE struct err *files_removal_finish(const char *dir, struct str root);
/* The same without the lease: a process that is still removing completes it itself. */
void files_removal_try(const char *dir, struct str root);
/* Completes all removals, and removes locks of sessions that are gone. */
void files_removal_sweep(const char *dir);
/* The sessions that a removal of this root removes, in `a`. They count as gone. */
void files_removal_read(const char *dir, struct str root, struct arena *a, struct str **ret_ids,
                        size_t *ret_n);
#define FILES_REMOVAL ".removal" /* ends the list's name, where a lock's name ends with ".lock" */

/* --- the index --- */

struct files_entry {
    struct store_summary summary;
    struct str root;
    uint64_t end; /* how much of the log it covers */
};
struct files_index {
    struct arena arena;
    struct files_entry *entries;
    size_t n, room;
    struct str *removed; /* ids that are gone, although some of their files may exist */
    size_t n_removed;
};
void files_index_done(struct files_index *x);
DEFINE_AUTO_VAL(files_index, files_index_done)

/* Reads all sessions, from their logs when the index is missing or damaged. Updates the entries of
 * sessions that are open, or were when their process died, and sets is_open. */
MUST_USE struct err *files_index_read(const char *dir, struct files_index *ret_index);
/* Is a removal of this session under way? */
bool files_index_removes(const struct files_index *x, struct str id);
/* Reads one entry, however old it is, without waiting for a lock. Texts live in `a`. */
bool files_index_find(const char *dir, struct str id, struct arena *a,
                      struct files_entry *ret_entry);
MUST_USE struct err *files_index_rebuild(const char *dir);
/* Held while sessions are created and removed. Closing releases it. */
MUST_USE struct err *files_index_lock(const char *dir, int *ret_fd);
/* Under the lock. */
MUST_USE struct err *files_index_put(const char *dir, const struct files_state *s, bool is_durable);
/* The same. If the disk is full it removes the index, which is rebuilt later. */
void files_index_put_or_drop(const char *dir, const struct files_state *s);
void files_index_forget_or_drop(const char *dir, const struct str *ids, size_t n);
void files_index_drop(const char *dir);
/* Takes the lock itself. False: the index is behind, and only a lock file makes readers look at the
 * log. */
bool files_index_refresh(const char *dir, const struct files_state *s);

/* --- looking --- */

MUST_USE struct err *files_read_page(const char *dir, struct str id, const struct store_query *q,
                                     struct store_page *page);
MUST_USE struct err *files_search_logs(const char *dir, struct str words, size_t n_max,
                                       struct arena *a, struct store_hit *hits, size_t *n);
struct store_summary files_copy_summary(struct arena *a, const struct store_summary *s);
/* Reports lines that were changed or moved. */
MUST_USE struct err *files_check_log(const char *dir, struct str id, struct store_damage_sink sink);
/* Reports logs that the list lacks. */
MUST_USE struct err *files_check_list(const char *dir, struct store_damage_sink sink);
int files_compare(const void *a, const void *b); /* orders entries: newest first */

/* `.clock`: the time that was believed. */
MUST_USE struct err *files_belief_read(const char *dir, struct store_belief *ret_belief);
MUST_USE struct err *files_belief_write(const char *dir, const struct store_belief *b);

/* --- what tasks call --- */

#define FILES_BUCKETS 256

struct files_store {
    struct store store;
    char *dir, *lock_dir;
    struct log_stream *streams[FILES_BUCKETS]; /* of sessions that are open here */
    struct files_payloads *payloads[FILES_BUCKETS];
};

static inline struct files_store *files_of(struct store *s)
{
    return (struct files_store *)s;
}

static inline size_t files_bucket(struct str id)
{
    return str_hash(id) % FILES_BUCKETS;
}

void files_free_streams(struct files_store *f);
const struct files_entry *files_find_entry(const struct files_index *x, struct str id);
MUST_USE struct err *files_look_up(const char *dir, struct str id, struct arena *a,
                                   struct store_summary *ret_summary, bool *ret_found);

/* Members of struct store_ops. */
MUST_USE struct err *files_open(struct store *store, struct str id,
                                const struct store_summary *create, struct arena *a,
                                struct store_lease *ret_lease);
void files_close(struct store *store, struct str id, uint64_t fence);
MUST_USE struct err *files_add_child(struct store *store, const struct store_summary *child,
                                     uint64_t fence);
MUST_USE struct err *files_append(struct store *store, struct str stream, uint64_t expected_seq,
                                  uint64_t fence, const struct store_record *records, size_t n,
                                  const struct store_summary *update);
MUST_USE struct err *files_update(struct store *store, const struct store_summary *u);
MUST_USE struct err *files_clamp_times(struct store *store, int64_t after_ms, int64_t to_ms);
MUST_USE struct err *files_find(struct store *store, struct str id, struct arena *a,
                                struct store_summary *ret_summary, bool *ret_found);
MUST_USE struct err *files_list(struct store *store, const struct store_list_query *q,
                                struct arena *a, struct store_summary **ret_items, size_t *ret_n);
MUST_USE struct err *files_read(struct store *store, struct str stream, const struct store_query *q,
                                struct store_page *ret_page);
MUST_USE struct err *files_search(struct store *store, struct str words, size_t n_max,
                                  struct arena *a, struct store_hit **ret_hits, size_t *ret_n);
MUST_USE struct err *files_check(struct store *store, struct str stream,
                                 struct store_damage_sink sink);
MUST_USE struct err *files_check_all(struct store *store, struct store_damage_sink sink);

#endif
