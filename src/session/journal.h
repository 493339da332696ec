/* journal.h - the recorder of a session: its events become records of its stream.
 *
 * append() encodes at once and never waits. A task of the session's group writes what has piled up:
 * at once when a caller waits for it or hurries it, else 50 ms after the first of it at the latest:
 * people watch answers stream in, and see only what is durable. There is no task while there is
 * nothing to write. What was written is durable; where callers only ask that events outlive the
 * process, they continue as soon as the store has the events, and the task syncs it after that. A
 * record that could not be written stays in memory and is tried again with the next, up to a cap,
 * so that a disk that was full for a while leaves no gap. */
#ifndef KEEL_SESSION_JOURNAL_H
#define KEEL_SESSION_JOURNAL_H

#include "model/history.h"
#include "port/event_stream.h"
#include "port/store.h"
#include "session/codec/codec.h"
#include "sys/task.h"

#define JOURNAL_DELAY_MS 50
#define JOURNAL_MAX_BACKLOG_BYTES ((size_t)256 << 20) /* with the blobs */

enum journal_failure {
    JOURNAL_STOPS, /* sync() fails, and with it the run */
    JOURNAL_WARNS, /* reported once, and the run continues; the events are still written later */
};

struct journal_options {
    struct store *store; /* borrowed */
    struct str stream;   /* copied */
    uint64_t fence, next_seq;
    size_t pack_from;    /* see codec_writer_pack_from(); 0: as it says itself */
    struct group *tasks; /* where the writing task runs; outlives the journal */
    enum journal_failure on_failure;
    struct event_stream *notices; /* where it reports what is not stored; may be NULL */
};

struct journal;
struct journal *journal_new(const struct journal_options *options) MUST_USE;
/* Before the first event: what the stream holds already. */
void journal_continue(struct journal *j, const struct codec_position *at);
struct recorder *journal_recorder(struct journal *j);

/* Waits until all that was appended is durable. */
MUST_USE struct err *journal_sync(struct journal *j);
uint64_t journal_durable_seq(const struct journal *j); /* the number after the last durable event */
/* The mutation that the history begins with; 0: there is none yet. */
uint64_t journal_base_seq(const struct journal *j);
/* Events that opening the session reads, since the last checkpoint. */
size_t journal_n_core(const struct journal *j);
/* Everything before this event is in the store; the rest is not there, or only being written. */
uint64_t journal_flushed_seq(const struct journal *j);
/* Records that are not in the store yet, from the one with event `from` on: copied. Does not wait.
 * What streams in from now on begins another record. */
void journal_unwritten(struct journal *j, uint64_t from, struct store_page *ret_page);
/* Content that such a record refers to; false: it is in the store, or nowhere. Until the next wait.
 */
bool journal_unwritten_blob(const struct journal *j, struct str handle, struct str *ret_bytes);
/* Has a notice said that something could not be stored? */
bool journal_has_warned(const struct journal *j);

/* Waits until its task has ended, even when the caller is cancelled. */
void journal_join(struct journal *j);
/* After its task has ended (this, or the group was joined); what is not durable is lost. */
void journal_free(struct journal *j);
DEFINE_AUTO_PTR(journal, journal_free)

#endif
