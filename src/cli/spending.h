/* spending.h - --max-budget-usd: no further request once the runs have cost so much.
 *
 * What a request costs is known only afterwards, so the last one may go over the limit. */
#ifndef KEEL_CLI_SPENDING_H
#define KEEL_CLI_SPENDING_H

#include "cli/args.h"
#include "engine/run.h"

struct spending {
    int64_t max_microcents; /* 0: no limit */
    int64_t spent_microcents;
    bool is_unknown; /* a request has cost something that nobody knows */
};

MUST_USE struct err *spending_init(struct spending *s, const struct args *args);
/* For a run's options; `s` is borrowed. */
struct attempt_budget spending_budget(struct spending *s);

#endif
