/* usage.c - makes token counts comparable, and computes their price in whole micro-cents. */
#include "model/usage.h"

#include <math.h>

static int64_t or_zero(int64_t n)
{
    return n > 0 ? MIN(n, USAGE_MAX_COUNT) : 0;
}

/* --- what a provider reports --- */

void usage_take_count(struct usage *u, int64_t *at, const struct json *count)
{
    bool is_digits =
        json_str(count).n && str_find_char(S("-0123456789"), count->text.p[0]) != STR_NONE;
    int64_t n = -1;

    if (!json_is(count, JSON_NUMBER) && !is_digits)
        return;
    if (!json_int64(count, &n) && !str_to_int64(json_str(count), &n))
        n = -1;
    if (n >= 0 && n <= USAGE_MAX_COUNT) {
        *at = n;
        return;
    }
    *at = -1;
    u->is_nonsense |= at == &u->input || at == &u->output;
}

void usage_take_cost(struct usage *u, int64_t microcents)
{
    u->cost_microcents = microcents >= 0 && microcents <= USAGE_MAX_COST ? microcents : -1;
}

void usage_take_upstream(struct usage *u, int64_t microcents)
{
    u->upstream_microcents = microcents >= 0 && microcents <= USAGE_MAX_COST ? microcents : 0;
}

void usage_settle(struct usage *u, int64_t window)
{
    int64_t most = window > 0 ? window * USAGE_MAX_WINDOWS : INT64_MAX;

    if (u->is_nonsense || usage_prompt(u) > most || usage_completion(u) > most) {
        u->input = u->output = u->cache_read = u->cache_write = u->reasoning = u->tool_input = -1;
        u->is_nonsense = false;
    }
    if (!usage_is_known(u)) /* the way they are counted means nothing then, and is not stored */
        u->input_includes_cache = u->output_lacks_reasoning = false;
}

void usage_doubt_zeros(struct usage *u, bool has_answer)
{
    if (has_answer && usage_completion(u) == 0)
        u->output = -1;
    if (!usage_is_known(u) || usage_prompt(u) > 0)
        return;
    u->input = -1;
    if (usage_completion(u) > 0)
        return;
    u->output = u->cache_read = u->cache_write = u->reasoning = u->tool_input = -1;
    u->input_includes_cache = u->output_lacks_reasoning = false;
    if (u->cost_microcents == 0)
        u->cost_microcents = -1;
}

/* --- what it comes to --- */

bool usage_is_known(const struct usage *u)
{
    return u->input >= 0 || u->output >= 0;
}

int64_t usage_fresh_input(const struct usage *u)
{
    int64_t input = or_zero(u->input);

    if (u->input_includes_cache)
        input = or_zero(input - or_zero(u->cache_read) - or_zero(u->cache_write));
    return input + or_zero(u->tool_input);
}

int64_t usage_prompt(const struct usage *u)
{
    return usage_fresh_input(u) + or_zero(u->cache_read) + or_zero(u->cache_write);
}

int64_t usage_completion(const struct usage *u)
{
    return or_zero(u->output) + (u->output_lacks_reasoning ? or_zero(u->reasoning) : 0);
}

int64_t usage_total(const struct usage *u)
{
    return usage_prompt(u) + usage_completion(u);
}

/* If the price of a cache kind is unknown, the price of plain input applies: never too cheap for
 * reads. */
static __int128 part_cost(int64_t n_tokens, int64_t price, int64_t otherwise)
{
    return (__int128)n_tokens * (price >= 0 ? price : otherwise);
}

static __int128 prompt_cost(const struct usage *u, const struct price *p)
{
    return part_cost(usage_fresh_input(u), p->input, 0) +
           part_cost(or_zero(u->cache_read), p->cache_read, p->input) +
           part_cost(or_zero(u->cache_write), p->cache_write, p->input);
}

int64_t usage_cost_microcents(const struct usage *u, const struct price *p)
{
    bool is_long = p->long_from > 0 && usage_prompt(u) > p->long_from;
    __int128 total, cost;

    if (u->cost_microcents >= 0)
        return u->cost_microcents;
    if (p->input < 0 || p->output < 0 || !usage_is_known(u))
        return -1;
    total = prompt_cost(u, p) * (is_long ? p->long_input_percent : 100) +
            part_cost(usage_completion(u), p->output, 0) * (is_long ? p->long_output_percent : 100);
    cost = (total + 99999999) / 100000000 + (__int128)or_zero(u->web_searches) * p->search;
    if (u->web_searches > 0)
        cost += p->search_request;
    return cost > INT64_MAX ? INT64_MAX : (int64_t)cost;
}

bool money_from_usd(const struct json *amount, int64_t *ret_microcents)
{
    double usd;

    if (!json_double(amount, &usd) || !(usd >= 0) || usd > 1e9)
        return false;
    *ret_microcents = (int64_t)llround(usd * MICROCENTS_PER_USD);
    return true;
}
