/* load_pack.h - the history that packs hold (session/pack.h), for who resumes a session. */
#ifndef KEEL_SESSION_LOAD_PACK_H
#define KEEL_SESSION_LOAD_PACK_H

#include "model/history.h"
#include "port/store.h"
#include "session/codec.h"
#include "session/pack.h"

/* The last pack and all before it: the first messages since `base_seq`. *ret_last is the head of
 * the last one, with its texts in `a`. An error says why they cannot be used: one is missing or
 * damaged, or they are of another history. May wait. */
MUST_USE struct err *packs_load(struct store *s, struct str stream, uint64_t base_seq,
                                const struct codec_packed *packed, struct arena *a,
                                struct history *ret_history, struct pack_head *ret_last);
/* One of them. May wait. */
MUST_USE struct err *pack_load(struct blob_store *blobs, struct str handle, struct pack *ret_pack);

#endif
