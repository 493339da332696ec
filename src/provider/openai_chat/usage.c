/* usage.c - reads token counts, cost and routes from Chat Completions answers.
 *
 * prompt_tokens includes cached tokens everywhere. Beyond that every vendor has its own names, so
 * each number is looked for at all its known places. */
#include "provider/openai_chat/openai_chat.h"

#define TICKS_PER_MICROCENT 100 /* a tick is 10^-10 dollars */

/* Dollars as a number, or as an object with details. With the user's own key, a router charges its
 * fee and the provider charges the rest. */
static void take_cost(struct usage *u, const struct json *usage)
{
    const struct json *cost = json_get(usage, "cost"), *details = json_get(usage, "cost_details");
    int64_t microcents, upstream = 0, ticks;

    if (money_from_usd(json_get(details, "upstream_inference_cost"), &upstream))
        usage_take_upstream(u, upstream);

    if (json_is(cost, JSON_OBJECT))
        cost = json_get(cost, "total_cost");
    if (!cost)
        cost = json_get(usage, "estimated_cost");
    if (money_from_usd(cost, &microcents)) {
        if (json_bool(json_get(usage, "is_byok"), false))
            microcents += upstream;
        usage_take_cost(u, microcents);
    } else if (json_int64(json_get(usage, "cost_in_usd_ticks"), &ticks) && ticks >= 0) {
        usage_take_cost(u, ticks / TICKS_PER_MICROCENT);
    }
}

/* Some vendors count reasoning in completion_tokens and some beside it; the total shows which. */
static bool lacks_reasoning(const struct usage *u, const struct json *usage)
{
    int64_t total = json_int_or(json_get(usage, "total_tokens"), -1);

    return u->reasoning > 0 && u->input >= 0 && u->output >= 0 && u->input <= total &&
           u->output <= total - u->input && total - u->input - u->output == u->reasoning;
}

static void take_counts(struct usage *u, const struct json *usage)
{
    const struct json *prompt = json_get(usage, "prompt_tokens_details");
    const struct json *completion = json_get(usage, "completion_tokens_details");

    usage_take_count(u, &u->input, json_get(usage, "prompt_tokens"));
    usage_take_count(u, &u->output, json_get(usage, "completion_tokens"));

    usage_take_count(u, &u->cache_read, json_get(usage, "cached_tokens"));
    usage_take_count(u, &u->cache_read, json_get(usage, "cache_read_input_tokens"));
    usage_take_count(u, &u->cache_read, json_get(usage, "prompt_cache_hit_tokens"));
    usage_take_count(u, &u->cache_read, json_get(prompt, "cached_tokens"));

    usage_take_count(u, &u->cache_write, json_get(usage, "cache_creation_input_tokens"));
    usage_take_count(u, &u->cache_write, json_get(prompt, "cache_creation_tokens"));
    usage_take_count(u, &u->cache_write, json_get(prompt, "cache_write_tokens"));

    usage_take_count(u, &u->reasoning, json_get(usage, "reasoning_tokens"));
    usage_take_count(u, &u->reasoning, json_get(completion, "reasoning_tokens"));

    u->input_includes_cache = true;
    u->output_lacks_reasoning = lacks_reasoning(u, usage);
    take_cost(u, usage);
}

void chat_take_usage(struct reply *r, const struct json *event)
{
    const struct json *places[] = {
        json_get(json_get(event, "x_groq"), "usage"),
        json_get(json_at(json_get(event, "choices"), 0), "usage"),
        json_get(event, "usage"),
    };

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (json_is(places[i], JSON_OBJECT))
            take_counts(&r->usage, places[i]);
}

static void take_name(struct reply *r, struct str *name, struct str value)
{
    if (value.n)
        reply_set_word(r, name, value);
}

void chat_take_route(struct reply *r, const struct json *event, const struct json *said)
{
    const struct json *gateway = json_get(json_get(said, "provider_metadata"), "gateway");
    const struct json *routing = json_get(gateway, "routing");
    struct str provider = json_get_text(event, "provider");

    if (provider.n) {
        take_name(r, &r->usage.routed_provider, provider);
        take_name(r, &r->usage.routed_model, json_get_text(event, "model"));
    }
    take_name(r, &r->usage.routed_provider, json_get_text(routing, "finalProvider"));
    take_name(r, &r->usage.routed_model, json_get_text(routing, "resolvedProviderApiModelId"));
}
