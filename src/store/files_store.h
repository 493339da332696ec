/* files_store.h - the store over plain files, as its files share it.
 *
 *     files.c          the store: what the port asks for
 *     files_lease.c    leases, and appends of tasks that write to the same log
 *     files_look.c     what needs no lease: reading, finding, listing, search, checks
 *     files_write.c    changes a log
 *     files_read.c     pages of records, and the search in them
 *     files_log.c      walks through a log, and says what it says of its session
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

/* Walks from line to line, as far as the file reached when it was opened. Zeroed is valid. */
struct files_walk {
    const char *path; /* borrowed */
    int fd;
    uint64_t offset, end; /* of what the buffer holds; of the file */
    size_t at;            /* in the buffer */
    struct strbuf buffer;
};
void files_walk_init(struct files_walk *w, const char *path, int fd, uint64_t from, uint64_t end);
void files_walk_done(struct files_walk *w);
DEFINE_AUTO_VAL(files_walk, files_walk_done)
/* The next whole line, without its newline, good until the next call; *ret_found false: there is
 * none. *ret_start is where it begins, or where what is no whole line begins. */
MUST_USE struct err *files_walk_next(struct files_walk *w, struct str *ret_line,
                                     uint64_t *ret_start, bool *ret_found);

/* What a log says of its session. Texts are its own. Zeroed is that of an empty log. */
struct files_state {
    struct arena arena;
    struct store_summary summary;
    struct str root;
    uint64_t fence;
    uint64_t end;    /* behind the last good line */
    bool is_created; /* the line that says so is there */
};
void files_state_done(struct files_state *s);
DEFINE_AUTO_VAL(files_state, files_state_done)
void files_state_copy(struct files_state *to, const struct files_state *from); /* to a zeroed one */
void files_state_init(struct files_state *s, struct str id);
void files_state_update(struct files_state *s, const struct store_summary *u);
void files_state_add(struct files_state *s, const struct files_line *l);
/* Goes on from s->end to `end`. What is broken is passed over if good lines follow it. */
MUST_USE struct err *files_state_scan(struct files_state *s, const char *path, int fd,
                                      uint64_t end);
/* Opens the file and scans it; *ret_found false: there is none. */
MUST_USE struct err *files_state_load(struct files_state *s, const char *dir, bool *ret_found);

/* The lines that the store writes itself. */
#define FILES_CREATED "store_created" /* the whole summary */
#define FILES_OPENED "store_opened"   /* a new lease, with its fence */
#define FILES_UPDATED "store_updated" /* what has changed in the summary */
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
/* A log could not be found: the session was deleted meanwhile, or its log is lost. */
NEVER_NULL MUST_USE struct err *files_no_log(const char *dir, struct str id, const char *path);
NEVER_NULL MUST_USE struct err *files_cannot_open(int error, const char *path); /* for reading */
NEVER_NULL MUST_USE struct err *files_not_a_log(const char *path);
/* A log, and how long it is now. *ret_fd is -1, and there is no error, when there is none. */
MUST_USE struct err *files_open_to_read(const char *path, int *ret_fd, uint64_t *ret_end);
bool files_id_of(const char *name, struct str *ret_id); /* of "ID.jsonl" */
bool files_is_name(struct str name);                    /* "UUID.jsonl" and what stands beside it */
/* Locks the whole file, waiting for others, in a worker; closing unlocks. */
MUST_USE struct err *files_lock(int fd, const char *path);
MUST_USE struct err *files_sync_dir(const char *dir);

/* --- changing a log --- */

/* One who waits for his records to be written. */
struct files_append {
    uint64_t expected_seq;
    bool is_update; /* of the summary only, at whatever number */
    bool is_clamp;  /* and its time is then this one, not the later of the two */
    const struct store_record *records;
    size_t n_records;
    const struct store_summary *update;
    struct err *error;
    struct files_append *next;
};

/* Does the lock file still have its name? -1 is no lease, and nothing was lost. */
bool files_holds_lease(int lock_fd);
/* One write and one fsync for all of them. Refusals stand in each `error`; what is returned has
 * happened to all. `lock_fd` is the lease, -1: without one. *ret_lost: others have written there,
 * or nobody knows what the file holds now; no more is to be written under this lease. */
MUST_USE struct err *files_append_all(const char *dir, struct files_state *s, int lock_fd,
                                      int64_t unix_ms, struct files_append *first, bool *ret_lost);
/* The log of a lease that was just taken: makes it or mends it, and puts the new fence there. */
MUST_USE struct err *files_open_log(const char *dir, struct str id,
                                    const struct store_summary *create, int64_t unix_ms,
                                    struct files_state *s, struct strbuf *notice, bool *ret_new);
MUST_USE struct err *files_create_log(const char *dir, struct files_state *s, int64_t unix_ms,
                                      uint64_t fence);

/* --- removing --- */

/* A session with all below it. Takes the lease of its root, which must be free. */
MUST_USE struct err *files_removal_run(const char *dir, struct str id);
/* Under the lease of the root: does what is left of a removal whose process was killed. Nothing to
 * do is fine. */
MUST_USE struct err *files_removal_finish(const char *dir, struct str root);
/* The same for one that may still be at work, which then does it itself. */
void files_removal_try(const char *dir, struct str root);
/* What is left of removals: their lists, and locks of sessions that are gone. */
void files_removal_sweep(const char *dir);
/* Which sessions are being removed with this root, in `a`; they count as gone. */
void files_removal_read(const char *dir, struct str root, struct arena *a, struct str **ret_ids,
                        size_t *ret_n);
#define FILES_REMOVAL ".removal" /* the list's name is that of the lock, but for this */

/* --- the index --- */

struct files_entry {
    struct store_summary summary;
    struct str root;
    uint64_t end; /* how much of the log it knows */
};
struct files_index {
    struct arena arena;
    struct files_entry *entries;
    size_t n, room;
    struct str *removed; /* ids that are gone, though files of theirs may still be there */
    size_t n_removed;
};
void files_index_done(struct files_index *x);
DEFINE_AUTO_VAL(files_index, files_index_done)

/* All sessions, also when the index is missing or damaged: then from their logs. What is open, or
 * was when its process died, is brought up to date; is_open is told. */
MUST_USE struct err *files_index_read(const char *dir, struct files_index *ret_index);
/* Is it among those that are being removed? */
bool files_index_removes(const struct files_index *x, struct str id);
/* What the list says of one, however old that is; it waits for nobody. Texts live in `a`. */
bool files_index_find(const char *dir, struct str id, struct arena *a,
                      struct files_entry *ret_entry);
MUST_USE struct err *files_index_rebuild(const char *dir);
/* Held while sessions come and go; closing gives it back. */
MUST_USE struct err *files_index_lock(const char *dir, int *ret_fd);
/* Under the lock. */
MUST_USE struct err *files_index_put(const char *dir, const struct files_state *s, bool is_durable);
/* The same; where there is no room for it the index is removed, and made again later. */
void files_index_put_or_drop(const char *dir, const struct files_state *s);
void files_index_forget_or_drop(const char *dir, const struct str *ids, size_t n);
void files_index_drop(const char *dir);
/* Takes the lock itself. False: the index is behind, and only a lock file makes others look
 * closer. */
bool files_index_refresh(const char *dir, const struct files_state *s);

/* --- looking --- */

MUST_USE struct err *files_read_page(const char *dir, struct str id, const struct store_query *q,
                                     struct store_page *page);
MUST_USE struct err *files_search_logs(const char *dir, struct str words, size_t n_max,
                                       struct arena *a, struct store_hit *hits, size_t *n);
struct store_summary files_copy_summary(struct arena *a, const struct store_summary *s);
/* Lines that are not what they were, or not where. */
MUST_USE struct err *files_check_log(const char *dir, struct str id, struct store_damage_sink sink);
/* Logs that the list does not lead to. */
MUST_USE struct err *files_check_list(const char *dir, struct store_damage_sink sink);
int files_compare(const void *a, const void *b); /* summaries of entries: newest first */

/* `.clock`: what was believed of the time. */
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
