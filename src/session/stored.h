/* stored.h - events as a store keeps them: the same names and fields as in the log, but nothing
 * twice.
 *
 * What repeats is referred to, and whoever reads the log expands it again (expand.h):
 *
 *     {"$message":ID}                      a message that a history_mutation of this stream holds
 *     {"$result":SEQ}                      the tool result of that tool_end
 *     {"$history":{"base":SEQ,"n":N,"sha256":H}}   the first N messages since that mutation; H is
 *                                          the hash over all of them
 *     {"kind":"external-payload",...}      a blob: texts over 32 KiB, tool schemas, system prompts
 *
 * A provider's request is kept as its hash and length only: the history, the target and the
 * overlays make the same bytes again. Pure but for the blobs that it asks for. */
#ifndef KEEL_SESSION_STORED_H
#define KEEL_SESSION_STORED_H

#include "base/sha256.h"
#include "port/event.h"
#include "port/store.h"

#define STORED_INLINE_MAX ((size_t)32 << 10) /* of one text in a record */
#define STORED_SHARED_MIN ((size_t)1 << 10)  /* schemas and prompts from this size on are blobs */

/* A blob that a record refers to and that must be there before it. */
struct stored_payload {
    char handle[SHA256_HEX_SIZE];
    struct str bytes;
};

/* Remembers what the stream holds already. */
struct stored_writer;
struct stored_writer *stored_writer_new(struct str stream) MUST_USE;
void stored_writer_free(struct stored_writer *w);
DEFINE_AUTO_PTR(stored_writer, stored_writer_free)

/* Continues a stream: the mutation that its history begins with, its messages, in their order. */
void stored_writer_continue(struct stored_writer *w, uint64_t base_seq,
                            const struct history *history);

/* The event as a record, with the payloads that it needs; all of it in `a`. */
void stored_encode(struct stored_writer *w, const struct event *e, struct arena *a,
                   struct store_record *ret_record, struct stored_payload **ret_payloads,
                   size_t *ret_n_payloads);

/* May the second event be told in the record of the first (a run of deltas, of stream payloads)?
 * If so its fields are added to it. */
bool stored_join(struct stored_writer *w, struct store_record *record, const struct event *e,
                 struct arena *a);

/* Is a session opened with records of this type? */
bool stored_is_core(enum event_type t);

#endif
