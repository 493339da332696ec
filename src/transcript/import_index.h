/* import_index.h - finds things by a name out of a file: ids of sessions, messages and calls.
 *
 * Of a name only 64 bits of its SHA-256 are kept, so that a million of them take little memory,
 * whatever their length, and no choice of names makes the table slow. */
#ifndef KEEL_TRANSCRIPT_IMPORT_INDEX_H
#define KEEL_TRANSCRIPT_IMPORT_INDEX_H

#include "base/str.h"

struct import_slot {
    uint64_t key;
    size_t value;
};
struct import_index {
    struct import_slot *slots;
    size_t n, room;
};
void import_index_done(struct import_index *x);
DEFINE_AUTO_VAL(import_index, import_index_done)

uint64_t import_key(struct str name); /* 0: it is empty */
/* The value of the key, which is not 0; it is 0 where the key is new. Good until the next call. */
size_t *import_index_at(struct import_index *x, uint64_t key);
/* The same without adding the key. */
size_t import_index_find(const struct import_index *x, uint64_t key);

#endif
