/* store.h - where sessions live: append-only streams of records, an index of them, their blobs.
 *
 * A session is a stream; its child runs are streams below it. Records are numbered without a gap,
 * are never changed, and have happened once append() has returned: they then survive a loss of
 * power. Everything else (index, search, the record that other programs read) is derived from them
 * and can be made again.
 *
 * Whoever writes a stream holds the lease of its root. A lease has a fence, a number that grows
 * with every new holder; an append with an older one fails in every adapter, so that a writer that
 * was thought dead changes nothing. The lease of a process that has died is free at once where the
 * store is on its machine; where many machines share one, after a few seconds.
 *
 * A store has a clock: that of the server, or else of this machine. What others' clocks say is
 * believed up to what it says.
 *
 * All calls may wait and are made in tasks; several may be under way at once. Adapters pass
 * test/unit/port/store_conformance.h. What goes wrong is ERR_STORAGE with the place and what to do;
 * a failed append has appended nothing, unless the error says that this is not known. */
#ifndef KEEL_PORT_STORE_H
#define KEEL_PORT_STORE_H

#include "port/blob.h"

struct store;

/* --- records --- */

struct store_record {
    uint64_t seq; /* from 1 */
    /* How many numbers it takes: a record may hold a run of small events. At least 1. */
    uint32_t n_events;
    int64_t unix_ms;
    struct str type;   /* "history_mutation" */
    struct str run_id; /* may be empty */
    uint32_t turn, round, attempt;
    bool is_core;               /* needed to open the session, not only to look at it */
    struct str body;            /* one JSON object: the event's own fields */
    const struct str *payloads; /* handles of the blobs that it keeps: they go with the session */
    size_t n_payloads;
    uint64_t n_payload_bytes; /* of them all; for an append only */
    uint64_t n_messages;      /* with it, as in an update; for an append only */
};

#define STORE_NO_MESSAGES UINT64_MAX

/* What is known of a session without reading it. Empty texts in an update leave what there is. */
struct store_summary {
    struct str id, parent; /* parent: empty for a root */
    struct str cwd, name, provider, model;
    struct str preview; /* the start of the first prompt */
    int64_t created_ms;
    int64_t updated_ms; /* of the last append; while it is open, up to five seconds before it */
    int64_t used_ms;    /* of the last append by the clock of the store's server; 0: it has none */
    uint64_t next_seq;
    uint64_t n_messages; /* in an update: in all; 0 leaves what there is, STORE_NO_MESSAGES is 0 */
    uint64_t n_bytes;    /* of its records and their payloads, as they were appended */
    bool is_open;        /* somebody holds its lease; told by list and find */
    struct str holder;   /* who: "process 123"; empty: nobody, or it is not known */
};

/* --- reading --- */

struct store_query {
    uint64_t from;   /* the first number */
    uint64_t to;     /* the one after the last; 0: to the end */
    struct str type; /* only these; empty: all */
    bool core_only;
    bool newest_first;
    size_t n_max; /* records; 0: as many as a page holds */
    /* Types that nobody will look at: such records may be missing in the page. They are compared
     * with their sums all the same. */
    const struct str *leaves;
    size_t n_leaves;
};

#define STORE_PAGE_BYTES ((size_t)4 << 20) /* a page ends after the record that passes this */

struct store_page {
    struct arena arena;
    struct store_record *records;
    size_t n;
    bool has_more;
    /* With an error that says that records are damaged: the `from` (newest first: the `to`) with
     * which reading goes on behind them. 0: there is nothing to be read behind them. */
    uint64_t go_on_at;
    uint64_t damaged_at; /* with the same error: the number of the first of them; 0: not known */
};
void store_page_done(struct store_page *p);
DEFINE_AUTO_VAL(store_page, store_page_done)

struct store_list_query {
    struct str cwd;    /* only of this directory; empty: all */
    struct str name;   /* only with exactly this name; empty: all */
    struct str parent; /* children of this one; empty: roots */
    /* The last one of the page before: updated when, and which. Neither: from the newest. A time
     * alone: updated before it. */
    int64_t before_ms;
    struct str before_id;
    size_t n_max; /* 0: all */
};

/* The newest core record of each stream that belongs to a run, or is of one of these types. */
struct store_last_query {
    const struct str *streams;
    size_t n_streams;
    const struct str *types;
    size_t n_types;
};

/* A place where the words of a search stand. */
struct store_hit {
    struct store_summary session;
    uint64_t seq;
    struct str excerpt; /* some words around, as UTF-8 */
};

/* --- the lease --- */

struct store_lease {
    uint64_t fence;
    uint64_t next_seq;
    bool is_new;       /* the session was made by this */
    struct str notice; /* what had to be cut off because a crash had torn it; empty: nothing */
};

/* --- the time --- */

/* What those who remove old sessions have believed of the clock (sdk/prune.h). It is kept with the
 * sessions, so that all who share them know the same. */
struct store_belief {
    int64_t looked_ms;   /* when they looked last, by that clock; 0: never */
    int64_t believed_ms; /* what they took for the time then */
};

/* --- damage --- */

/* Borrowed until the sink returns. */
struct store_damage_sink {
    void (*on_damage)(void *self, struct str text);
    void *self;
};

/* --- the adapter --- */

struct store_ops {
    const char *name; /* "sqlite" */

    /* Takes the lease of the session; makes it from `create` if there is none, or fails when that
     * is NULL. Held by another: ERR_STORAGE that says by whom, with forking as the hint. Texts of
     * the lease live in `a`. */
    struct err *(*open)(struct store *s, struct str id, const struct store_summary *create,
                        struct arena *a, struct store_lease *ret_lease);
    void (*close)(struct store *s, struct str id, uint64_t fence); /* gives the lease back */
    /* A stream below `parent`, written under the lease of the root. */
    struct err *(*add_child)(struct store *s, const struct store_summary *child, uint64_t fence);

    /* The records in their order; the first has number `expected_seq`. A stale fence and another
     * number than the stream's next are errors, and so is a payload that is not there
     * (store_payload_missing()), unless the stream refers to it already: it could have been
     * removed since it was put. `update` may be NULL. Durable when it returns. */
    struct err *(*append)(struct store *s, struct str stream, uint64_t expected_seq, uint64_t fence,
                          const struct store_record *records, size_t n,
                          const struct store_summary *update);
    /* The same without waiting for the disk, both or none: what append_soon() took survives the
     * death of this process, and a loss of power when a sync() that began after it has returned. A
     * sync() that fails can be repeated. NULL: append() is as good as it gets. */
    struct err *(*append_soon)(struct store *s, struct str stream, uint64_t expected_seq,
                               uint64_t fence, const struct store_record *records, size_t n,
                               const struct store_summary *update);
    struct err *(*sync)(struct store *s);

    /* Without a lease; what has been appended is seen at once, by others too. Records that are
     * damaged end the page before them; a page that would begin with them is ERR_STORAGE, with
     * go_on_at. */
    struct err *(*read)(struct store *s, struct str stream, const struct store_query *q,
                        struct store_page *ret_page);
    /* By id. *ret_found false, and no error, when there is none. Texts live in `a`. */
    struct err *(*find)(struct store *s, struct str id, struct arena *a,
                        struct store_summary *ret_summary, bool *ret_found);
    /* Newest first. */
    struct err *(*list)(struct store *s, const struct store_list_query *q, struct arena *a,
                        struct store_summary **ret_items, size_t *ret_n);
    /* For each stream of the query its record, in their order; `seq` 0: it has none, or does not
     * exist any more. Texts live in `a`. Damaged records are skipped. Reads of a stream only what
     * is newer than that record. NULL: read() is as fast. */
    struct err *(*last)(struct store *s, const struct store_last_query *q, struct arena *a,
                        struct store_record *ret_records);
    /* All the words, in any case of letters; newest first. */
    struct err *(*search)(struct store *s, struct str words, size_t n_max, struct arena *a,
                          struct store_hit **ret_hits, size_t *ret_n);

    /* With its children; absent is fine. Open in another process: an error. Blobs that nothing
     * refers to any more are removed, an hour after they were needed or put last where others may
     * be about to refer to them. */
    struct err *(*remove)(struct store *s, struct str id);
    /* Removes what is left of sessions that were removed, also by processes that were killed on
     * their way. Now and then; may be NULL. */
    struct err *(*sweep)(struct store *s);
    /* Changes the name or other texts of the summary, without a lease. */
    struct err *(*update)(struct store *s, const struct store_summary *update);
    /* Derives index and search again from the records. */
    struct err *(*rebuild)(struct store *s);

    /* The time by the clock of the store's server; NULL: it has none but this machine's. */
    struct err *(*now)(struct store *s, int64_t *ret_unix_ms);
    /* Sessions that were updated after `after_ms` become updated at `to_ms`. */
    struct err *(*clamp_times)(struct store *s, int64_t after_ms, int64_t to_ms);
    /* Zeroed where nothing was written yet. */
    struct err *(*read_belief)(struct store *s, struct store_belief *ret_belief);
    struct err *(*write_belief)(struct store *s, const struct store_belief *b);

    /* Where payloads of this stream go; borrowed, as long as the store lives. */
    struct blob_store *(*blobs)(struct store *s, struct str stream);
    /* What is wrong with how the stream is kept, beyond what read() fails at: what the adapter has
     * of its own, and records that are missing at the end. Reads it all. May be NULL. */
    struct err *(*check)(struct store *s, struct str stream, struct store_damage_sink sink);
    /* What belongs to no session that list() leads to: records without one, sessions whose parents
     * are not there. May be NULL. */
    struct err *(*check_all)(struct store *s, struct store_damage_sink sink);
    /* Does the stream keep this blob from being removed, as a record of it asked for? NULL: it does
     * wherever the blob is. */
    struct err *(*keeps)(struct store *s, struct str stream, struct str handle, bool *ret_keeps);
    /* The path of the record that other programs read (session/session_record.h), where the adapter
     * has a place for it beside the log; may be NULL. Its directory is there. */
    struct err *(*record_path)(struct store *s, struct str id, struct arena *a,
                               const char **ret_path);
    /* Is it a file or directory that the store made for itself? The path is absolute, without
     * links, and so is s->place. NULL: it has none. Any thread. */
    bool (*owns)(const struct store *s, struct str path);
    void (*free)(struct store *s); /* waits for nothing: all appends have returned */
};

/* Adapters embed this first. */
struct store {
    const struct store_ops *ops;
    /* Set by who made it; store_free() frees them. */
    char *drafts; /* see port/draft.h; NULL: none are noted */
    char *place;  /* its file or directory, absolute and without links; NULL: it has none */
};

MUST_USE struct err *store_open(struct store *s, struct str id, const struct store_summary *create,
                                struct arena *a, struct store_lease *ret_lease);
void store_close(struct store *s, struct str id, uint64_t fence);
MUST_USE struct err *store_add_child(struct store *s, const struct store_summary *child,
                                     uint64_t fence);
MUST_USE struct err *store_append(struct store *s, struct str stream, uint64_t expected_seq,
                                  uint64_t fence, const struct store_record *records, size_t n,
                                  const struct store_summary *update);
MUST_USE struct err *store_append_soon(struct store *s, struct str stream, uint64_t expected_seq,
                                       uint64_t fence, const struct store_record *records, size_t n,
                                       const struct store_summary *update);
MUST_USE struct err *store_sync(struct store *s);
MUST_USE struct err *store_read(struct store *s, struct str stream, const struct store_query *q,
                                struct store_page *ret_page);
/* The same into a page that was read before, or is zeroed: its memory is used again. */
MUST_USE struct err *store_read_over(struct store *s, struct str stream,
                                     const struct store_query *q, struct store_page *page);
MUST_USE struct err *store_find(struct store *s, struct str id, struct arena *a,
                                struct store_summary *ret_summary, bool *ret_found);
MUST_USE struct err *store_list(struct store *s, const struct store_list_query *q, struct arena *a,
                                struct store_summary **ret_items, size_t *ret_n);
/* `ret_records` has room for as many as there are streams. */
MUST_USE struct err *store_last(struct store *s, const struct store_last_query *q, struct arena *a,
                                struct store_record *ret_records);
MUST_USE struct err *store_search(struct store *s, struct str words, size_t n_max, struct arena *a,
                                  struct store_hit **ret_hits, size_t *ret_n);
MUST_USE struct err *store_remove(struct store *s, struct str id);
MUST_USE struct err *store_sweep(struct store *s);
MUST_USE struct err *store_update(struct store *s, const struct store_summary *update);
MUST_USE struct err *store_rebuild(struct store *s);
MUST_USE struct err *store_now(struct store *s, int64_t *ret_unix_ms);
MUST_USE struct err *store_clamp_times(struct store *s, int64_t after_ms, int64_t to_ms);
MUST_USE struct err *store_read_belief(struct store *s, struct store_belief *ret_belief);
MUST_USE struct err *store_write_belief(struct store *s, const struct store_belief *b);
bool store_has_clock(const struct store *s); /* of its own */
struct blob_store *store_blobs(struct store *s, struct str stream);
MUST_USE struct err *store_check(struct store *s, struct str stream, struct store_damage_sink sink);
MUST_USE struct err *store_check_all(struct store *s, struct store_damage_sink sink);
MUST_USE struct err *store_keeps(struct store *s, struct str stream, struct str handle,
                                 bool *ret_keeps);
/* *ret_path NULL: this store keeps no records. */
MUST_USE struct err *store_record_path(struct store *s, struct str id, struct arena *a,
                                       const char **ret_path);
/* See owns(). */
bool store_owns(const struct store *s, struct str path);
void store_free(struct store *s);
DEFINE_AUTO_PTR(store, store_free)

/* What check_all() says of a session that hangs in the air, and of records without one. */
struct str store_stray(struct arena *a, struct str id, struct str parent);
struct str store_orphan(struct arena *a, int64_t stream);

/* Ids are file names and keys: a UUID, or 1 to 128 letters, digits, `-`, `_` and `.`, not beginning
 * with a dot. */
bool store_id_is_valid(struct str id);

/* For adapters: do these records follow each other, and the stream? */
MUST_USE struct err *store_check_append(uint64_t next_seq, uint64_t expected_seq,
                                        const struct store_record *records, size_t n);

/* There is no session of this id, or of what a person gave as one: ERR_STORAGE, since it may have
 * been deleted a moment ago. Who looks for what a person named makes it ERR_VALIDATION. */
NEVER_NULL MUST_USE struct err *store_no_session(struct str given);

/* For adapters: why an append was refused, and for their callers: was it because of this blob? */
NEVER_NULL MUST_USE struct err *store_payload_missing(struct str handle);
bool store_lacks_payload(const struct err *e, struct str handle);

/* For adapters: last() for the stream of this number, by read(). */
MUST_USE struct err *store_last_by_reading(struct store *s, const struct store_last_query *q,
                                           size_t stream, struct arena *a,
                                           struct store_record *ret_record);

/* For adapters: may records of this type be missing? */
bool store_query_leaves(const struct store_query *q, struct str type);

/* For adapters that have no index: does the query ask for it? */
/* What has been updated before this, or then and by an id before the query's. */
int64_t store_list_bound(const struct store_list_query *q);
bool store_is_listed(const struct store_summary *s, const struct store_list_query *q);

/* The records that have text to search in; ends with NULL. What was said is stored where it
 * came: a prompt, an answer, a tool's result; or else where it was added to the history. */
extern const char *const store_text_types[];
/* What search looks at in a record; nothing in others than those. Appends. */
void store_record_text(const struct store_record *r, struct strbuf *out);

#endif
