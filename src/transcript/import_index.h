/* import_index.h - finds things by a name from a file: ids of sessions, messages and calls.
 *
 * It keeps only 64 bits of the SHA-256 of a name. So a million names of any length take little
 * memory, and no choice of names makes the table slow. */
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
/* The value of the key, which is not 0; it is 0 if the key is new. Valid until the next call. */
size_t *import_index_at(struct import_index *x, uint64_t key);
/* The same without adding the key. */
size_t import_index_find(const struct import_index *x, uint64_t key);

#endif
