/* chain.c - retry here, ask the next target, or give up. */
#include "engine/chain.h"

#define BACKOFF_FIRST_MS ((uint64_t)500)
#define BACKOFF_MAX_MS ((uint64_t)60000)
#define PATIENCE_MS 8000 /* with a provider that names a delay, while another target is free */
#define RATE_LIMIT_REST_MS 30000

void chain_init(struct chain *c, const struct target *targets, size_t n_targets,
                unsigned default_attempts, const struct random *random)
{
    BUG_IF(n_targets == 0 || n_targets > CHAIN_MAX_TARGETS);
    *c = (struct chain){.targets = targets,
                        .n_targets = n_targets,
                        .default_attempts = MAX(default_attempts, 1u),
                        .max_wait_ms = CHAIN_DEFAULT_MAX_WAIT_MS,
                        .random = random ? random : &random_system};
}

/* --- from target to target --- */

static bool rests(const struct chain *c, size_t index, uint64_t now_ms)
{
    return c->rests_until_ms[index] > now_ms;
}

static void go_to(struct chain_walk *w, size_t index)
{
    const struct target *t = &w->chain->targets[index];

    w->index = index;
    w->at_target = 0;
    w->max_at_target = t->max_attempts ? t->max_attempts : w->chain->default_attempts;
}

/* The first target from `from` on that may be asked and does not rest; if all do, for the first one
 * that is asked, the one whose rest ends first. */
static size_t choose(const struct chain_walk *w, size_t from, bool is_first, uint64_t now_ms)
{
    const struct chain *c = w->chain;
    size_t best = from;

    for (size_t i = from; i < c->n_targets; i++) {
        if (w->unfit >> i & 1) {
            best += best == i;
            continue;
        }
        if (!rests(c, i, now_ms))
            return i;
        if (c->rests_until_ms[i] < c->rests_until_ms[best])
            best = i;
    }
    return is_first ? MIN(best, c->n_targets - 1) : c->n_targets;
}

void chain_begin(struct chain_walk *w, struct chain *c, uint32_t unfit, uint64_t now_ms)
{
    *w = (struct chain_walk){.chain = c, .unfit = unfit};
    go_to(w, choose(w, 0, /* is_first= */ true, now_ms));
}

const struct target *chain_target(const struct chain_walk *w)
{
    return &w->chain->targets[w->index];
}

bool chain_move(struct chain_walk *w, uint64_t now_ms)
{
    size_t next = choose(w, w->index + 1, /* is_first= */ false, now_ms);

    if (next >= w->chain->n_targets)
        return false;
    go_to(w, next);
    return true;
}

struct attempt chain_attempt(struct chain_walk *w)
{
    w->at_target++;
    w->n_attempts++;
    return (struct attempt){.target = chain_target(w),
                            .number = w->n_attempts,
                            .at_target = w->at_target,
                            .max_at_target = w->max_at_target};
}

void chain_forgive(struct chain_walk *w)
{
    w->max_at_target++;
}

/* --- what a failure means --- */

bool chain_retries(const struct err *e)
{
    return e && !err_is(e, ERR_CANCELLED) && err_allows_fallback(e) && err_is_retryable(e);
}

/* By chance up to a half shorter or longer, so that many clients which failed together do not come
 * back together. */
uint64_t chain_delay_ms(const struct chain_walk *w, const struct err *e, int64_t known_ms)
{
    const struct backoff *own = &chain_target(w)->backoff;
    uint64_t max_ms = own->max_ms ? own->max_ms : BACKOFF_MAX_MS;
    uint64_t delay_ms = MIN(own->first_ms ? own->first_ms : BACKOFF_FIRST_MS, max_ms);

    if (e->retry_after_ms >= 0 || known_ms >= 0)
        return (uint64_t)(e->retry_after_ms >= 0 ? e->retry_after_ms : known_ms);
    for (unsigned i = 1; i < w->at_target && delay_ms < max_ms; i++)
        delay_ms *= 2;
    delay_ms = delay_ms / 2 + random_below(w->chain->random, delay_ms + 1);
    return MIN(delay_ms, max_ms);
}

static uint64_t left_ms(const struct chain_walk *w)
{
    return w->chain->max_wait_ms - MIN(w->waited_ms, w->chain->max_wait_ms);
}

/* Is another target free, so that a wait for minutes is not needed? */
static bool should_move_on(const struct chain_walk *w, const struct err *e, uint64_t now_ms)
{
    if (e->retry_after_ms <= PATIENCE_MS)
        return false;
    for (size_t i = w->index + 1; i < w->chain->n_targets; i++)
        if (!rests(w->chain, i, now_ms))
            return true;
    return false;
}

enum chain_next chain_next(const struct chain_walk *w, const struct err *e, uint64_t delay_ms,
                           uint64_t now_ms)
{
    if (!e)
        return CHAIN_ANSWERED;
    if (err_is(e, ERR_CANCELLED) || !err_allows_fallback(e))
        return CHAIN_END;
    if (!chain_retries(e) || w->at_target == w->max_at_target || should_move_on(w, e, now_ms))
        return CHAIN_NEXT;
    return delay_ms > left_ms(w) ? CHAIN_TOO_LONG : CHAIN_RETRY;
}

/* As long as the provider says, if that is longer. */
void chain_note(struct chain_walk *w, const struct err *e, uint64_t now_ms)
{
    uint64_t asked_ms = e->retry_after_ms > 0 ? (uint64_t)e->retry_after_ms : 0;

    if (err_is(e, ERR_PROVIDER_RATE_LIMIT))
        w->chain->rests_until_ms[w->index] = now_ms + MAX(asked_ms, (uint64_t)RATE_LIMIT_REST_MS);
}

static struct err *explain_wait(const struct chain_walk *w, struct err *take_error,
                                uint64_t delay_ms)
{
    struct err *e;

    if (take_error->retry_after_ms < 0)
        e = err_wrap(take_error, "the waits between attempts would take more than %llu s",
                     (unsigned long long)(w->chain->max_wait_ms / 1000));
    else
        e = err_wrap(take_error,
                     "the provider asks to wait %llu s, but keel's limit for waits leaves %llu s",
                     (unsigned long long)((delay_ms + 999) / 1000),
                     (unsigned long long)(left_ms(w) / 1000));
    if (err_find_hint(e) && !err_is(e, ERR_PROVIDER_RATE_LIMIT) &&
        !err_is(e, ERR_PROVIDER_UNAVAILABLE))
        return e;
    return err_hint(e, "try again later, use another model with --model, or allow longer waits: "
                       "--retry-seconds N, or retry.maxSeconds in the settings");
}

struct err *chain_explain(const struct chain_walk *w, struct err *take_error, enum chain_next next,
                          uint64_t delay_ms)
{
    struct err *e = next == CHAIN_TOO_LONG ? explain_wait(w, take_error, delay_ms) : take_error;

    if (!chain_retries(e) || w->at_target == 1)
        return e;
    return err_wrap(e, "gave up after %u attempts", w->at_target);
}
