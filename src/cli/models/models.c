/* models.c - `keel models`: which models are known, and what is known about them. */
#include "cli/models/models.h"

#include "base/alike.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "sys/env.h"

static const struct option options[] = {
    {"refresh", 0, NULL, "ask the configured providers and store the answer"},
    {"all", 0, NULL, "also vendors without a key, and retired models"},
    {"json", 0, NULL, "print one JSON object"},
    {0},
};

static const struct json *profiles_of(const struct models *m)
{
    return json_get(settings_root(m->project->settings), "providers");
}

/* The first profile of the vendor, by its name or its type; NULL: there is none. */
static const struct json *find_profile(const struct models *m, const struct vendor *v)
{
    const struct json *named = json_get(profiles_of(m), v->name);

    if (named)
        return named;
    json_each (profile, profiles_of(m))
        if (vendor_find(json_get_text(profile, "type")) == v)
            return profile;
    return NULL;
}

static struct err *fetch(struct models *m, struct listing *l)
{
    AUTO(provider) struct provider *provider = NULL;
    AUTO(strbuf) struct strbuf name = {0};
    const struct json *found = find_profile(m, l->vendor);
    struct profile profile;
    struct provider_call call;

    /* any model will do: only the address and the key matter for listing */
    strbuf_add(&name, found ? found->key : str_of(l->vendor->name));
    strbuf_addf(&name, "/%s", l->vendor->default_model ? l->vendor->default_model : "any");
    TRY(profile_resolve(m->project->settings,
                        &(struct profile_query){.model = strbuf_cstr(&name),
                                                .environment = host_environment(m->project->host)},
                        &m->arena, &profile));
    TRY(profile_make_provider(&profile, &provider));
    call = project_provider_call(m->project, &profile);
    TRY(provider_list_models(provider, &call, &m->arena, &l->models));
    l->status = CATALOGUE_LIVE;
    l->fetched_at = (struct str){0};
    return saved_catalogue_write(m->project->place.keel_home, l->vendor, &l->models);
}

static struct err *models_refresh(void *arg)
{
    struct models *m = arg;
    struct err *e = NULL;

    for (size_t i = 0; i < m->n && !e; i++) {
        struct listing *l = &m->listings[i];

        if (!l->vendor->models_path)
            continue;
        cli_tell("asking %s ...", l->vendor->display_name);
        l->problem = fetch(m, l);
        if (err_is(l->problem, ERR_CANCELLED))
            e = TAKE(l->problem);
    }
    return e;
}

static void use_known(struct models *m, struct listing *l)
{
    const char *home = m->project->place.keel_home;
    const struct catalogue *known = l->vendor->catalogue;

    if (home && saved_catalogue_read(home, l->vendor, &m->arena, &l->models, &l->fetched_at)) {
        l->status = CATALOGUE_GENERATED;
        return;
    }
    l->status = known->n ? CATALOGUE_FALLBACK : CATALOGUE_UNAVAILABLE;
    l->models = (struct model_list){(struct model_info *)known->models, known->n};
}

bool models_is_set_up(const struct models *m, const struct vendor *v)
{
    const char *const *environment = host_environment(m->project->host);

    if (find_profile(m, v) || vendor_key_variable(v, environment).n)
        return true;
    return v->key_need != KEY_REQUIRED && v->base_url_env && env_find(environment, v->base_url_env);
}

bool models_shows(const struct models *m, const struct model_info *info)
{
    return info->lifecycle != LIFECYCLE_RETIRED || args_has(m->args, "all");
}

bool model_is_default(const struct vendor *v, const struct model_info *info)
{
    return v->default_model && strcmp(info->id, v->default_model) == 0;
}

static struct err *unknown_vendor_alone(struct str name)
{
    struct err *e = err_new(ERR_VALIDATION, "unknown vendor \"%" STR_FMT "\"", STR_ARG(name));
    struct alike near = {.word = name};

    for (const struct vendor *v = vendors; v->name; v++)
        alike_try(&near, str_of(v->name));
    return near.best.n ? err_hint(e, "did you mean %" STR_FMT "?", STR_ARG(near.best))
                       : err_hint(e, "keel models --all lists them");
}

static struct err *gather(struct models *m)
{
    const char *only = m->args->n_operands ? m->args->operands[0] : NULL;
    const struct vendor *wanted = only ? vendor_find(str_of(only)) : NULL;
    size_t room = 0;

    if (only && !wanted)
        return unknown_vendor_alone(str_of(only));
    for (const struct vendor *v = vendors; v->name; v++) {
        bool all = args_has(m->args, "all") && !args_has(m->args, "refresh");

        if (wanted ? v != wanted : !all && !models_is_set_up(m, v))
            continue;
        m->listings = arena_grow(&m->arena, m->listings, m->n, &room, sizeof *m->listings);
        m->listings[m->n] = (struct listing){.vendor = v};
        use_known(m, &m->listings[m->n++]);
    }
    return NULL;
}

static struct err *print(const struct models *m)
{
    AUTO(strbuf) struct strbuf out = {0};

    if (args_has(m->args, "json"))
        models_add_json(m, &out);
    else
        models_add_text(m, &out);
    return cli_print_visible(strbuf_str(&out)); /* names and dates come from providers */
}

static void report_problems(struct models *m, int *ret_status)
{
    for (size_t i = 0; i < m->n; i++) {
        AUTO(err) struct err *problem = TAKE(m->listings[i].problem);

        if (!problem)
            continue;
        cli_tell_error(problem);
        *ret_status = err_exit_code(problem);
    }
}

static struct err *models_run(const struct args *args, int *ret_status)
{
    struct models m = {.args = args};
    struct err *e;

    TRY(args_count(args, 0, 1, "at most one VENDOR"));
    e = project_open(NULL, &(struct project_options){0}, &m.project);
    if (!e)
        e = gather(&m);
    if (!e && args_has(args, "refresh"))
        e = cli_run_task(NULL, models_refresh, &m);
    if (!e)
        e = print(&m);
    report_problems(&m, ret_status);
    if (!e && m.n == 0 && args_has(args, "refresh"))
        *ret_status = err_exit_code(&(struct err){.kind = ERR_CONFIGURATION});
    if (!e && m.n == 0)
        cli_tell(
            "no provider is set up; keel models --all lists all vendors, keel doctor says what "
            "to do");
    project_unref(m.project);
    arena_done(&m.arena);
    return e;
}

const struct command command_models = {
    .name = "models",
    .usage = "[VENDOR] [--refresh] [--all] [--json]",
    .operands = COMPLETE_VENDORS,
    .group = "Use",
    .summary = "list models with context window, price and capabilities",
    .details = "Lists vendors that are set up. The built-in list may be stale; --refresh asks\n"
               "the providers and stores the answer. Any other model works too: --model\n"
               "VENDOR/NAME is sent as it is.\n\n"
               "  keel models anthropic --refresh\n"
               "  keel models --all\n",
    .options = options,
    .run = models_run,
};
