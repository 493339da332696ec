/* agent_targets.c - whom an agent asks, what that costs, and how long a question may be. */
#include "sdk/agent_parts.h"

#include "config/saved_catalogue.h"
#include "config/settings_keys.h"
#include "provider/endpoint.h"
#include "sys/loop.h"
#include "sys/work.h"

const struct setting_key target_settings[] = {
    {"promptCache", SETTING_STRING, .words = "5m, 1h, off",
     .help = "how long the provider caches the prompt: 5m, 1h or off (5m)"},
    {"pricing", SETTING_OBJECT, .help = "USD per million tokens: vendor/model to prices"},
    {"pricing.*", SETTING_OBJECT, .help = "one model's prices"},
    {"pricing.*.input", SETTING_USD, .help = "USD per million input tokens"},
    {"pricing.*.output", SETTING_USD, .help = "USD per million output tokens"},
    {"pricing.*.cacheRead", SETTING_USD, .help = "USD per million tokens read from the cache"},
    {"pricing.*.cacheWrite", SETTING_USD, .help = "USD per million tokens written to it"},
    {0},
};

/* --- caches --- */

static enum prompt_cache read_cache(const struct settings *s)
{
    static const char *const words[] = {
        [PROMPT_CACHE_OFF] = "off", [PROMPT_CACHE_SHORT] = "5m", [PROMPT_CACHE_LONG] = "1h"};
    struct str word = json_str(settings_get(s, "promptCache"));

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(word, words[i]))
            return (enum prompt_cache)i;
    return PROMPT_CACHE_SHORT;
}

/* --- prices --- */

static void take_price(const struct json *prices, const char *name, int64_t *price)
{
    int64_t microcents;

    if (money_from_usd(json_get(prices, name), &microcents))
        *price = microcents;
}

/* What is kept for an hour may cost more to write. */
static struct price priced_for(struct price price, enum prompt_cache cache)
{
    if (cache == PROMPT_CACHE_LONG && price.long_cache_percent && price.cache_write > 0)
        price.cache_write = price.cache_write / 100 * price.long_cache_percent;
    return price;
}

/* What the operator says about a model wins over the catalogue, number by number. Prices are
 * listed under vendor/model or profile/model. */
static struct price price_of(const struct settings *s, const struct profile *p,
                             enum prompt_cache cache, struct arena *a)
{
    const struct json *pricing = settings_get(s, "pricing");
    struct price price = priced_for(p->info.price, cache);
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

/* --- thresholds --- */

/* A value for a model, listed under its name, profile/model or vendor/model. */
static const struct json *find_for_model(const struct json *list, const struct profile *p,
                                         struct arena *a)
{
    const struct json *v = json_get_str(
        list, arena_format(a, "%" STR_FMT "/%" STR_FMT, STR_ARG(p->id), STR_ARG(p->model)));

    if (!v && p->vendor)
        v = json_get_str(list, arena_format(a, "%s/%" STR_FMT, p->vendor->name, STR_ARG(p->model)));
    return v ? v : json_get_str(list, p->model);
}

/* Checked when the session was opened (agent_session.c). */
static int compact_per_mille(const struct settings *s, const struct profile *p, struct arena *a)
{
    double share;

    if (!json_double(find_for_model(settings_get(s, "compact.models"), p, a), &share))
        return 0;
    return MAX((int)(share * 1000 + 0.5), 1);
}

/* --- windows --- */

#define OUTPUT_PART 4 /* of a window that a server told: so long is an answer at most */
#define LEARNED_FOR_MS ((int64_t)24 * 3600 * 1000) /* then it is asked again */

/* Is the size of its window anybody's guess? */
static bool is_unknown(const struct profile *p)
{
    return p && !p->info_is_known && !p->has_own_window;
}

static void use_learned(const struct profile *p, const struct learned_model *m, struct target *t)
{
    t->window = m->window;
    if (!p->has_own_output)
        t->max_output = MIN(m->max_output ? m->max_output : t->max_output, m->window / OUTPUT_PART);
}

static bool recall(const struct agent *a, const struct profile *p, struct learned_model *ret)
{
    return is_unknown(p) &&
           saved_catalogue_recall(a->project->place.keel_home, p->base_url, p->model, ret);
}

/* --- targets --- */

static struct target target_of(struct agent *a, const struct profile *p,
                               const struct provider *provider)
{
    const struct settings *s = a->project->settings;
    struct target t = {
        .provider = provider,
        .model = p->model,
        .info = p->info_is_known ? &p->info : NULL,
        .price = price_of(s, p, a->plan.cache, &a->arena),
        .max_attempts = p->max_attempts,
        .backoff = {p->backoff.first_ms, p->backoff.max_ms},
        .window = p->info_is_known && !p->has_own_window ? 0 : p->info.context_window,
        .max_output = p->info.max_output,
        .compact_per_mille = compact_per_mille(s, p, &a->arena),
        .idle_ms = p->idle_ms,
        .total_ms = p->total_ms,
        .options = p->options,
    };
    struct learned_model learned;

    if (recall(a, p, &learned))
        use_learned(p, &learned, &t);
    return t;
}

/* A target for a model by name, which may be another vendor's than the first. */
static struct err *make_target(struct agent *a, const char *model, struct target *ret_target,
                               const struct profile **ret_profile)
{
    struct profile_query query = project_query(a->project, model);
    struct profile *p = ARENA_NEW(&a->arena, struct profile);
    struct provider *provider = NULL;

    TRY(profile_resolve(a->project->settings, &query, &a->arena, p));
    TRY(profile_make_provider(p, &provider));
    a->providers = arena_grow(&a->arena, a->providers, a->n_providers, &a->providers_room,
                              sizeof(struct provider *));
    a->providers[a->n_providers++] = provider;
    *ret_target = target_of(a, p, provider);
    *ret_profile = p;
    return NULL;
}

static struct target first_target(struct agent *a, const struct provider *given)
{
    if (given)
        return (struct target){.provider = given, .model = given->id, .price = {-1, -1, -1, -1}};
    return target_of(a, &a->model->profile, a->model->provider);
}

static void set_lookup(struct agent *a, size_t target, const struct profile *p)
{
    a->lookups[target] = (struct model_lookup){.agent = a, .target = target, .profile = p};
}

static struct err *choose_model(struct agent *a, const struct agent_options *options)
{
    if (options->provider)
        return NULL;
    if (!options->model)
        return project_choose_model(a->project, NULL, &a->model);
    a->model = model_choice_ref(options->model);
    return NULL;
}

struct err *agent_add_targets(struct agent *a, const struct agent_options *options)
{
    size_t n = options->n_fallback_models;
    struct target *targets = ARENA_ARRAY(&a->arena, CHAIN_MAX_TARGETS, struct target);

    if (n >= CHAIN_MAX_TARGETS)
        return err_new(ERR_VALIDATION, "too many fallback models: %zu; the limit is %d", n,
                       CHAIN_MAX_TARGETS - 1);
    a->plan.cache = read_cache(a->project->settings);
    a->lookups = ARENA_ARRAY(&a->arena, CHAIN_MAX_TARGETS, struct model_lookup);
    a->asks_models = !options->provider;
    TRY(choose_model(a, options));
    targets[0] = first_target(a, options->provider);
    set_lookup(a, 0, options->provider ? NULL : &a->model->profile);
    for (size_t i = 0; i < n; i++) {
        const struct profile *p = NULL;
        struct err *e = make_target(a, options->fallback_models[i], &targets[i + 1], &p);

        if (e)
            return err_wrap(e, "--fallback-model %s", options->fallback_models[i]);
        set_lookup(a, i + 1, p);
    }
    a->plan.targets = targets;
    a->plan.n_targets = n + 1;
    return NULL;
}

static bool is_same(const struct target *a, const struct target *b)
{
    return str_eq(a->model, b->model) && str_eq(a->provider->id, b->provider->id);
}

/* A new array is a new chain; a run may still be using the old one. */
struct err *agent_set_model(struct agent *a, const char *model)
{
    struct target *targets =
        arena_copy(&a->arena, a->plan.targets, a->plan.n_targets * sizeof *targets);
    const struct profile *p = &a->model->profile;

    if (model)
        TRY(make_target(a, model, &targets[0], &p));
    else
        targets[0] = first_target(a, NULL);
    set_lookup(a, 0, p);
    if (a->session.has_begun && !is_same(&targets[0], &a->plan.targets[0]))
        session_note_model(&a->session, targets[0].provider->id, targets[0].model);
    a->plan.targets = targets;
    return NULL;
}

/* --- an unknown model --- */

/* A round works with what it began with. A new array is a new chain, and the text is told with it:
 * one of them a round. */
void agent_use_learned(struct agent *a)
{
    struct model_lookup *l = a->lookups;
    struct target *targets;

    while (l < a->lookups + a->plan.n_targets && !l->is_done)
        l++;
    if (l == a->lookups + a->plan.n_targets)
        return;
    l->is_done = false;
    a->plan.note = l->note;
    if (!l->window)
        return;
    targets = arena_copy(&a->arena, a->plan.targets, a->plan.n_targets * sizeof *targets);
    targets[l->target].window = l->window;
    targets[l->target].max_output = l->max_output;
    a->plan.targets = targets;
}

static void adopt(struct model_lookup *l, const struct learned_model *m)
{
    const struct target *now = &l->agent->plan.targets[l->target];
    struct target learned = *now;

    use_learned(l->profile, m, &learned);
    if (learned.window == now->window && learned.max_output == now->max_output)
        return;
    l->window = learned.window;
    l->max_output = learned.max_output;
    l->note = arena_format(&l->agent->arena, PLAN_NOTE_FORMAT, STR_ARG(l->profile->model),
                           (long long)l->window, (long long)l->max_output);
    l->is_done = true;
}

struct learning {
    const char *home;
    struct str base_url, model;
    struct learned_model learned;
};

static struct err *learn(void *arg)
{
    const struct learning *l = arg;

    return saved_catalogue_learn(l->home, l->base_url, l->model, &l->learned);
}

static struct err *ask_about_model(struct agent *a, const struct profile *p,
                                   const struct provider *provider, struct learned_model *ret)
{
    AUTO(arena) struct arena scratch = {0};
    struct provider_call call = project_provider_call(a->project, &a->model->profile);
    struct model_info info;

    TRY(endpoint_ask_model(provider, &call, p->model, &scratch, &info));
    *ret = (struct learned_model){info.context_window, info.max_output,
                                  clock_unix_ms(loop_clock(task_loop()))};
    if (!learned_model_check(ret))
        return err_new(ERR_BAD_RESPONSE, "the server does not report its context window");
    return NULL;
}

/* A task beside the run. What fails costs nothing but the knowledge. Another model may have taken
 * the place of this one meanwhile. */
static struct err *agent_lookup(void *arg)
{
    struct model_lookup *l = arg;
    struct agent *a = l->agent;
    const struct profile *p = l->profile;
    struct learning found = {a->project->place.keel_home, p->base_url, p->model, {0}};
    AUTO(err)
    struct err *e = ask_about_model(a, p, a->plan.targets[l->target].provider, &found.learned);
    AUTO_FREE char *why = e ? err_message(e) : NULL;

    if (err_is(e, ERR_CANCELLED) || p != l->profile)
        return NULL;
    if (e) {
        l->note = arena_format(&a->arena, "the context window of %" STR_FMT " is unknown: %s",
                               STR_ARG(p->model), why);
        l->is_done = true;
        return NULL;
    }
    adopt(l, &found.learned);
    err_ignore(work_run(learn, &found), "the next run asks again");
    return NULL;
}

static struct model_lookup *find_lookup(const struct agent *a, const struct model_request *r)
{
    for (size_t i = 0; i < a->plan.n_targets; i++)
        if (str_eq(a->plan.targets[i].model, r->model) &&
            str_eq(a->plan.targets[i].provider->id, r->provider))
            return &a->lookups[i];
    return NULL;
}

/* The request leaves next: a server that takes one connection at a time sees it first. */
static void agent_begin_lookup(void *self, const struct event *e)
{
    struct agent *a = self;

    if (e->type == EVENT_PROVIDER_REQUEST)
        a->asked = find_lookup(a, e->body.request.request);
    if (e->type != EVENT_NATIVE_PAYLOAD || e->body.payload->kind != PAYLOAD_REQUEST || !a->asked ||
        !a->asked->is_wanted)
        return;
    a->asked->is_wanted = false;
    group_spawn(&a->lookup, "model lookup", agent_lookup, a->asked);
}

/* Does a run that begins have to ask about it? What was learned not long ago is known. */
static bool is_unasked(const struct agent *a, const struct profile *p)
{
    struct learned_model known;

    return is_unknown(p) &&
           !(recall(a, p, &known) &&
             clock_unix_ms(loop_clock(task_loop())) - known.unix_ms < LEARNED_FOR_MS);
}

void agent_look_up_models(struct agent *a)
{
    bool wants_any = false;

    if (!a->asks_models || !a->has_lookup)
        return;
    for (size_t i = 0; i < a->plan.n_targets; i++) {
        struct model_lookup *l = &a->lookups[i];

        if (!l->was_considered)
            l->is_wanted = is_unasked(a, l->profile);
        l->was_considered = true;
        wants_any |= l->is_wanted;
    }
    event_stream_unsubscribe(&a->lookup_starter);
    a->lookup_starter = (struct event_subscriber){.on_event = agent_begin_lookup, .self = a};
    if (wants_any)
        event_stream_subscribe(&a->session.conversation.stream, &a->lookup_starter);
}
