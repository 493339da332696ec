/* chain.h - one hash over all messages of a history, kept up as they come. Pure.
 *
 * Whoever writes a stream says with it which history a request was made with; whoever reads it
 * finds out whether it has the same. */
#ifndef KEEL_SESSION_CHAIN_H
#define KEEL_SESSION_CHAIN_H

#include "base/sha256.h"
#include "model/message.h"

struct chain_hash {
    unsigned char bytes[SHA256_SIZE]; /* zeros: there is no message yet */
};
void chain_hash_add(struct chain_hash *c, const struct message *m);
/* From 64 hex digits; false when they are something else. */
bool chain_hash_parse(struct str hex, struct chain_hash *ret_chain);

#endif
