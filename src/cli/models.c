/* models.c - `keel models`: which models are known, and what is known about them. */
#include "cli/commands.h"

#include "sdk/runtime.h"
#include "sdk/saved_catalogue.h"
#include "sys/loop.h"

#include <stdio.h>

static const struct option options[] = {
    {"refresh", 0, NULL, "ask the providers that are set up, and keep what they say"},
    {"all", 0, NULL, "also vendors without a key, and retired models"},
    {"json", 0, NULL, "print one JSON object"},
    {0},
};

struct listing {
    const struct vendor *vendor;
    enum catalogue_status status;
    struct model_list models;
    struct str fetched_at; /* for generated ones */
    struct err *problem;
};

struct models {
    const struct args *args;
    struct runtime runtime;
    struct arena arena;
    struct listing *listings;
    size_t n;
};

/* --- gathering --- */

static struct err *fetch(struct models *m, struct listing *l)
{
    AUTO(provider) struct provider *provider = NULL;
    struct profile profile;
    struct provider_call call;
    AUTO(strbuf) struct strbuf name = {0};

    /* any model will do: only the address and the key matter for listing */
    strbuf_addf(&name, "%s/%s", l->vendor->name,
                l->vendor->default_model ? l->vendor->default_model : "any");
    TRY(profile_resolve(m->runtime.settings,
                        &(struct profile_query){.model = strbuf_cstr(&name),
                                                .environment = m->runtime.options.environment},
                        &m->arena, &profile));
    TRY(profile_make_provider(&profile, &provider));
    TRY(runtime_call(&m->runtime, &call));
    TRY(provider_list_models(provider, &call, &m->arena, &l->models));
    l->status = CATALOGUE_LIVE;
    return saved_catalogue_write(runtime_home(&m->runtime, &m->arena).p, l->vendor, &l->models);
}

static struct err *refresh(void *arg)
{
    struct models *m = arg;

    for (size_t i = 0; i < m->n; i++) {
        struct listing *l = &m->listings[i];

        if (!l->vendor->models_path)
            continue;
        fprintf(stderr, "keel: asking %s ...\n", l->vendor->display_name);
        l->problem = fetch(m, l);
        if (err_is(l->problem, ERR_CANCELLED))
            return TAKE(l->problem);
    }
    http_client_free(TAKE(m->runtime.http));
    return NULL;
}

static void use_known(struct models *m, struct listing *l)
{
    struct str home = runtime_home(&m->runtime, &m->arena);

    if (home.n && saved_catalogue_read(home.p, l->vendor, &m->arena, &l->models, &l->fetched_at)) {
        l->status = CATALOGUE_GENERATED;
        return;
    }
    l->status = l->vendor->n_models ? CATALOGUE_FALLBACK : CATALOGUE_UNAVAILABLE;
    l->models = (struct model_list){(struct model_info *)l->vendor->models, l->vendor->n_models};
}

static bool is_set_up(const struct models *m, const struct vendor *v)
{
    const struct json *profiles = json_get(settings_root(m->runtime.settings), "providers");

    if (json_get(profiles, v->name) || vendor_key_variable(v, m->runtime.options.environment).n)
        return true;
    json_each (profile, profiles)
        if (vendor_find(json_get_text(profile, "type")) == v)
            return true;
    return false;
}

static struct err *gather(struct models *m)
{
    const char *only = m->args->n_operands ? m->args->operands[0] : NULL;
    const struct vendor *wanted = only ? vendor_find(str_of(only)) : NULL;
    size_t room = 0;

    if (only && !wanted)
        return err_hint(err_new(ERR_VALIDATION, "\"%s\" is no vendor that keel knows", only),
                        "keel models --all lists them");
    for (const struct vendor *v = vendors; v->name; v++) {
        bool all = args_has(m->args, "all") && !args_has(m->args, "refresh");

        if (wanted ? v != wanted : !all && !is_set_up(m, v))
            continue;
        m->listings = arena_grow(&m->arena, m->listings, m->n, &room, sizeof *m->listings);
        m->listings[m->n] = (struct listing){.vendor = v};
        use_known(m, &m->listings[m->n++]);
    }
    return NULL;
}

/* --- printing --- */

static bool is_shown(const struct models *m, const struct model_info *info)
{
    return info->lifecycle != LIFECYCLE_RETIRED || args_has(m->args, "all");
}

static void add_price(struct strbuf *out, int64_t microcents)
{
    if (microcents < 0)
        strbuf_addf(out, "%9s", "-");
    else
        strbuf_addf(out, "%9.2f", (double)microcents / MICROCENTS_PER_USD);
}

static void add_count(struct strbuf *out, int64_t n)
{
    char text[16] = "-";

    if (n > 0)
        token_count_format(n, text);
    strbuf_addf(out, "%8s", text);
}

static void add_model(const struct model_info *info, struct strbuf *out)
{
    strbuf_addf(out, "  %-40s", info->id);
    add_count(out, info->context_window);
    add_count(out, info->max_output);
    add_price(out, info->price.input);
    add_price(out, info->price.output);
    strbuf_add_cstr(out, "  ");
    capability_names(info->capabilities, out);
    if (info->lifecycle != LIFECYCLE_ACTIVE)
        strbuf_addf(out, " (%s)", lifecycle_name(info->lifecycle));
    strbuf_add_char(out, '\n');
}

static void add_listing(const struct models *m, const struct listing *l, struct strbuf *out)
{
    strbuf_addf(out, "%s%s (%s), %s", out->n ? "\n" : "", l->vendor->display_name, l->vendor->name,
                catalogue_status_name(l->status));
    if (l->status == CATALOGUE_FALLBACK)
        strbuf_addf(out, ", verified %s", l->models.items[0].last_verified);
    if (l->status == CATALOGUE_GENERATED)
        strbuf_addf(out, ", fetched %" STR_FMT, STR_ARG(l->fetched_at));
    strbuf_add_char(out, '\n');
    if (l->models.n)
        strbuf_addf(out, "  %-40s%8s%8s%9s%9s  %s\n", "model", "window", "output", "$in/M",
                    "$out/M", "can");
    for (size_t i = 0; i < l->models.n; i++)
        if (is_shown(m, &l->models.items[i]))
            add_model(&l->models.items[i], out);
    if (l->models.n == 0)
        strbuf_addf(out, "  any model: say %s/NAME\n", l->vendor->name);
}

static void write_number(struct json_writer *w, const char *key, int64_t n, bool is_known)
{
    jw_key(w, key);
    if (is_known)
        jw_int(w, n);
    else
        jw_null(w);
}

static void write_model(struct json_writer *w, const struct model_info *info)
{
    AUTO(strbuf) struct strbuf can = {0};
    struct str rest, name;

    jw_begin_object(w);
    jw_kv_str(w, "id", str_of(info->id));
    jw_kv_str(w, "name", str_of(info->name ? info->name : info->id));
    write_number(w, "contextWindow", info->context_window, info->context_window > 0);
    write_number(w, "maxOutput", info->max_output, info->max_output > 0);
    jw_key(w, "microcentsPerMillion");
    jw_begin_object(w);
    write_number(w, "input", info->price.input, info->price.input >= 0);
    write_number(w, "output", info->price.output, info->price.output >= 0);
    write_number(w, "cacheRead", info->price.cache_read, info->price.cache_read >= 0);
    write_number(w, "cacheWrite", info->price.cache_write, info->price.cache_write >= 0);
    jw_end_object(w);
    jw_kv_str(w, "lifecycle", str_of(lifecycle_name(info->lifecycle)));
    capability_names(info->capabilities, &can);
    jw_key(w, "capabilities");
    jw_begin_array(w);
    rest = strbuf_str(&can);
    while (can.n && str_split(&rest, ' ', &name))
        jw_str(w, name);
    jw_end_array(w);
    if (info->source)
        jw_kv_str(w, "source", str_of(info->source));
    if (info->last_verified)
        jw_kv_str(w, "lastVerifiedAt", str_of(info->last_verified));
    jw_end_object(w);
}

static void write_listing(const struct models *m, const struct listing *l, struct json_writer *w)
{
    jw_begin_object(w);
    jw_kv_str(w, "vendor", str_of(l->vendor->name));
    jw_kv_str(w, "displayName", str_of(l->vendor->display_name));
    jw_kv_str(w, "protocol", str_of(l->vendor->protocol->name));
    jw_kv_str(w, "status", str_of(catalogue_status_name(l->status)));
    if (l->fetched_at.n)
        jw_kv_str(w, "fetchedAt", l->fetched_at);
    if (l->problem)
        jw_kv_str(w, "problem", str_of(err_code(l->problem->kind)));
    jw_key(w, "models");
    jw_begin_array(w);
    for (size_t i = 0; i < l->models.n; i++)
        if (is_shown(m, &l->models.items[i]))
            write_model(w, &l->models.items[i]);
    jw_end_array(w);
    jw_end_object(w);
}

static struct err *print(const struct models *m)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    if (args_has(m->args, "json")) {
        jw_init(&w, &out);
        jw_begin_object(&w);
        jw_key(&w, "vendors");
        jw_begin_array(&w);
        for (size_t i = 0; i < m->n; i++)
            write_listing(m, &m->listings[i], &w);
        jw_end_array(&w);
        jw_end_object(&w);
        strbuf_add_char(&out, '\n');
    } else {
        for (size_t i = 0; i < m->n; i++)
            add_listing(m, &m->listings[i], &out);
    }
    return cli_print(strbuf_str(&out));
}

static void tell_problems(struct models *m, int *ret_status)
{
    for (size_t i = 0; i < m->n; i++) {
        AUTO(err) struct err *problem = TAKE(m->listings[i].problem);
        AUTO_FREE char *text = problem ? err_message(problem) : NULL;

        if (!problem)
            continue;
        fprintf(stderr, "keel: %s\n", text);
        if (err_find_hint(problem))
            fprintf(stderr, "      %s\n", err_find_hint(problem));
        *ret_status = err_exit_code(problem);
    }
}

static struct err *run(const struct args *args, int *ret_status)
{
    struct models m = {.args = args};
    struct err *e;

    TRY(args_count(args, 0, 1, "at most one VENDOR"));
    e = runtime_open(&m.runtime, &(struct runtime_options){0});
    if (!e)
        e = gather(&m);
    if (!e && args_has(args, "refresh"))
        e = loop_run_once(refresh, &m);
    if (!e)
        e = print(&m);
    tell_problems(&m, ret_status);
    if (!e && m.n == 0)
        fputs("keel: no provider is set up; keel models --all shows what there is, keel doctor "
              "what to do\n",
              stderr);
    runtime_done(&m.runtime);
    arena_done(&m.arena);
    return e;
}

const struct command command_models = {
    .name = "models",
    .usage = "[VENDOR] [--refresh] [--all] [--json]",
    .group = "Set up",
    .summary = "list models with windows, prices and abilities",
    .details = "Lists vendors that are set up. What is compiled in may be stale (\"fallback\");\n"
               "--refresh asks the providers, and the answer is kept (\"generated\").\n"
               "Any other model works too: --model VENDOR/NAME is sent as it is.\n",
    .options = options,
    .run = run,
};
