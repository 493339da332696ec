/* record_sum.h - what tells a record's row that was damaged from one that was not. Pure.
 *
 * The sum is over all that the row says, and where it stands: the stream, the number, what the
 * adapter adds. So a row that was moved, or put in the place of another, does not fit either. */
#ifndef KEEL_STORE_RECORD_SUM_H
#define KEEL_STORE_RECORD_SUM_H

#include "port/store.h"

/* Without the payloads. Signed, as databases have it. */
int64_t record_sum(struct str stream, const struct store_record *r, int64_t total);

/* The error that tells of a row that does not fit its sum. */
NEVER_NULL MUST_USE struct err *record_damaged(struct str stream, uint64_t seq, const char *place);

/* What there is to say of a session's own row that does not fit its sum; in `a`. */
struct str row_damaged(struct arena *a, struct str id, const char *place);

#endif
