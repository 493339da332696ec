/* verify.h - is a stored session whole? Everything that its records say of each other is checked.
 *
 * Every request to a model has its answer: the provider's own bytes, what was read in them, and the
 * message that was accepted; or the attempt says how it failed. Every tool call has one result.
 * Messages of the history follow each other as providers demand. Numbers have no gap, references
 * lead somewhere, and blobs are what their hash says. What a crash has cut off is not a problem,
 * but a note.
 *
 * One pass over the stream, then over those of its child runs. Memory does not depend on how long
 * the session is: it holds a page of records, one message, what is open at a time, and a piece of a
 * blob. A record that cannot be read is a finding of its own; what follows from its absence until
 * the run ends is not reported again. */
#ifndef KEEL_ARCHIVE_VERIFY_H
#define KEEL_ARCHIVE_VERIFY_H

#include "port/event.h"
#include "port/store.h"

/* name, stable name for programs, is it a problem? */
#define FINDING_TABLE(X)                                                                           \
    X(MISSING_RECORDS, "missing_records", true)                                                    \
    X(UNREADABLE_RECORD, "unreadable_record", true)                                                \
    X(HISTORY_MISMATCH, "history_mismatch", true)                                                  \
    X(INVALID_PAYLOAD, "invalid_payload", true)                                                    \
    X(MISSING_REQUEST, "missing_provider_request", true)                                           \
    X(MISSING_NATIVE, "missing_provider_native_raw_payload", true)                                 \
    X(MISSING_RAW, "missing_provider_response_raw", true)                                          \
    X(MISSING_NORMALIZED, "missing_provider_response_normalized", true)                            \
    X(MISSING_ATTEMPT_END, "missing_attempt_end", true)                                            \
    X(UNMATCHED_REQUEST, "unmatched_tool_request", true)                                           \
    X(UNMATCHED_RESULT, "unmatched_tool_result", true)                                             \
    X(MISSING_TOOL_END, "missing_tool_end", true)                                                  \
    X(UNPAIRED_MESSAGE, "unpaired_message", true)                                                  \
    X(STALE_INDEX, "stale_index", true)                                                            \
    X(DAMAGED_STORE, "damaged_store", true)                                                        \
    X(CUT_OFF, "cut_off", false)

enum finding_kind {
#define X(name, ...) FINDING_##name,
    FINDING_TABLE(X)
#undef X
        FINDING_N_KINDS
};
const char *finding_name(enum finding_kind k);
bool finding_is_problem(enum finding_kind k);

/* Borrowed until the sink returns. */
struct finding {
    enum finding_kind kind;
    struct str stream;
    uint64_t seq; /* of the event it is about; 0: of none */
    struct str text;
};

struct finding_sink {
    void (*on_finding)(void *self, const struct finding *f);
    void *self;
};

struct verified {
    uint64_t n_streams, n_events, n_runs, n_attempts, n_calls;
    uint64_t n_problems, n_notes;
};

/* --- over events: pure --- */

struct verifier;
struct verifier *verifier_new(struct str stream, struct finding_sink sink) MUST_USE;
void verifier_free(struct verifier *v);
DEFINE_AUTO_PTR(verifier, verifier_free)

void verifier_take(struct verifier *v, const struct event *e);
/* Instead of the events of a record that cannot be read; NULL: it is not known how far that goes.
 */
void verifier_skip(struct verifier *v, const struct store_record *r);
void verifier_report(struct verifier *v, enum finding_kind kind, uint64_t seq, const char *format,
                     ...) PRINTF_LIKE(4, 5);
/* After the last one. `next_seq` is what the index says; `is_open`: a process is still writing, so
 * that neither that nor a run without its end means anything. Adds to the totals. */
void verifier_end(struct verifier *v, uint64_t next_seq, bool is_open, struct verified *totals);

/* --- over a store --- */

/* What a list of the workspace's files refers to: calls on_content for each handle of a content,
 * without those of its base. */
typedef struct err *tree_reader(struct blob_store *blobs, struct str tree,
                                void (*on_content)(void *self, struct str handle), void *self);

/* The stream and its children. `read_tree` NULL: contents in lists of files are not looked at. A
 * stream that cannot be read is a finding. An error is the store's: it answers nothing any more.
 * May wait. */
MUST_USE struct err *session_verify(struct store *s, const struct store_summary *session,
                                    tree_reader *read_tree, struct finding_sink sink,
                                    struct verified *ret_totals);

#endif
