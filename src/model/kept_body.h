/* kept_body.h - the beginning of the last request's body, for the next request to begin with.
 *
 * A body is a head (settings, tools, system text) and the messages. Encoders (provider/encode.h)
 * keep both up to the last place that later messages do not change. If head, reader and first
 * messages are the same, they write the next body from there on. So no one has to report changes,
 * and the bytes are the same as without it.
 *
 * It holds one body: the encoder lends its buffer to it, and kept_body_take() takes the buffer
 * back. If the buffer does not come back, the next body is written completely. */
#ifndef KEEL_MODEL_KEPT_BODY_H
#define KEEL_MODEL_KEPT_BODY_H

#include "base/sha256.h"
#include "base/strbuf.h"
#include "model/message_list.h"

struct kept_body {
    struct strbuf bytes;          /* empty: lent, or none */
    const struct strbuf *lent_to; /* the last encoded body */
    size_t n_bytes, n_head;       /* kept bytes, and those before the messages */
    struct strbuf reader;         /* the reader for whom the messages are written */
    struct message_list messages; /* messages in it */
    size_t last_run;              /* where the last group of messages begins */
    bool needs_comma, mark;       /* the writer's state there */
    struct sha256 hash;           /* of the first n_hashed bytes */
    size_t n_hashed;
};

void kept_body_done(struct kept_body *k);
DEFINE_AUTO_VAL(kept_body, kept_body_done)

/* Takes back the buffer of a body, which is empty then. Ignores other bodies. */
void kept_body_take(struct kept_body *k, struct strbuf *body);
/* The hash of a body, as in sha256_hex(). The kept part is not hashed again. */
void kept_body_hash(struct kept_body *k, const struct strbuf *body, char hex[SHA256_HEX_SIZE]);

#endif
