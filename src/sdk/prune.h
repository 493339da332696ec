/* prune.h - how long sessions are kept: until they are old, or the oldest when there is no room.
 *
 * Sessions with a name are kept, and so are those that are open. What is shared with a session that
 * stays, stays. In a task. */
#ifndef KEEL_SDK_PRUNE_H
#define KEEL_SDK_PRUNE_H

#include "port/store.h"
#include "sdk/runtime.h"

#define PRUNE_DEFAULT_DAYS 90
#define PRUNE_DEFAULT_BYTES ((int64_t)8 << 30)

struct prune_limits {
    int64_t days;  /* after the last use; 0: for ever */
    int64_t bytes; /* of all sessions; 0: no limit */
};
/* ERR_VALIDATION when a setting is below 0. */
MUST_USE struct err *prune_limits_read(const struct settings *s, struct prune_limits *ret_limits);

struct prune_report {
    struct store_summary *items; /* that go, the oldest first; in the caller's arena */
    size_t n;
    uint64_t n_bytes;
};
/* Which ones would go; `kept` is not among them, it may be empty. */
MUST_USE struct err *prune_plan(struct store *s, const struct prune_limits *limits, struct str kept,
                                int64_t now_ms, struct arena *a, struct prune_report *ret_report);
/* Removes them. One that was opened meanwhile is left out of the report. */
MUST_USE struct err *prune_apply(struct store *s, struct prune_report *report);

/* Once a day at most, by a stamp in keel's home: plans and applies. *ret_report is empty when it is
 * not due or there is nothing to do. */
MUST_USE struct err *prune_daily(const struct runtime *r, struct store *s, struct str kept,
                                 struct arena *a, struct prune_report *ret_report);

/* "3 sessions (12.4 MB) were removed: ..." */
void prune_describe(const struct prune_report *r, struct strbuf *out);

#endif
