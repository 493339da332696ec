/* budget.c - counts what a session takes, and says when it is too much. */
#include "session/budget.h"

#include "sys/loop.h"

#include <inttypes.h>

#define RESERVED_KEY "reservedMs"
#define MEASURE_NAMES "usd", "tokens", "turns", "seconds", "toolCalls"

bool budget_action_find(struct str name, enum budget_action *ret_action)
{
    static const char *const names[] = {"fail", "ask", "warn"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(name, names[i])) {
            *ret_action = (enum budget_action)i;
            return true;
        }
    return false;
}

/* --- the session's state --- */

/* {"grants": {LIMIT: N}, "asked": {"limit": LIMIT, "shares": N}, "isLifted", "hasRefusedCall",
 * "reservedMs"}.
 * Sessions of older versions have a number of grants, for all limits. */
static const struct json *state_of(const struct budget *b, const char *key)
{
    return b->state ? json_get(tool_state_get(b->state, STATE_BUDGET, STATE_UNNAMED), key) : NULL;
}

/* A copy to change, or a new one. */
static struct json *copy_state(const struct budget *b, struct arena *a)
{
    const struct json *state = tool_state_get(b->state, STATE_BUDGET, STATE_UNNAMED);

    return json_is(state, JSON_OBJECT) ? json_copy(a, state) : json_new(a, JSON_OBJECT);
}

static void set_state(struct budget *b, const char *key, const struct json *value)
{
    AUTO(arena) struct arena a = {0};
    struct json *state;

    if (!b->state)
        return;
    state = copy_state(b, &a);
    json_set(&a, state, key, json_copy(&a, value));
    tool_state_set(b->state, STATE_BUDGET, STATE_UNNAMED, state);
}

static void set_flag(struct budget *b, const char *key, bool is_set)
{
    AUTO(arena) struct arena a = {0};

    if (json_bool(state_of(b, key), false) != is_set)
        set_state(b, key, json_new_bool(&a, is_set));
}

/* --- limits --- */

/* Whose limits count. */
static struct budget *root_of(struct budget *b)
{
    while (b->parent)
        b = b->parent;
    return b;
}

static uint64_t active_ms(const struct budget *b)
{
    return b->spent.active_ms + (b->is_at_work ? loop_now_ms(task_loop()) - b->began_ms : 0);
}

/* --- time --- */

#define TIME_SHARES 60 /* of the limit, or of what is used when that is more */
#define TIME_SHARE_MIN_MS 1000

static uint64_t time_share_ms(const struct budget *b)
{
    return MAX(MAX(b->limits.active_ms, active_ms(b)) / TIME_SHARES, (uint64_t)TIME_SHARE_MIN_MS);
}

/* A share ahead of what has passed, and anew when half of that has. */
static void reserve_time(struct budget *b)
{
    AUTO(arena) struct arena a = {0};
    uint64_t now_ms = active_ms(b), share_ms = time_share_ms(b);

    if (!b->limits.active_ms || !b->is_at_work || now_ms + share_ms / 2 < b->reserved_ms)
        return;
    b->reserved_ms = now_ms + share_ms;
    set_state(b, RESERVED_KEY, json_new_int(&a, (int64_t)b->reserved_ms));
}

struct err *budget_keep_time(void *budget)
{
    struct budget *b = budget;
    struct err *e = NULL;

    while (b->limits.active_ms && !e) {
        reserve_time(b);
        e = task_sleep(time_share_ms(b) / 2);
    }
    return e;
}

uint64_t budget_reserved_ms(struct str key, const struct json *value)
{
    int64_t ms =
        state_key_is(key, STATE_BUDGET, NULL) ? json_int_or(json_get(value, RESERVED_KEY), 0) : 0;

    return (uint64_t)MAX(ms, (int64_t)0);
}

/* --- what is said of them --- */

static void add_money(struct strbuf *out, int64_t microcents)
{
    int64_t hundredths = microcents / (MICROCENTS_PER_USD / 10000);

    if (microcents > 0 && !hundredths) {
        strbuf_addf(out, "$0.%08" PRId64, microcents);
        while (str_ends(strbuf_str(out), S("0")))
            strbuf_cut(out, out->n - 1);
        return;
    }
    if (!microcents) {
        strbuf_add_cstr(out, "$0");
        return;
    }
    strbuf_addf(out, "$%" PRId64 ".%04" PRId64, hundredths / 10000, hundredths % 10000);
}

static void add_time(struct strbuf *out, int64_t ms)
{
    strbuf_addf(out, "%" PRId64 " s", ms / 1000);
}

static void add_tokens(struct strbuf *out, int64_t n)
{
    strbuf_addf(out, "%" PRId64 " token%s", n, n == 1 ? "" : "s");
}

static void add_rounds(struct strbuf *out, int64_t n)
{
    strbuf_addf(out, "%" PRId64 " turn%s", n, n == 1 ? "" : "s");
}

static void add_calls(struct strbuf *out, int64_t n)
{
    strbuf_addf(out, "%" PRId64 " tool call%s", n, n == 1 ? "" : "s");
}

/* One of the limits, and what the next step would do to it. */
struct measure {
    const char *name;
    int64_t limit, spent, next;
    void (*add)(struct strbuf *out, int64_t amount);
    const char *raise;  /* how to allow more */
    const char *set_by; /* who has set the limit; NULL: not known */
};

/* How often the limit may be taken. */
static int64_t n_shares(const struct budget *b, const char *name)
{
    const struct json *grants = state_of(b, "grants");
    int64_t n = json_int_or(json_is(grants, JSON_OBJECT) ? json_get(grants, name) : grants, 0);

    return 1 + MIN(MAX(n, (int64_t)0), (int64_t)INT32_MAX);
}

/* With what was granted; INT64_MAX: there is none. */
static int64_t limit_of(const struct budget *b, const struct measure *m)
{
    int64_t limit;

    if (m->limit <= 0 || json_bool(state_of(b, "isLifted"), false) ||
        __builtin_mul_overflow(m->limit, n_shares(b, m->name), &limit))
        return INT64_MAX;
    return limit;
}

static int64_t left_of(const struct budget *b, const struct measure *m)
{
    return limit_of(b, m) - MAX(m->spent, (int64_t)0);
}

static bool is_over(const struct budget *b, const struct measure *m)
{
    int64_t left = left_of(b, m);

    return left <= 0 || m->next > left;
}

static void describe(const struct budget *b, const struct measure *m, struct strbuf *out)
{
    int64_t limit = limit_of(b, m);

    m->add(out, m->spent);
    strbuf_add_cstr(out, " of ");
    m->add(out, limit);
    strbuf_add_cstr(out, " used");
    if (m->spent < limit) {
        strbuf_add_cstr(out, ", and the next request may need ");
        m->add(out, m->next);
    }
}

/* --- what a limit that is reached means --- */

static struct err *warn(struct budget *b, struct str text)
{
    if (b->has_warned)
        return NULL;
    b->has_warned = true;
    strbuf_addf(&b->warning, "budget exceeded: %" STR_FMT "; continuing", STR_ARG(text));
    return NULL;
}

/* As much again, and as often as the next step needs it. */
static int64_t shares_after_yes(const struct budget *b, const struct measure *m)
{
    int64_t needed =
        m->spent / m->limit + (m->spent % m->limit + MAX(m->next, (int64_t)1) - 1) / m->limit + 1;

    return MIN(MAX(n_shares(b, m->name) + 1, needed), (int64_t)INT32_MAX);
}

static void ask(struct budget *b, const struct measure *m, struct str why, struct ask *ret_ask)
{
    AUTO(strbuf) struct strbuf more = {0};
    AUTO(arena) struct arena a = {0};
    struct json *asked = json_new(&a, JSON_OBJECT);
    int64_t shares = shares_after_yes(b, m), limit;

    if (__builtin_mul_overflow(m->limit, shares, &limit))
        limit = INT64_MAX;
    m->add(&more, limit);
    json_set_str(&a, asked, "limit", str_of(m->name));
    json_set_int(&a, asked, "shares", shares);
    set_state(b, "asked", asked);
    arena_done(&b->arena);
    b->arena = (struct arena){0};
    *ret_ask =
        (struct ask){.kind = ASK_BUDGET,
                     .text = arena_format(&b->arena, "%" STR_FMT ". Continue with a limit of %s?",
                                          STR_ARG(why), strbuf_cstr(&more))};
}

static struct err *exceed(struct budget *b, const struct measure *m, struct ask *ret_ask)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct err *e;

    describe(b, m, &text);
    if (b->limits.on_exceed == BUDGET_WARNS)
        return warn(b, strbuf_str(&text));
    if (b->limits.on_exceed == BUDGET_ASKS && ret_ask)
        ask(b, m, strbuf_str(&text), ret_ask);
    e = err_new(ERR_BUDGET_EXCEEDED, "%s", strbuf_cstr(&text));
    if (m->set_by)
        return err_hint(e, "raise %s", m->set_by);
    return err_hint(e, "%s", m->raise);
}

/* --- what was answered --- */

static void grant(struct budget *b)
{
    AUTO(arena) struct arena a = {0};
    const struct json *asked = state_of(b, "asked");
    const char *const names[] = {MEASURE_NAMES};
    struct json *now = json_new(&a, JSON_OBJECT);

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        int64_t shares = n_shares(b, names[i]);

        if (!asked) /* an older version's question does not say which limit it is about */
            shares++;
        else if (str_is(json_get_text(asked, "limit"), names[i]))
            shares = MAX(shares + 1, json_int_or(json_get(asked, "shares"), 0));
        if (shares > 1)
            json_set_int(&a, now, names[i], shares - 1);
    }
    set_state(b, "grants", now);
}

static void answer(void *self, const struct answer *said)
{
    struct budget *b = root_of(self);

    if (said->kind == ANSWER_NO)
        b->limits.on_exceed = BUDGET_FAILS;
    if (said->kind == ANSWER_ONCE && b->state)
        grant(b);
    if (said->kind == ANSWER_SESSION)
        set_flag(b, "isLifted", true);
    if (said->kind == ANSWER_ONCE || said->kind == ANSWER_SESSION)
        set_flag(b, "hasRefusedCall", false);
}

/* --- attempts --- */

static int64_t tokens_of(const struct usage *u)
{
    return usage_is_known(u) ? usage_total(u) : 0;
}

/* If the provider does not report the cost either, a limit would be a pretence. */
static struct err *check_price(const struct budget *b, const struct attempt *a)
{
    if (!b->limits.microcents || b->limits.on_exceed == BUDGET_WARNS || !b->spent.is_unpriced)
        return NULL;
    return err_hint(err_new(ERR_CONFIGURATION,
                            "cannot enforce %s: the price of %" STR_FMT " is unknown",
                            b->limits.money_set_by ? b->limits.money_set_by : "the dollar budget",
                            STR_ARG(a->target->model)),
                    "set its price in the settings, in dollars per million tokens: \"pricing\": "
                    "{\"VENDOR/MODEL\": {\"input\": 3, \"output\": 15}}");
}

static struct measure measure_money(const struct budget *b, const struct reservation *r)
{
    struct measure m = {"usd",
                        b->limits.microcents,
                        b->spent.microcents,
                        MAX(r->microcents, (int64_t)0),
                        add_money,
                        "raise --max-budget-usd or the setting budget.usd",
                        b->limits.money_set_by};

    for (size_t i = 0; i < b->n_held; i++)
        m.spent += b->held[i].microcents;
    return m;
}

static struct measure measure_tokens(const struct budget *b, const struct reservation *r)
{
    struct measure m = {"tokens",
                        (int64_t)b->limits.tokens,
                        tokens_of(&b->spent.usage),
                        r->input + r->output,
                        add_tokens,
                        "raise --max-tokens-total or the setting budget.tokens",
                        b->limits.tokens_set_by};

    for (size_t i = 0; i < b->n_held; i++)
        m.spent += b->held[i].tokens;
    return m;
}

static struct measure measure_calls(const struct budget *b)
{
    return (struct measure){"toolCalls",
                            (int64_t)b->limits.tool_calls,
                            (int64_t)b->spent.n_tool_calls,
                            1,
                            add_calls,
                            "raise the setting budget.toolCalls",
                            NULL};
}

static struct err *check_request(struct budget *b, const struct reservation *r, struct ask *ret_ask)
{
    const struct budget_limits *l = &b->limits;
    const struct measure measures[] = {
        measure_money(b, r),
        measure_tokens(b, r),
        {"turns", (int64_t)l->rounds, (int64_t)b->spent.n_rounds, 1, add_rounds,
         "raise the setting budget.turns", NULL},
        {"seconds", (int64_t)l->active_ms, (int64_t)active_ms(b), 0, add_time,
         "raise the setting budget.seconds", NULL},
        measure_calls(b),
    };
    /* Calls up to the limit are fine, and so is the answer after them. */
    size_t n = ARRAY_LEN(measures) - !json_bool(state_of(b, "hasRefusedCall"), false);

    for (size_t i = 0; i < n; i++)
        if (is_over(b, &measures[i]))
            TRY(exceed(b, &measures[i], ret_ask));
    return NULL;
}

/* Tokens of an answer that this much money pays for. */
static int64_t tokens_for(int64_t microcents, const struct price *p, int64_t n_prompt)
{
    bool is_long = p->long_from > 0 && n_prompt > p->long_from;
    __int128 price = (__int128)p->output * (is_long ? p->long_output_percent : 100);
    __int128 n = price > 0 ? (__int128)microcents * 100000000 / price : INT64_MAX;

    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* The longest answer that stays within what is left; 0: any does. */
static int64_t find_max_output(const struct budget *b, const struct attempt *a,
                               const struct reservation *r)
{
    struct measure money = measure_money(b, r), tokens = measure_tokens(b, r);
    int64_t left = left_of(b, &tokens), max = INT64_MAX, power = 1;
    struct usage prompt = USAGE_UNKNOWN;

    if (b->limits.on_exceed == BUDGET_WARNS)
        return 0;
    if (limit_of(b, &tokens) != INT64_MAX)
        max = left - r->input;
    left = left_of(b, &money);
    prompt.input = r->input;
    if (limit_of(b, &money) != INT64_MAX && r->microcents >= 0)
        max = MIN(max, tokens_for(left - usage_cost_microcents(&prompt, &a->target->price),
                                  &a->target->price, r->input));
    if (max == INT64_MAX)
        return 0;
    while (power <= max / 2)
        power *= 2;
    return MAX(power, r->output);
}

static struct err *reserve(void *self, const struct attempt *a, struct reservation *r,
                           struct budget_word *ret_word)
{
    struct budget *b = root_of(self);
    struct err *e = check_price(b, a);

    if (!e)
        e = check_request(b, r, &ret_word->ask);
    if (!b->has_reported)
        ret_word->warning = strbuf_str(&b->warning);
    b->has_reported = b->warning.n > 0;
    if (e)
        return e;
    reserve_time(b);
    r->max_output = find_max_output(b, a, r);
    for (struct budget *up = self; up; up = up->parent)
        up->spent.n_rounds += a->number == 1;
    if (b->n_held == b->held_room) {
        b->held_room = MAX(2 * b->held_room, (size_t)4);
        b->held = mem_resize(b->held, b->held_room * sizeof *b->held);
    }
    b->held[b->n_held++] = (struct held){a, r->input + r->output, MAX(r->microcents, (int64_t)0)};
    return NULL;
}

static void release(struct budget *b, const struct attempt *a)
{
    for (size_t i = 0; i < b->n_held; i++)
        if (b->held[i].attempt == a) {
            b->held[i] = b->held[--b->n_held];
            return;
        }
}

/* A damaged record may hold any number: sums stay at the largest. */
static void add_count(int64_t *total, int64_t n)
{
    if (n >= 0 && __builtin_add_overflow(MAX(*total, (int64_t)0), n, total))
        *total = INT64_MAX;
}

static void add_usage(struct spent *x, const struct usage *u)
{
    add_count(&x->usage.input, usage_fresh_input(u));
    add_count(&x->usage.output, usage_completion(u));
    add_count(&x->usage.cache_read, u->cache_read);
    add_count(&x->usage.cache_write, u->cache_write);
    add_count(&x->usage.reasoning, u->reasoning);
}

void spent_add(struct spent *x, const struct settlement *s)
{
    if (!usage_is_known(&s->usage))
        return;
    add_usage(x, &s->usage);
    add_count(&x->microcents, s->microcents);
    x->is_unpriced |= s->microcents < 0;
    x->is_estimated |= s->is_estimated && s->microcents > 0;
}

void spent_add_child(struct spent *x, const struct event_child *c)
{
    add_usage(x, &c->usage);
    add_count(&x->microcents, c->cost_microcents);
    x->is_estimated |= c->is_estimated;
    x->is_unpriced |= c->is_unpriced;
    x->n_rounds += c->n_rounds;
    x->n_tool_calls += c->n_tool_calls;
}

static void settle(void *self, const struct attempt *a, const struct settlement *s)
{
    struct budget *b = self;

    release(root_of(b), a);
    for (; b; b = b->parent)
        spent_add(&b->spent, s);
}

/* The model reads it with the call's result; the next request then meets the limit. */
static struct err *take_call(void *self, const struct event_tool *call)
{
    struct budget *b = root_of(self);
    struct measure m = measure_calls(b);
    struct err *e = is_over(b, &m) ? exceed(b, &m, NULL) : NULL;

    if (e)
        set_flag(b, "hasRefusedCall", true);
    for (struct budget *up = self; up && !e; up = up->parent)
        up->spent.n_tool_calls++;
    reserve_time(b);
    return e;
}

struct budget_keeper budget_keeper_of(struct budget *b)
{
    const struct budget_limits *l = &root_of(b)->limits;

    return (struct budget_keeper){
        .reserve = reserve,
        .settle = settle,
        .take_call = take_call,
        .answer = answer,
        .self = b,
        .is_limited = l->rounds || l->tool_calls || l->tokens || l->active_ms || l->microcents,
    };
}

/* --- its life --- */

void budget_init(struct budget *b, const struct budget_limits *limits)
{
    *b = (struct budget){
        .limits = *limits,
        .spent = {.usage = USAGE_UNKNOWN},
    };
}

void budget_done(struct budget *b)
{
    mem_free(b->held);
    strbuf_done(&b->warning);
    arena_done(&b->arena);
    *b = (struct budget){0};
}

void budget_begin_run(struct budget *b)
{
    b->is_at_work = true;
    b->began_ms = loop_now_ms(task_loop());
}

void budget_end_run(struct budget *b)
{
    b->spent.active_ms = active_ms(b);
    b->is_at_work = false;
}
