/* usage.h - the cost of a call in tokens and money.
 *
 * The numbers are the provider's; -1 means not reported. Providers count differently, and the flags
 * say how, so that usage_total() means the same everywhere. Money is in micro-cents: 1 USD =
 * 100,000,000.
 *
 * An impossible number (negative, not whole, beyond USAGE_MAX_COUNT) counts as not reported. If it
 * is the count of the prompt or the answer, the whole report is ignored: a call must not look cheap
 * because of a nonsensical count. */
#ifndef KEEL_MODEL_USAGE_H
#define KEEL_MODEL_USAGE_H

#include "base/json.h"

#define MICROCENTS_PER_USD 100000000
#define USAGE_MAX_COUNT ((int64_t)100000000)                 /* tokens of one call */
#define USAGE_MAX_COST ((int64_t)10000 * MICROCENTS_PER_USD) /* of one call */

struct usage {
    int64_t input, output;
    int64_t cache_read, cache_write;
    int64_t reasoning;
    int64_t web_searches;        /* billed searches of the provider's own; 0: none */
    int64_t tool_input;          /* input from the provider's own tools, on top of input */
    bool input_includes_cache;   /* input includes cache reads (and writes) */
    bool output_lacks_reasoning; /* reasoning tokens are on top of output */
    bool is_nonsense;            /* a count was impossible; usage_settle() then drops all of them */
    int64_t cost_microcents;     /* as reported by the provider; -1 if not */
    int64_t upstream_microcents; /* what a router says that the model's provider took; 0: nothing */
    struct str routed_provider;  /* the provider that answered, if a router reports it */
    struct str routed_model;     /* the model that answered, if it is not the requested one */
};

#define USAGE_UNKNOWN                                                                              \
    ((struct usage){.input = -1,                                                                   \
                    .output = -1,                                                                  \
                    .cache_read = -1,                                                              \
                    .cache_write = -1,                                                             \
                    .reasoning = -1,                                                               \
                    .tool_input = -1,                                                              \
                    .cost_microcents = -1})

/* Reads a count, a number or digits, into `at`, a member of `u`. Ignores NULL, null and texts. */
void usage_take_count(struct usage *u, int64_t *at, const struct json *count);
/* Reads the reported cost; an impossible one stays unknown. */
void usage_take_cost(struct usage *u, int64_t microcents);
void usage_take_upstream(struct usage *u, int64_t microcents);
/* Call it when all counts are read. All counts of a report become unknown if one is impossible, or
 * more than USAGE_MAX_WINDOWS times the model's window; 0: the window is unknown. */
#define USAGE_MAX_WINDOWS 16
void usage_settle(struct usage *u, int64_t window);
/* Every request has a prompt, and an answer with text has tokens: zeros are not counts, and a zero
 * cost is then unknown too. For billing; decoders report the provider's values. */
void usage_doubt_zeros(struct usage *u, bool has_answer);

bool usage_is_known(const struct usage *u);
/* Prompt tokens that were neither read from a cache nor written to one. */
int64_t usage_fresh_input(const struct usage *u);
int64_t usage_prompt(const struct usage *u);     /* fresh + cache read + cache write */
int64_t usage_completion(const struct usage *u); /* output, reasoning included */
int64_t usage_total(const struct usage *u);

/* Micro-cents per million tokens; -1: unknown. Some vendors charge more for a whole call if its
 * prompt has more than `long_from` tokens: long_input_percent of the price for the prompt,
 * long_output_percent for the answer. 0: no such rule. `search` is the price of one search of the
 * provider's own, in micro-cents; 0: unknown, or free. `search_request` is the price of a request
 * with any number of searches. */
struct price {
    int64_t input, output, cache_read, cache_write;
    int64_t long_from, long_input_percent, long_output_percent;
    int64_t search, search_request;
    /* The price of cache_write if the cache is kept for an hour; 0: the same. */
    int64_t long_cache_percent;
};
/* Rounded up to whole micro-cents. A reported cost wins. -1: the price is unknown. */
int64_t usage_cost_microcents(const struct usage *u, const struct price *p);

/* A decimal amount of dollars in micro-cents; false: not an amount, or too large. */
bool money_from_usd(const struct json *amount, int64_t *ret_microcents);

#endif
