/* history_hash.h - one hash over all messages of a history, extended with each message. Pure.
 *
 * A writer of a stream records with it which history a request was made with, so that a reader can
 * check that its own is the same. */
#ifndef KEEL_SESSION_CODEC_HISTORY_HASH_H
#define KEEL_SESSION_CODEC_HISTORY_HASH_H

#include "base/sha256.h"
#include "model/message.h"

struct history_hash {
    unsigned char bytes[SHA256_SIZE]; /* zeros: no message yet */
};
void history_hash_add(struct history_hash *h, const struct message *m);
/* From 64 hex digits; false: they are something else. */
bool history_hash_parse(struct str hex, struct history_hash *ret_hash);

#endif
