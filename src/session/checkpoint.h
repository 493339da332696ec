/* checkpoint.h - where reading a session begins. */
#ifndef KEEL_SESSION_CHECKPOINT_H
#define KEEL_SESSION_CHECKPOINT_H

#include "port/store.h"

/* The last checkpoint before `end`, in the page; NULL: there is none. *ret_has_answer: the run
 * before it gave its answer, so that nothing further back may be open. */
const struct store_record *checkpoint_find(struct store *s, struct str id, uint64_t end,
                                           struct store_page *page, bool *ret_has_answer);

#endif
