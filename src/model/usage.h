/* usage.h - what a call cost in tokens and money.
 *
 * The numbers are the provider's own; -1 means that it did not say. Providers count differently,
 * and the flags say how, so that usage_total() means the same everywhere. Money is in micro-cents:
 * 1 USD = 100,000,000.
 *
 * A number that no provider can mean (negative, not whole, beyond USAGE_MAX_COUNT) is as if it had
 * not been said. Where it is the prompt's or the answer's, nothing of the report is believed: a
 * call must not look cheap because its count was nonsense. */
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
    int64_t web_searches;        /* of the provider's own, which it charges for; 0: none */
    int64_t tool_input;          /* what the provider's own tools fed the model, on top of input */
    bool input_includes_cache;   /* input counts cache reads (and writes) too */
    bool output_lacks_reasoning; /* reasoning tokens come on top of output */
    bool is_nonsense;            /* a count was; usage_settle() then forgets all of them */
    int64_t cost_microcents;     /* as the provider reported it; -1 if it did not */
    int64_t upstream_microcents; /* what a router says that the model's provider took; 0: nothing */
    struct str routed_provider;  /* who really answered, where a router says so */
    struct str routed_model;     /* the model that did, where it is not the one that was asked */
};

#define USAGE_UNKNOWN                                                                              \
    ((struct usage){.input = -1,                                                                   \
                    .output = -1,                                                                  \
                    .cache_read = -1,                                                              \
                    .cache_write = -1,                                                             \
                    .reasoning = -1,                                                               \
                    .tool_input = -1,                                                              \
                    .cost_microcents = -1})

/* A count as number or digits into `at`, a member of `u`. NULL, null and texts leave it. */
void usage_take_count(struct usage *u, int64_t *at, const struct json *count);
/* A cost as the provider reports it; one that no call can have leaves it unknown. */
void usage_take_cost(struct usage *u, int64_t microcents);
void usage_take_upstream(struct usage *u, int64_t microcents);
/* When all counts are in: those of a report with nonsense in it become unknown. So do those of
 * more than USAGE_MAX_WINDOWS times the model's window; 0: it is not known. */
#define USAGE_MAX_WINDOWS 16
void usage_settle(struct usage *u, int64_t window);
/* Every request has a prompt, and an answer that says something has tokens: zeros are no count of
 * them, and a call that cost nothing then was not counted either. For who pays by the count; a
 * decoder says what the provider said. */
void usage_doubt_zeros(struct usage *u, bool has_answer);

bool usage_is_known(const struct usage *u);
/* Prompt tokens that were neither read from a cache nor written to one. */
int64_t usage_fresh_input(const struct usage *u);
int64_t usage_prompt(const struct usage *u);     /* fresh + cache read + cache write */
int64_t usage_completion(const struct usage *u); /* output, reasoning included */
int64_t usage_total(const struct usage *u);

/* Micro-cents per million tokens; -1 where unknown. Some vendors charge more for a whole call once
 * its prompt has more than `long_from` tokens: all of the prompt at long_input_percent of the
 * price, the answer at long_output_percent. 0: they do not. `search` is the price of one search of
 * the provider's own, in micro-cents; 0: it is not known, or free. `search_request` is that of a
 * request with any number of searches, where that is what they charge for. */
struct price {
    int64_t input, output, cache_read, cache_write;
    int64_t long_from, long_input_percent, long_output_percent;
    int64_t search, search_request;
    /* Of cache_write, where the cache is kept for an hour; 0: it costs the same. */
    int64_t long_cache_percent;
};
/* Rounded up to whole micro-cents; the reported cost wins; -1 when the price is unknown. */
int64_t usage_cost_microcents(const struct usage *u, const struct price *p);

/* A decimal amount of dollars in micro-cents; false when it is no amount or too large. */
bool money_from_usd(const struct json *amount, int64_t *ret_microcents);

#endif
