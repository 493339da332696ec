/* chain.c - retry here, skip this target, ask the next one, or give up. */
#include "engine/chain.h"

#include "sys/loop.h"

#define BACKOFF_FIRST_MS ((uint64_t)500)
#define BACKOFF_MAX_MS ((uint64_t)60000)
#define PATIENCE_MS 8000 /* with a provider that names a delay, while another target is free */
#define RATE_LIMIT_REST_MS 30000

enum verdict { ANSWERED, RETRY_HERE, NEXT_TARGET, FINAL };

struct ask {
    struct chain *chain;
    const struct chain_hooks *hooks;
    const struct provider_call *call;
    struct reply *reply;
    unsigned n_attempts;
    uint64_t waited_ms;
};

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

/* --- what a failure means --- */

static bool has_shown_text(const struct reply *r)
{
    for (size_t i = 0; i < r->n_parts; i++)
        if (r->parts[i].part.kind == PART_TEXT && r->parts[i].text.n)
            return true;
    return false;
}

static enum verdict judge(const struct err *e)
{
    if (!e)
        return ANSWERED;
    if (err_is(e, ERR_CANCELLED) || !err_allows_fallback(e))
        return FINAL;
    return err_is_retryable(e) ? RETRY_HERE : NEXT_TARGET;
}

/* --- one attempt --- */

/* By chance up to a half shorter or longer, so that many clients which failed together do not come
 * back together. */
static uint64_t next_delay_ms(struct ask *a, const struct attempt *attempt, const struct err *e)
{
    const struct backoff *own = &attempt->target->backoff;
    uint64_t max_ms = own->max_ms ? own->max_ms : BACKOFF_MAX_MS;
    uint64_t delay_ms = MIN(own->first_ms ? own->first_ms : BACKOFF_FIRST_MS, max_ms);
    int64_t known_ms = a->hooks->known_delay ? a->hooks->known_delay(a->hooks->self) : -1;

    if (e->retry_after_ms >= 0 || known_ms >= 0)
        return (uint64_t)(e->retry_after_ms >= 0 ? e->retry_after_ms : known_ms);
    for (unsigned i = 1; i < attempt->at_target && delay_ms < max_ms; i++)
        delay_ms *= 2;
    delay_ms = delay_ms / 2 + random_below(a->chain->random, delay_ms + 1);
    return MIN(delay_ms, max_ms);
}

/* 0: it would be a guess. */
static int64_t known_window(const struct target *t)
{
    return t->info && t->info->context_window ? t->info->context_window : 0;
}

/* Another model than the one that was asked has answered: an alias, a snapshot, a gateway's choice.
 */
static void note_model(struct reply *r, struct str asked)
{
    if (r->model.n && r->usage.routed_model.n == 0 && !str_eq(r->model, asked))
        r->usage.routed_model = r->model;
}

static void settle(struct ask *a, struct attempt *attempt, const struct err *e, uint64_t started_ms)
{
    note_model(a->reply, attempt->target->model);
    usage_settle(&a->reply->usage, known_window(attempt->target));
    usage_doubt_zeros(&a->reply->usage, a->reply->is_complete && a->reply->n_bytes);
    attempt->reply = a->reply;
    attempt->error = e;
    attempt->cost_microcents = usage_cost_microcents(&a->reply->usage, &attempt->target->price);
    attempt->duration_ms = loop_now_ms(task_loop()) - started_ms;
    if (a->hooks->settle)
        a->hooks->settle(a->hooks->self, attempt);
}

struct sending {
    const struct chain_hooks *hooks;
    bool was_refused;
};

/* Called when the request is written: that takes none of the time of the wait. */
static struct err *sending_wait(void *self)
{
    struct sending *s = self;
    struct err *e = s->hooks->before_send(s->hooks->self);

    s->was_refused = e != NULL;
    return e;
}

/* *ret_refused: the run itself said no, so no other target may be asked either. */
static struct err *try_once(struct ask *a, struct attempt *attempt, bool *ret_refused)
{
    uint64_t started_ms = loop_now_ms(task_loop());
    struct sending sending = {.hooks = a->hooks};
    struct provider_call call = *a->call;
    struct model_request request = {0};
    struct err *e = a->hooks->build(a->hooks->self, attempt->target, &request);

    if (!e && a->hooks->reserve)
        e = a->hooks->reserve(a->hooks->self, attempt);
    *ret_refused = e != NULL;
    if (e)
        return e;
    reply_clear(a->reply);
    request.model = attempt->target->model;
    request.info = attempt->target->info;
    if (attempt->target->idle_ms)
        call.idle_ms = attempt->target->idle_ms;
    if (attempt->target->total_ms)
        call.total_ms = attempt->target->total_ms;
    if (a->hooks->before_send) {
        call.before_send = sending_wait;
        call.send_self = &sending;
    }
    e = provider_ask(attempt->target->provider, &request, &call, a->reply);
    *ret_refused = sending.was_refused;
    secrets_hide_in_err(a->hooks->secrets, e);
    if (judge(e) == RETRY_HERE)
        attempt->delay_ms = next_delay_ms(a, attempt, e);
    settle(a, attempt, e, started_ms);
    return e;
}

/* --- one target --- */

static struct err *wait_before_retry(struct ask *a, const struct attempt *attempt)
{
    a->waited_ms += attempt->delay_ms;
    if (a->hooks->on_retry)
        a->hooks->on_retry(a->hooks->self, attempt);
    return task_sleep(attempt->delay_ms);
}

static bool is_too_long(const struct ask *a, uint64_t delay_ms)
{
    return delay_ms > a->chain->max_wait_ms - MIN(a->waited_ms, a->chain->max_wait_ms);
}

/* The attempts ended early: says why, and what would change it. */
static struct err *explain_wait(const struct ask *a, struct err *take_error, uint64_t delay_ms)
{
    uint64_t left_ms = a->chain->max_wait_ms - MIN(a->waited_ms, a->chain->max_wait_ms);
    struct err *e;

    if (take_error->retry_after_ms < 0)
        e = err_wrap(take_error, "gave up: the waits between attempts would take more than %llu s",
                     (unsigned long long)(a->chain->max_wait_ms / 1000));
    else
        e = err_wrap(take_error,
                     "the provider asks to wait %llu s, but keel's limit for waits leaves %llu s",
                     (unsigned long long)((delay_ms + 999) / 1000),
                     (unsigned long long)(left_ms / 1000));
    if (err_find_hint(e) && !err_is(e, ERR_PROVIDER_RATE_LIMIT) &&
        !err_is(e, ERR_PROVIDER_UNAVAILABLE))
        return e;
    return err_hint(e, "try again later, use another model with --model, or allow longer waits: "
                       "--retry-seconds N, or retry.maxSeconds in the settings");
}

/* As long as the provider says, if that is longer. */
static void rest(struct chain *c, size_t index, const struct err *e)
{
    uint64_t asked_ms = e->retry_after_ms > 0 ? (uint64_t)e->retry_after_ms : 0;

    c->rests_until_ms[index] =
        loop_now_ms(task_loop()) + MAX(asked_ms, (uint64_t)RATE_LIMIT_REST_MS);
}

static bool rests(const struct chain *c, size_t index)
{
    return c->rests_until_ms[index] > loop_now_ms(task_loop());
}

/* Is another target free, so that a wait for minutes is not needed? */
static bool should_move_on(const struct ask *a, size_t index, const struct err *e)
{
    if (e->retry_after_ms <= PATIENCE_MS)
        return false;
    for (size_t i = index + 1; i < a->chain->n_targets; i++)
        if (!rests(a->chain, i))
            return true;
    return false;
}

/* Text that was shown binds the ask to it, unless the watcher takes it back. */
static bool may_go_on(const struct ask *a)
{
    return !has_shown_text(a->reply) ||
           (a->hooks->drop_text && a->hooks->drop_text(a->hooks->self));
}

/* Will this target not be asked again? */
static bool is_last(const struct ask *a, size_t index, const struct attempt *attempt,
                    const struct err *e)
{
    return judge(e) != RETRY_HERE || attempt->at_target == attempt->max_at_target ||
           should_move_on(a, index, e) || is_too_long(a, attempt->delay_ms);
}

static bool is_repaired(const struct ask *a, size_t index, const struct attempt *attempt,
                        const struct err *e)
{
    return e && !err_is(e, ERR_CANCELLED) && !has_shown_text(a->reply) && a->hooks->repair &&
           a->hooks->repair(a->hooks->self, attempt->target, e, is_last(a, index, attempt, e));
}

static struct err *ask_target(struct ask *a, size_t index, enum verdict *ret_verdict)
{
    const struct target *t = &a->chain->targets[index];
    unsigned max = t->max_attempts ? t->max_attempts : a->chain->default_attempts;

    for (unsigned n = 1;; n++) {
        struct attempt attempt = {
            .target = t, .number = ++a->n_attempts, .at_target = n, .max_at_target = max};
        bool was_refused;
        AUTO(err) struct err *e = try_once(a, &attempt, &was_refused);

        if (!was_refused && is_repaired(a, index, &attempt, e)) {
            max++;
            continue;
        }
        *ret_verdict = was_refused ? FINAL : judge(e);
        if (*ret_verdict == ANSWERED || *ret_verdict == FINAL)
            return TAKE(e);
        if (err_is(e, ERR_PROVIDER_RATE_LIMIT))
            rest(a->chain, index, e);
        if (!may_go_on(a)) {
            *ret_verdict = FINAL;
            return TAKE(e);
        }
        if (*ret_verdict == NEXT_TARGET || n == max || should_move_on(a, index, e)) {
            *ret_verdict = NEXT_TARGET;
            return TAKE(e);
        }
        if (is_too_long(a, attempt.delay_ms)) {
            *ret_verdict = NEXT_TARGET;
            return explain_wait(a, TAKE(e), attempt.delay_ms);
        }
        TRY(wait_before_retry(a, &attempt));
    }
}

/* --- the chain --- */

/* The next target from `from` on that can be asked and does not rest; if all do, the one whose rest
 * ends first. */
static size_t choose(const struct chain *c, const struct chain_hooks *hooks, size_t from,
                     bool is_first)
{
    size_t best = from;

    for (size_t i = from; i < c->n_targets; i++) {
        if (hooks->fits && !hooks->fits(hooks->self, &c->targets[i])) {
            best += best == i;
            continue;
        }
        if (!rests(c, i))
            return i;
        if (c->rests_until_ms[i] < c->rests_until_ms[best])
            best = i;
    }
    return is_first ? MIN(best, c->n_targets - 1) : c->n_targets;
}

struct err *chain_ask(struct chain *c, const struct chain_hooks *hooks,
                      const struct provider_call *call, struct reply *reply,
                      const struct target **ret_target)
{
    struct ask a = {.chain = c, .hooks = hooks, .call = call, .reply = reply};
    size_t index = choose(c, hooks, 0, /* is_first= */ true);

    for (;;) {
        enum verdict verdict = FINAL;
        AUTO(err) struct err *e = ask_target(&a, index, &verdict);
        size_t next = choose(c, hooks, index + 1, /* is_first= */ false);

        *ret_target = &c->targets[index];
        if (verdict != NEXT_TARGET || next >= c->n_targets)
            return TAKE(e);
        if (hooks->on_fallback)
            hooks->on_fallback(hooks->self, &c->targets[index], &c->targets[next], e);
        index = next;
    }
}
