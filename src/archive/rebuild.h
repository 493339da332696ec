/* rebuild.h - what is derived of one session, made again from its stream.
 *
 * Its line in the list, and the record that other programs read where the store has a place for
 * one. Index and search are the store's own (store_rebuild()). */
#ifndef KEEL_ARCHIVE_REBUILD_H
#define KEEL_ARCHIVE_REBUILD_H

#include "port/store.h"

struct rebuilt {
    bool has_changed_summary, has_record;
    size_t n_unreadable; /* records that were skipped */
};

/* An error is the store's. May wait. */
MUST_USE struct err *session_rebuild(struct store *s, const struct store_summary *session,
                                     struct rebuilt *ret_rebuilt);

#endif
