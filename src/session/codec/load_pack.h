/* load_pack.h - the history that packs hold (session/codec/pack.h), for who resumes a session. */
#ifndef KEEL_SESSION_CODEC_LOAD_PACK_H
#define KEEL_SESSION_CODEC_LOAD_PACK_H

#include "model/history.h"
#include "port/store.h"
#include "session/codec/codec.h"
#include "session/codec/pack.h"

/* The one pack that *packs has, and all before it: the first messages since `base_seq`. *packs are
 * then all of them, and *ret_last the head of the last one; both live in `a`. An error says why
 * they cannot be used: one is missing or damaged, or they are of another history. May wait. */
MUST_USE struct err *packs_load(struct store *s, struct str stream, uint64_t base_seq,
                                struct arena *a, struct codec_pack **packs, size_t *n_packs,
                                struct history *ret_history, struct pack_head *ret_last);
/* One of them. May wait. */
MUST_USE struct err *pack_load(struct blob_store *blobs, struct str handle, struct pack *ret_pack);

#endif
