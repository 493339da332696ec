/* record_sum.h - checksums that show damage to rows of a database. Pure.
 *
 * The sum covers all that the row says, and its place: the stream, the number, and what the adapter
 * adds. So a row that was moved, or that replaces another, does not fit either. */
#ifndef KEEL_STORE_RECORD_SUM_H
#define KEEL_STORE_RECORD_SUM_H

#include "port/store.h"

/* Without the payloads. Signed, because databases have no unsigned numbers. */
int64_t record_sum(struct str stream, const struct store_record *r, int64_t total);

/* The error for a record's row that does not fit its sum. */
NEVER_NULL MUST_USE struct err *record_damaged(struct str stream, uint64_t seq, const char *place);

/* Describes a session's row that does not fit its sum, in `a`. */
struct str row_damaged(struct arena *a, struct str id, const char *place);

#endif
