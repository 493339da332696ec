/* budget.c - counts what a session takes, and says when it is too much. */
#include "session/budget.h"

#include "sys/loop.h"

#include <inttypes.h>

#define STATE_KEY "budget"
#define MORE_CALLS "the setting budget.toolCalls allows more"

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

/* --- what was granted --- */

/* How often the limit may be taken; 0: as often as it likes. */
static int64_t n_shares(const struct budget *b)
{
    const struct json *state = b->state ? tool_session_get(b->state, S(STATE_KEY)) : NULL;
    int64_t n = json_int_or(json_get(state, "grants"), 0);

    if (json_bool(json_get(state, "isLifted"), false))
        return 0;
    return 1 + MIN(MAX(n, (int64_t)0), (int64_t)INT32_MAX);
}

void budget_grant(struct budget *b, enum answer_kind answer)
{
    AUTO(arena) struct arena a = {0};
    struct json *value = json_new(&a, JSON_OBJECT);

    if (!b->state || (answer != ANSWER_ONCE && answer != ANSWER_SESSION))
        return;
    if (answer == ANSWER_ONCE)
        json_set_int(&a, value, "grants", n_shares(b));
    else
        json_set_bool(&a, value, "isLifted", true);
    tool_session_set(b->state, S(STATE_KEY), value);
    b->has_refused_call = false;
}

/* --- limits --- */

static uint64_t active_ms(const struct budget *b)
{
    uint64_t now_ms = b->began_ms ? loop_now_ms(task_loop()) : 0;

    return b->spent.active_ms + (now_ms > b->began_ms ? now_ms - b->began_ms : 0);
}

static void add_money(struct strbuf *out, int64_t microcents)
{
    int64_t hundredths = microcents / (MICROCENTS_PER_USD / 10000);

    strbuf_addf(out, "$%" PRId64 ".%04" PRId64, hundredths / 10000, hundredths % 10000);
}

static void add_time(struct strbuf *out, int64_t ms)
{
    strbuf_addf(out, "%" PRId64 " s", ms / 1000);
}

static void add_tokens(struct strbuf *out, int64_t n)
{
    strbuf_addf(out, "%" PRId64 " tokens", n);
}

static void add_rounds(struct strbuf *out, int64_t n)
{
    strbuf_addf(out, "%" PRId64 " turns", n);
}

static void add_calls(struct strbuf *out, int64_t n)
{
    strbuf_addf(out, "%" PRId64 " tool calls", n);
}

/* One of the limits, and what the next step would do to it. */
struct measure {
    int64_t limit, spent, next;
    void (*add)(struct strbuf *out, int64_t amount);
    const char *raise; /* how to allow more */
};

static bool is_over(const struct budget *b, const struct measure *m)
{
    int64_t shares = n_shares(b), limit;

    if (!m->limit || !shares || __builtin_mul_overflow(m->limit, shares, &limit))
        return false;
    return m->spent >= limit || m->next > limit - m->spent;
}

static void describe(const struct measure *m, struct strbuf *out)
{
    m->add(out, m->spent);
    strbuf_add_cstr(out, " of ");
    m->add(out, m->limit);
    strbuf_add_cstr(out, " are used");
    if (m->spent < m->limit) {
        strbuf_add_cstr(out, ", and the next request may take ");
        m->add(out, m->next);
    }
}

/* --- what a limit that is reached means --- */

static struct err *warn(struct budget *b, struct str text)
{
    AUTO(strbuf) struct strbuf notice = {0};

    if (b->has_warned || !b->on_notice)
        return NULL;
    b->has_warned = true;
    strbuf_addf(&notice, "the budget is spent: %" STR_FMT "; the run goes on", STR_ARG(text));
    b->on_notice(b->self, strbuf_str(&notice));
    return NULL;
}

static struct err *exceed(struct budget *b, const struct measure *m, struct ask *ret_ask)
{
    AUTO(strbuf) struct strbuf text = {0};

    describe(m, &text);
    if (b->limits.on_exceed == BUDGET_WARNS)
        return warn(b, strbuf_str(&text));
    if (b->limits.on_exceed == BUDGET_ASKS && ret_ask) {
        arena_done(&b->arena);
        b->arena = (struct arena){0};
        *ret_ask = (struct ask){
            .kind = ASK_BUDGET,
            .text = arena_format(&b->arena, "%s. Go on, with as much again?", strbuf_cstr(&text))};
    }
    return err_hint(err_new(ERR_BUDGET_EXCEEDED, "%s", strbuf_cstr(&text)), "%s", m->raise);
}

/* --- attempts --- */

static struct reservation estimate(const struct attempt *a, int64_t prompt_tokens)
{
    const struct target *t = a->target;
    struct usage usage = {
        .input = MAX(prompt_tokens, (int64_t)0),
        .output = t->max_output > 0 ? MIN(t->max_output, BUDGET_USUAL_OUTPUT) : BUDGET_USUAL_OUTPUT,
        .cost_microcents = -1,
    };
    int64_t microcents = usage_cost_microcents(&usage, &t->price);

    return (struct reservation){a, usage_total(&usage), MAX(microcents, (int64_t)0)};
}

static int64_t tokens_of(const struct usage *u)
{
    return usage_is_known(u) ? usage_total(u) : 0;
}

/* Where the provider does not tell what it has cost either, a limit would be a pretence. */
static struct err *check_price(const struct budget *b, const struct attempt *a)
{
    if (!b->limits.microcents || b->limits.on_exceed == BUDGET_WARNS || b->spent.cost_is_known)
        return NULL;
    return err_hint(err_new(ERR_CONFIGURATION,
                            "--max-budget-usd cannot be kept: what %" STR_FMT " costs is not known",
                            STR_ARG(a->target->model)),
                    "the setting `pricing` tells it");
}

static struct err *check_request(struct budget *b, const struct reservation *next,
                                 struct ask *ret_ask)
{
    const struct budget_limits *l = &b->limits;
    int64_t tokens = tokens_of(&b->spent.usage), microcents = b->spent.microcents;

    for (size_t i = 0; i < b->n_reserved; i++) {
        tokens += b->reserved[i].tokens;
        microcents += b->reserved[i].microcents;
    }
    const struct measure measures[] = {
        {l->microcents, microcents, next->microcents, add_money,
         "--max-budget-usd or the setting budget.usd allows more"},
        {(int64_t)l->tokens, tokens, next->tokens, add_tokens,
         "--max-tokens-total or the setting budget.tokens allows more"},
        {(int64_t)l->rounds, (int64_t)b->spent.n_rounds, 1, add_rounds,
         "the setting budget.turns allows more"},
        {(int64_t)l->active_ms, (int64_t)active_ms(b), 0, add_time,
         "the setting budget.seconds allows more"},
        {b->has_refused_call ? (int64_t)l->tool_calls : 0, (int64_t)b->spent.n_tool_calls, 1,
         add_calls, MORE_CALLS},
    };
    for (size_t i = 0; i < ARRAY_LEN(measures); i++)
        if (is_over(b, &measures[i]))
            TRY(exceed(b, &measures[i], ret_ask));
    return NULL;
}

static struct err *reserve(void *self, const struct attempt *a, int64_t prompt_tokens,
                           struct ask *ret_ask)
{
    struct budget *b = self;
    struct reservation next = estimate(a, prompt_tokens);

    TRY(check_price(b, a));
    TRY(check_request(b, &next, ret_ask));
    b->spent.n_rounds += a->number == 1;
    if (b->n_reserved == b->reserved_room) {
        b->reserved_room = MAX(2 * b->reserved_room, (size_t)4);
        b->reserved = mem_resize(b->reserved, b->reserved_room * sizeof *b->reserved);
    }
    b->reserved[b->n_reserved++] = next;
    return NULL;
}

static void release(struct budget *b, const struct attempt *a)
{
    for (size_t i = 0; i < b->n_reserved; i++)
        if (b->reserved[i].attempt == a) {
            b->reserved[i] = b->reserved[--b->n_reserved];
            return;
        }
}

static void add_count(int64_t *total, int64_t n)
{
    if (n >= 0)
        *total = MAX(*total, (int64_t)0) + n;
}

static void settle(void *self, const struct attempt *a)
{
    struct budget *b = self;
    const struct usage *u = &a->reply->usage;

    release(b, a);
    add_count(&b->spent.usage.input, usage_fresh_input(u));
    add_count(&b->spent.usage.output, usage_completion(u));
    add_count(&b->spent.usage.cache_read, u->cache_read);
    add_count(&b->spent.usage.cache_write, u->cache_write);
    add_count(&b->spent.usage.reasoning, u->reasoning);
    add_count(&b->spent.microcents, a->cost_microcents);
    b->spent.cost_is_known &= a->cost_microcents >= 0 || (a->error && !usage_is_known(u));
}

struct attempt_budget budget_hooks(struct budget *b)
{
    return (struct attempt_budget){reserve, settle, b};
}

/* --- tool calls --- */

/* The model is told with the call's result; the next request then meets the limit. */
static struct err *before_tool(struct plugin *p, const struct plugin_run *run,
                               const struct event_tool *call)
{
    struct budget *b = (struct budget *)((char *)p - offsetof(struct budget, plugin));
    struct measure m = {(int64_t)b->limits.tool_calls, (int64_t)b->spent.n_tool_calls, 1, add_calls,
                        MORE_CALLS};
    struct err *e = is_over(b, &m) ? exceed(b, &m, NULL) : NULL;

    if (e)
        b->has_refused_call = true;
    else
        b->spent.n_tool_calls++;
    return e;
}

struct plugin *budget_plugin(struct budget *b)
{
    return &b->plugin;
}

/* --- its life --- */

void budget_init(struct budget *b, const struct budget_limits *limits)
{
    *b = (struct budget){
        .limits = *limits,
        .spent = {.usage = USAGE_UNKNOWN, .cost_is_known = true},
        .plugin = {.name = "budget",
                   .category = PLUGIN_LIMITS,
                   .priority = PRIORITY_MINIMAL,
                   .before_tool = before_tool},
    };
}

void budget_done(struct budget *b)
{
    mem_free(b->reserved);
    arena_done(&b->arena);
    *b = (struct budget){0};
}

void budget_begin_run(struct budget *b)
{
    b->began_ms = loop_now_ms(task_loop());
}

void budget_end_run(struct budget *b)
{
    b->spent.active_ms = active_ms(b);
    b->began_ms = 0;
}
