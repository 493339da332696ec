/* kept_body.h - the beginning of a request's body as it was sent, for the next request to begin
 * with.
 *
 * A body is a head (settings, tools, system text) and the messages. Encoders (provider/encode.h)
 * keep both up to the last place where nothing that follows changes what stands there, and write
 * the next body from there on when its head, its reader and its first messages are the same. So
 * nobody has to say that something has changed, and the bytes are those that would be written
 * without it.
 *
 * One body at a time: the encoder lends the buffer to it, and kept_body_take() takes it back. What
 * does not come back is written anew. */
#ifndef KEEL_MODEL_KEPT_BODY_H
#define KEEL_MODEL_KEPT_BODY_H

#include "base/sha256.h"
#include "base/strbuf.h"
#include "model/message_list.h"

struct kept_body {
    struct strbuf bytes;          /* empty: they are lent, or there are none */
    const struct strbuf *lent_to; /* the body that was encoded last */
    size_t n_bytes, n_head;       /* that are kept, and of those before the messages */
    struct strbuf reader;         /* who reads it: all that the messages are written by */
    struct message_list messages; /* that stand in it */
    size_t last_run;              /* where the last ones that were written together begin */
    bool needs_comma, mark;       /* of the writer, there */
    struct sha256 hash;           /* of the first n_hashed bytes */
    size_t n_hashed;
};

void kept_body_done(struct kept_body *k);
DEFINE_AUTO_VAL(kept_body, kept_body_done)

/* Takes back what was lent to a body, which is empty then. Others stay as they are. */
void kept_body_take(struct kept_body *k, struct strbuf *body);
/* The hash of a body, as sha256_hex(): what is kept of it is not hashed again. */
void kept_body_hash(struct kept_body *k, const struct strbuf *body, char hex[SHA256_HEX_SIZE]);

#endif
