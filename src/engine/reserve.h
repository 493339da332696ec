/* reserve.h - what a request may take, before it is known, and what counts without a report. Pure.
 *
 * Before a request leaves, its prompt is estimated from what is sent, and an answer of usual length
 * is added. That is what it costs at least as long as nothing else is known: when its process dies,
 * when its provider answers without counting, when it is cancelled or silent. An answer that had
 * come in part counts as long as it was, if that is more. A request that the provider refused, or
 * that never reached it, costs nothing. */
#ifndef KEEL_ENGINE_RESERVE_H
#define KEEL_ENGINE_RESERVE_H

#include "engine/chain.h"
#include "port/event.h"

#define RESERVE_USUAL_OUTPUT 1024 /* tokens */

/* `used` is what the ledger says of the conversation; 0: nothing. */
struct reservation reservation_of(const struct model_request *request, const struct price *price,
                                  int64_t used);

/* The request asks for no longer answer than `r->max_output`, and thinks for half of that at most.
 * Where it would not be longer anyway, nothing is changed and `r->max_output` is 0 afterwards. */
void reservation_limit(struct reservation *r, struct model_request *request);

/* Of an answer of that many bytes, rather too many. */
int64_t reserve_output_tokens(uint64_t n_bytes);

/* What an attempt took. */
struct settlement {
    struct usage usage; /* unknown: nothing */
    int64_t microcents; /* -1: the price is not known */
    bool is_estimated;  /* the provider has not said all of it */
};
/* `was_sent`: the bytes may have left. */
struct settlement reservation_settle(const struct reservation *r, const struct attempt *a,
                                     bool was_sent);
/* Of an attempt whose process died when `n_bytes` of its answer were durable. */
struct settlement reservation_settle_lost(const struct reservation *r, const struct price *price,
                                          uint64_t n_bytes);

#endif
