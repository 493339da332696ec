/* pack.h - the messages of a history in one blob: what resuming reads instead of their records.
 *
 * A pack is derived. The records are the truth; a pack that is missing, damaged or of another
 * version is ignored, and `keel session verify` compares it with them. It holds messages as the
 * records give them back, members that no record has left out. One follows another: each names the
 * one before it, so that a message is packed once. Texts of more than CODEC_INLINE_MAX bytes are
 * blobs of their own, the same as those that the records have.
 *
 *     "keel pack 1\n"  head  message...
 *
 * Numbers have seven bits a byte, the lowest first. A text is twice its length, its bytes and a
 * NUL, or, where that number is odd, the handle of its blob. Reading copies nothing: messages have
 * their texts in the bytes of the pack. Pure. */
#ifndef KEEL_SESSION_CODEC_PACK_H
#define KEEL_SESSION_CODEC_PACK_H

#include "session/codec/history_hash.h"

#define PACK_MAX_BYTES ((size_t)16 << 20)

struct pack_head {
    uint64_t base_seq;        /* of the mutation that the history begins with */
    uint64_t seq;             /* of the checkpoint it was made with: nothing before that is open */
    size_t first, n;          /* messages, counted from that mutation on */
    size_t n_parts;           /* of all its messages, contents of parts too: what room they need */
    struct history_hash hash; /* of all messages up to its last one */
    struct str previous;      /* the handle of the pack before it; empty: `first` is 0 */
    struct str run_id, provider, model; /* of the last run since that mutation; empty: none began */
};

/* --- writing --- */

/* Who stores long texts. */
struct pack_sink {
    void (*put)(void *self, struct str bytes, char handle[SHA256_HEX_SIZE]);
    void *self;
};
void pack_write_head(struct strbuf *out, const struct pack_head *head);
size_t pack_count_parts(const struct part *parts, size_t n); /* with their contents */
/* False: the message cannot be packed, because a record would give back another one (texts that are
 * not UTF-8), or the pack is full. */
bool pack_write_message(struct strbuf *out, const struct message *m, int64_t unix_ms,
                        const struct pack_sink *sink);

/* --- reading --- */

/* Who has long texts; what it gives lives in `a`. */
struct pack_source {
    struct err *(*get)(void *self, struct str handle, struct arena *a, struct str *ret_bytes);
    void *self;
};

struct packed_message {
    struct message *message; /* a reference */
    int64_t unix_ms;
};

struct pack {
    struct pack_head head;        /* its texts live as long as the pack */
    struct message *holder;       /* has the bytes that messages borrow from */
    struct packed_message *items; /* head.n of them */
};
void pack_done(struct pack *p);
DEFINE_AUTO_VAL(pack, pack_done)

/* ERR_STORAGE: it is none, or not whole. The bytes are taken: `bytes` is empty afterwards. */
MUST_USE struct err *pack_read(struct strbuf *bytes, const struct pack_source *source,
                               struct pack *ret_pack);

#endif
