/* targets.c - whom an agent asks, what that costs, and how long a question may be. */
#include "sdk/agent/parts.h"

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
                             enum prompt_cache cache)
{
    AUTO(arena) struct arena a = {0};
    const struct json *pricing = settings_get(s, "pricing");
    struct price price = priced_for(p->info.price, cache);
    const struct json *prices = json_get_str(
        pricing, arena_format(&a, "%" STR_FMT "/%" STR_FMT, STR_ARG(p->id), STR_ARG(p->model)));

    if (!prices && p->vendor)
        prices = json_get_str(pricing,
                              arena_format(&a, "%s/%" STR_FMT, p->vendor->name, STR_ARG(p->model)));
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
static const struct json *find_for_model(const struct json *list, const struct profile *p)
{
    AUTO(arena) struct arena a = {0};
    const struct json *v = json_get_str(
        list, arena_format(&a, "%" STR_FMT "/%" STR_FMT, STR_ARG(p->id), STR_ARG(p->model)));

    if (!v && p->vendor)
        v = json_get_str(list,
                         arena_format(&a, "%s/%" STR_FMT, p->vendor->name, STR_ARG(p->model)));
    return v ? v : json_get_str(list, p->model);
}

/* Checked when the session was opened (session.c). */
static int compact_per_mille(const struct settings *s, const struct profile *p)
{
    double share;

    if (!json_double(find_for_model(settings_get(s, "compact.models"), p), &share))
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

static struct target target_of(const struct agent *a, const struct model_choice *m)
{
    const struct settings *s = a->project->settings;
    const struct profile *p = &m->profile;
    struct target t = {
        .provider = m->provider,
        .model = p->model,
        .info = p->info_is_known ? &p->info : NULL,
        .price = price_of(s, p, a->plan->plan.cache),
        .max_attempts = p->max_attempts,
        .backoff = {p->backoff.first_ms, p->backoff.max_ms},
        .window = p->info_is_known && !p->has_own_window ? 0 : p->info.context_window,
        .max_output = p->info.max_output,
        .compact_per_mille = compact_per_mille(s, p),
        .idle_ms = p->idle_ms,
        .total_ms = p->total_ms,
        .options = p->options,
    };
    struct learned_model learned;

    if (recall(a, p, &learned))
        use_learned(p, &learned, &t);
    return t;
}

static void set_target(const struct agent *a, struct plan_chain *c, size_t i,
                       struct model_choice *take_model)
{
    model_choice_unref(c->models[i]);
    c->models[i] = take_model;
    c->targets[i] = target_of(a, take_model);
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

static struct err *add_fallbacks(struct agent *a, const struct agent_options *options,
                                 struct plan_chain *c)
{
    for (size_t i = 0; i < options->n_fallback_models; i++) {
        struct model_choice *m;
        struct err *e = project_choose_model(a->project, options->fallback_models[i], &m);

        if (e)
            return err_wrap(e, "--fallback-model %s", options->fallback_models[i]);
        set_target(a, c, i + 1, m);
    }
    return NULL;
}

struct err *agent_add_targets(struct agent *a, const struct agent_options *options)
{
    AUTO(plan_chain) struct plan_chain *c = NULL;
    const struct provider *given = options->provider;
    size_t n = options->n_fallback_models;

    if (n >= CHAIN_MAX_TARGETS)
        return err_new(ERR_VALIDATION, "too many fallback models: %zu; the limit is %d", n,
                       CHAIN_MAX_TARGETS - 1);
    a->plan->plan.cache = read_cache(a->project->settings);
    TRY(choose_model(a, options));
    c = plan_chain_new(n + 1);
    if (given)
        c->targets[0] =
            (struct target){.provider = given, .model = given->id, .price = {-1, -1, -1, -1}};
    else
        set_target(a, c, 0, model_choice_ref(a->model));
    TRY(add_fallbacks(a, options, c));
    agent_plan_set_chain(a->plan, TAKE(c));
    return NULL;
}

static bool is_same(const struct target *a, const struct target *b)
{
    return str_eq(a->model, b->model) && str_eq(a->provider->id, b->provider->id);
}

struct err *agent_set_model(struct agent *a, const char *model)
{
    struct model_choice *chosen;
    struct agent_plan *next;
    struct plan_chain *c;

    if (model)
        TRY(project_choose_model(a->project, model, &chosen));
    else if (a->model)
        chosen = model_choice_ref(a->model);
    else
        return NULL; /* the caller's provider is asked, and nothing else */
    c = plan_chain_copy(a->plan->chain);
    set_target(a, c, 0, chosen);
    if (a->session.has_begun && !is_same(&c->targets[0], &a->plan->chain->targets[0]))
        session_note_model(&a->session, c->targets[0].provider->id, c->targets[0].model);
    next = agent_plan_copy(a->plan);
    agent_plan_set_chain(next, c);
    agent_swap_plan(a, next);
    return NULL;
}

/* --- an unknown model --- */

/* What is found out about one of them, once for an agent that asks it. */
struct model_lookup {
    struct agent *agent;
    struct model_choice *model;
    bool is_wanted;               /* once a request to it is on its way */
    bool is_running;              /* its task */
    bool is_done;                 /* and the plan does not have it yet */
    char *note;                   /* what came of it, for the plan */
    struct learned_model learned; /* window 0: nothing */
    struct model_lookup *next;
};

static void model_lookup_free(struct model_lookup *l)
{
    model_choice_unref(l->model);
    mem_free(l->note);
    mem_free(l);
}

static struct model_lookup *find_lookup(const struct agent *a, const struct model_choice *m)
{
    struct model_lookup *l = a->lookups;

    while (l && l->model != m)
        l = l->next;
    return l;
}

/* The place of a model in the chain of now; that many there are: another has taken it. */
static size_t place_of(const struct agent *a, const struct model_choice *m)
{
    const struct plan_chain *c = a->plan->chain;
    size_t i = 0;

    while (i < c->n && c->models[i] != m)
        i++;
    return i;
}

/* A round works with what it began with. A new array is a new chain, which has forgotten who rests:
 * there is one only if something was learned. The text goes with it, one of them a round. */
void agent_use_learned(struct agent *a)
{
    struct model_lookup *l = a->lookups;
    struct agent_plan *next;
    size_t i;

    while (l && !l->is_done)
        l = l->next;
    if (!l)
        return;
    l->is_done = false;
    i = place_of(a, l->model);
    if (i == a->plan->chain->n)
        return;
    next = agent_plan_copy(a->plan);
    agent_plan_set_note(next, str_of(l->note));
    if (l->learned.window) {
        agent_plan_set_chain(next, plan_chain_copy(a->plan->chain));
        use_learned(&l->model->profile, &l->learned, &next->chain->targets[i]);
    }
    agent_swap_plan(a, next);
}

static void keep_note(struct model_lookup *l, struct str text)
{
    mem_free(l->note);
    l->note = str_dup(text);
    l->is_done = true;
}

static void adopt(struct model_lookup *l, const struct learned_model *m)
{
    const struct plan_chain *c = l->agent->plan->chain;
    size_t i = place_of(l->agent, l->model);
    AUTO(strbuf) struct strbuf note = {0};
    struct target learned;

    if (i == c->n)
        return;
    learned = c->targets[i];
    use_learned(&l->model->profile, m, &learned);
    if (learned.window == c->targets[i].window && learned.max_output == c->targets[i].max_output)
        return;
    l->learned = *m;
    strbuf_addf(&note, PLAN_NOTE_FORMAT, STR_ARG(l->model->profile.model),
                (long long)learned.window, (long long)learned.max_output);
    keep_note(l, strbuf_str(&note));
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

static struct err *ask_about_model(const struct model_lookup *l, struct learned_model *ret)
{
    AUTO(arena) struct arena scratch = {0};
    const struct agent *a = l->agent;
    struct provider_call call = project_provider_call(a->project, &a->model->profile);
    struct model_info info;

    TRY(endpoint_ask_model(l->model->provider, &call, l->model->profile.model, &scratch, &info));
    *ret = (struct learned_model){info.context_window, info.max_output,
                                  clock_unix_ms(loop_clock(task_loop()))};
    if (!learned_model_check(ret))
        return err_new(ERR_BAD_RESPONSE, "the server does not report its context window");
    return NULL;
}

/* What fails costs nothing but the knowledge. */
static void look_up(struct model_lookup *l)
{
    const struct profile *p = &l->model->profile;
    struct learning found = {l->agent->project->place.keel_home, p->base_url, p->model, {0}};
    AUTO(err) struct err *e = ask_about_model(l, &found.learned);
    AUTO_FREE char *why = e ? err_message(e) : NULL;
    AUTO(strbuf) struct strbuf note = {0};

    if (err_is(e, ERR_CANCELLED))
        return;
    if (e) {
        strbuf_addf(&note, "the context window of %" STR_FMT " is unknown: %s", STR_ARG(p->model),
                    why);
        keep_note(l, strbuf_str(&note));
        return;
    }
    adopt(l, &found.learned);
    err_ignore(work_run(learn, &found), "the next run asks again");
}

/* A task beside the run. */
static struct err *agent_lookup(void *arg)
{
    struct model_lookup *l = arg;

    look_up(l);
    l->is_running = false;
    return NULL;
}

static struct model_lookup *lookup_of_request(const struct agent *a, const struct model_request *r)
{
    struct model_lookup *l = a->lookups;

    while (l && !(str_eq(l->model->profile.model, r->model) &&
                  str_eq(l->model->provider->id, r->provider)))
        l = l->next;
    return l;
}

/* The request leaves next: a server that takes one connection at a time sees it first. */
static void agent_begin_lookup(void *self, const struct event *e)
{
    struct agent *a = self;

    if (e->type == EVENT_PROVIDER_REQUEST)
        a->asked = lookup_of_request(a, e->body.request.request);
    if (e->type != EVENT_NATIVE_PAYLOAD || e->body.payload->kind != PAYLOAD_REQUEST || !a->asked ||
        !a->asked->is_wanted)
        return;
    a->asked->is_wanted = false;
    a->asked->is_running = true;
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

/* Those of models that are not asked any more. */
static void drop_lookups(struct agent *a)
{
    struct model_lookup **at = &a->lookups;

    while (*at) {
        struct model_lookup *l = *at;

        if (l->is_running || place_of(a, l->model) < a->plan->chain->n) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        model_lookup_free(l);
    }
}

static void add_lookups(struct agent *a)
{
    const struct plan_chain *c = a->plan->chain;

    for (size_t i = 0; i < c->n; i++) {
        struct model_lookup *l;

        if (!c->models[i] || !is_unknown(&c->models[i]->profile) || find_lookup(a, c->models[i]))
            continue;
        l = mem_alloc(sizeof *l);
        *l = (struct model_lookup){.agent = a,
                                   .model = model_choice_ref(c->models[i]),
                                   .is_wanted = is_unasked(a, &c->models[i]->profile),
                                   .next = a->lookups};
        a->lookups = l;
    }
}

void agent_look_up_models(struct agent *a)
{
    event_stream_unsubscribe(&a->lookup_starter);
    a->asked = NULL;
    drop_lookups(a);
    add_lookups(a);
    if (!a->lookups)
        return;
    a->lookup_starter = (struct event_subscriber){.on_event = agent_begin_lookup, .self = a};
    event_stream_subscribe(&a->session.conversation.stream, &a->lookup_starter);
}

void agent_end_lookups(struct agent *a)
{
    group_cancel(&a->lookup);
    err_ignore(group_end(&a->lookup), "the next run asks again");
    while (a->lookups) {
        struct model_lookup *l = a->lookups;

        a->lookups = l->next;
        model_lookup_free(l);
    }
}
