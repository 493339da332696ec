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
        .backoff = {p->backoff.first_ms, p->backoff.max_ms},
        .window = p->info.context_window,
        .max_output = p->info.max_output,
        .idle_ms = p->idle_ms,
        .total_ms = p->total_ms,
        .options = p->options,
    };
}

/* A target for a model by name, which may be another vendor's than the runtime's. */
static struct err *make_target(struct agent *a, const char *model, struct target *ret_target)
{
    const struct runtime *r = a->runtime;
    struct profile_query query = {.model = model, .environment = r->options.environment};
    struct profile *p = ARENA_NEW(&a->arena, struct profile);
    struct provider *provider = NULL;

    TRY(profile_resolve(r->settings, &query, &a->arena, p));
    TRY(profile_make_provider(p, &provider));
    a->providers = arena_grow(&a->arena, a->providers, a->n_providers, &a->providers_room,
                              sizeof(struct provider *));
    a->providers[a->n_providers++] = provider;
    *ret_target = target_of(a, p, provider);
    return NULL;
}

static struct target first_target(struct agent *a, const struct provider *given)
{
    if (given)
        return (struct target){.provider = given, .model = given->id, .price = {-1, -1, -1, -1}};
    return target_of(a, &a->runtime->profile, a->runtime->provider);
}

struct err *agent_add_targets(struct agent *a, const struct agent_options *options)
{
    size_t n = options->n_fallback_models;
    struct target *targets = ARENA_ARRAY(&a->arena, CHAIN_MAX_TARGETS, struct target);

    if (n >= CHAIN_MAX_TARGETS)
        return err_new(ERR_VALIDATION, "there are %zu fallback models; %d is the most", n,
                       CHAIN_MAX_TARGETS - 1);
    a->asks_runtime = !options->provider;
    targets[0] = first_target(a, options->provider);
    for (size_t i = 0; i < n; i++) {
        struct err *e = make_target(a, options->fallback_models[i], &targets[i + 1]);

        if (e)
            return err_wrap(e, "--fallback-model %s", options->fallback_models[i]);
    }
    a->plan.targets = targets;
    a->plan.n_targets = n + 1;
    return NULL;
}

/* A new array is a new chain; a run may still be using the old one. */
struct err *agent_set_model(struct agent *a, const char *model)
{
    struct target *targets =
        arena_copy(&a->arena, a->plan.targets, a->plan.n_targets * sizeof *targets);

    if (model)
        TRY(make_target(a, model, &targets[0]));
    else
        targets[0] = first_target(a, NULL);
    a->plan.targets = targets;
    return NULL;
}
