/* agent_targets.c - whom an agent asks, and what that costs. */
#include "sdk/agent_parts.h"

/* --- prices --- */

static void take_price(const struct json *prices, const char *name, int64_t *price)
{
    int64_t microcents;

    if (money_from_usd(json_get(prices, name), &microcents))
        *price = microcents;
}

/* What the operator says about a model wins over the catalogue, number by number. Prices are
 * listed under vendor/model or profile/model. */
static struct price price_of(const struct settings *s, const struct profile *p, struct arena *a)
{
    const struct json *pricing = settings_get(s, "pricing");
    struct price price = p->info.price;
    const struct json *prices = json_get_str(
        pricing, arena_format(a, "%" STR_FMT "/%" STR_FMT, STR_ARG(p->id), STR_ARG(p->model)));

    if (!prices && p->vendor)
        prices = json_get_str(pricing,
                              arena_format(a, "%s/%" STR_FMT, p->vendor->name, STR_ARG(p->model)));
    if (!prices)
        return price;
    price.long_from = 0;
    take_price(prices, "input", &price.input);
    take_price(prices, "output", &price.output);
    take_price(prices, "cacheRead", &price.cache_read);
    take_price(prices, "cacheWrite", &price.cache_write);
    return price;
}

/* --- targets --- */

static struct target target_of(struct agent *a, const struct profile *p,
                               const struct provider *provider)
{
    return (struct target){
        .provider = provider,
        .model = p->model,
        .info = p->info_is_known ? &p->info : NULL,
        .price = price_of(a->runtime->settings, p, &a->arena),
        .max_attempts = p->max_attempts,
        .window = p->info.context_window,
        .max_output = p->info.max_output,
        .idle_ms = p->idle_ms,
        .options = p->options,
    };
}

/* Each fallback has its own profile, so it may be another vendor's. */
static struct err *add_fallback(struct agent *a, const char *model)
{
    const struct runtime *r = a->runtime;
    struct profile_query query = {.model = model, .environment = r->options.environment};
    struct profile *p = ARENA_NEW(&a->arena, struct profile);
    struct provider **provider = &a->fallback_providers[a->plan.n_targets];
    struct err *e = profile_resolve(r->settings, &query, &a->arena, p);

    if (!e)
        e = profile_make_provider(p, provider);
    if (e)
        return err_wrap(e, "--fallback-model %s", model);
    a->targets[a->plan.n_targets++] = target_of(a, p, *provider);
    return NULL;
}

struct err *agent_add_targets(struct agent *a, const struct agent_options *options)
{
    a->asks_runtime = !options->provider;
    a->plan.targets = a->targets;
    a->plan.n_targets = 1;
    if (options->provider)
        a->targets[0] = (struct target){.provider = options->provider,
                                        .model = options->provider->id,
                                        .price = {-1, -1, -1, -1}};
    else
        a->targets[0] = target_of(a, &a->runtime->profile, a->runtime->provider);
    if (options->n_fallback_models >= CHAIN_MAX_TARGETS)
        return err_new(ERR_VALIDATION, "there are %zu fallback models; %d is the most",
                       options->n_fallback_models, CHAIN_MAX_TARGETS - 1);
    for (size_t i = 0; i < options->n_fallback_models; i++)
        TRY(add_fallback(a, options->fallback_models[i]));
    return NULL;
}
