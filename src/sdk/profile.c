/* profile.c - from what the person said to one endpoint, one model and one key. */
#include "sdk/profile.h"

#include "base/alike.h"
#include "net/url.h"
#include "provider/endpoint.h"
#include "sys/env.h"

#include <unistd.h>

struct search {
    const struct settings *settings;
    const struct json *profiles; /* NULL: there are none */
    const char *const *environment;
    struct arena *arena;
    bool is_offline;
};

/* --- the environment --- */

struct str vendor_key_variable(const struct vendor *v, const char *const *environment)
{
    struct str rest = str_of(v->key_env), name;

    while (v->key_env && str_split(&rest, ' ', &name))
        if (env_get(environment, name).n)
            return name;
    return (struct str){0};
}

static struct str first_word(const char *words)
{
    struct str rest = str_of(words), word = {0};

    str_split(&rest, ' ', &word);
    return word;
}

/* --- what a profile says --- */

/* A string member, with $ENV: resolved. */
static struct str member(const struct search *s, const struct json *profile, const char *key)
{
    struct str text = json_get_text(profile, key);

    return env_is_reference(text) ? env_resolve(text, s->environment) : text;
}

static struct err *unknown_type(const struct search *s, struct str id, struct str type)
{
    AUTO(strbuf) struct strbuf names = {0};

    vendor_list_names(&names);
    for (size_t i = 0; protocols[i]; i++)
        strbuf_addf(&names, ", %s", protocols[i]->name);
    return err_hint(err_new(ERR_CONFIGURATION,
                            "the profile \"%" STR_FMT "\" has the unknown type \"%" STR_FMT "\"",
                            STR_ARG(id), STR_ARG(type)),
                    "one of: %s", strbuf_cstr(&names));
}

/* Where the vendor's own server listens when nobody says otherwise; 0 if that is no special port.
 */
static int usual_port(const struct search *s, const struct vendor *v)
{
    struct url url;
    AUTO(err) struct err *e = NULL;

    if (!v || !v->base_url)
        return 0;
    e = url_parse(s->arena, str_of(v->base_url), &url);
    return !e && url.has_port ? url.port : 0;
}

/* The scheme may be left out, as in OLLAMA_HOST=127.0.0.1:11434, and then the port too. */
static struct str complete_url(const struct search *s, const struct vendor *v, struct str text)
{
    int port = usual_port(s, v);
    struct url url;
    AUTO(err) struct err *e = NULL;

    if (text.n == 0 || str_find(text, S("://")) != STR_NONE)
        return text;
    text = arena_format(s->arena, "http://%" STR_FMT, STR_ARG(text));
    e = url_parse(s->arena, text, &url);
    if (e || url.has_port || url.path.n || port == 0)
        return text;
    return arena_format(s->arena, "%" STR_FMT ":%d", STR_ARG(text), port);
}

static struct str base_url_of(const struct search *s, const struct vendor *v,
                              const struct json *profile)
{
    struct str url = member(s, profile, "baseUrl");

    if (url.n == 0 && v && v->base_url_env)
        url = env_get(s->environment, str_of(v->base_url_env));
    if (url.n == 0 && v)
        url = str_of(v->base_url);
    return complete_url(s, v, url);
}

static struct str key_source_of(const struct search *s, const struct vendor *v, struct str id,
                                const struct json *profile)
{
    struct str variable;

    if (json_has(profile, "apiKey"))
        return arena_format(s->arena, "providers.%" STR_FMT ".apiKey", STR_ARG(id));
    if (!v || v->key_need == KEY_NONE)
        return (struct str){0};
    variable = vendor_key_variable(v, s->environment);
    return variable.n ? variable : first_word(v->key_env);
}

/* The operator's numbers win over the catalogue's. */
static void describe_model(struct profile *p, const struct json *profile)
{
    const struct model_info *known = p->vendor ? vendor_find_model(p->vendor, p->model) : NULL;
    int64_t window = json_int_or(json_get(profile, "contextWindow"), 0);
    int64_t output = json_int_or(json_get(profile, "maxOutput"), 0);

    p->info_is_known = known != NULL;
    p->info = known ? *known
                    : (struct model_info){.id = p->model.p,
                                          .name = p->model.p,
                                          .context_window = MODEL_DEFAULT_CONTEXT_WINDOW,
                                          .max_output = MODEL_DEFAULT_MAX_OUTPUT,
                                          .price = {-1, -1, -1, -1}};
    if (window > 0)
        p->info.context_window = window;
    if (output > 0)
        p->info.max_output = output;
}

static void take_headers(const struct search *s, const struct json *profile, struct profile *p)
{
    json_each (header, json_get(profile, "headers")) {
        struct str value = header->text;

        if (env_is_reference(value))
            value = env_resolve(value, s->environment);
        http_headers_add(s->arena, &p->headers, header->key, value);
    }
}

static struct err *no_model(const struct profile *p)
{
    return err_hint(
        err_new(ERR_CONFIGURATION, "%" STR_FMT " needs the name of a model", STR_ARG(p->id)),
        "say --model %" STR_FMT "/NAME; keel models lists what is known", STR_ARG(p->id));
}

static struct err *no_base_url(const struct profile *p)
{
    const char *variable = p->vendor ? p->vendor->base_url_env : NULL;

    return err_hint(err_new(ERR_CONFIGURATION, "%" STR_FMT " needs a base URL", STR_ARG(p->id)),
                    "set %s%s\"providers\": {\"%" STR_FMT
                    "\": {\"baseUrl\": ...}} in settings.json",
                    variable ? variable : "", variable ? ", or " : "", STR_ARG(p->id));
}

/* Anything that is no sensible number is as if nothing were said. */
#define MAX_ATTEMPTS 100
#define MAX_SECONDS 604800 /* a week */

static unsigned attempts_of(const struct search *s, const struct json *profile)
{
    const struct json *own = json_get(profile, "maxAttempts");
    int64_t n =
        own ? json_int_or(own, 0) : json_int_or(settings_get(s->settings, "maxAttempts"), 0);

    return n >= 1 && n <= MAX_ATTEMPTS ? (unsigned)n : 0;
}

static uint64_t total_ms_of(const struct json *profile)
{
    int64_t seconds = json_int_or(json_get(profile, "maxSeconds"), 0);

    return seconds >= 1 && seconds <= MAX_SECONDS ? (uint64_t)seconds * 1000 : 0;
}

/* Puts vendor, profile and model together. `profile` may be NULL. */
static struct err *assemble(const struct search *s, struct str id, const struct vendor *v,
                            const struct json *profile, struct str model, struct profile *ret)
{
    struct str type = member(s, profile, "type");
    struct profile p = {.id = arena_str(s->arena, id), .vendor = v};

    if (profile && !v)
        p.vendor = vendor_find(type.n ? type : id);
    p.protocol = p.vendor ? p.vendor->protocol : protocol_find(type);
    if (!p.protocol)
        return unknown_type(s, id, type);
    if (model.n == 0)
        model = member(s, profile, "model");
    if (model.n == 0 && p.vendor)
        model = str_of(p.vendor->default_model);
    if (p.vendor)
        model = vendor_resolve_model(p.vendor, model);
    p.model = arena_str(s->arena, model);
    p.base_url = base_url_of(s, p.vendor, profile);
    p.options = json_get(profile, "options");
    p.idle_ms = (uint64_t)json_int_or(json_get(profile, "timeout"), 0);
    p.total_ms = total_ms_of(profile);
    p.max_attempts = attempts_of(s, profile);
    p.key_source = key_source_of(s, p.vendor, id, profile);
    take_headers(s, profile, &p);
    describe_model(&p, profile);
    if (p.model.n == 0)
        return no_model(&p);
    if (p.base_url.n == 0 && !s->is_offline)
        return no_base_url(&p);
    *ret = p;
    return NULL;
}

/* --- who is meant --- */

/* Profiles and vendors by name; a profile wins over a vendor of the same name. */
static bool find_named(const struct search *s, struct str name, const struct vendor **ret_vendor,
                       const struct json **ret_profile)
{
    *ret_profile = json_get_str(s->profiles, name);
    *ret_vendor = *ret_profile ? NULL : vendor_find(name);
    return *ret_profile || *ret_vendor;
}

static struct err *use_named(const struct search *s, struct str name, struct str model,
                             struct profile *ret)
{
    const struct vendor *v;
    const struct json *profile;

    if (find_named(s, name, &v, &profile))
        return assemble(s, v ? str_of(v->name) : name, v, profile, model, ret);
    return err_hint(
        err_new(ERR_CONFIGURATION, "there is no provider profile \"%" STR_FMT "\"", STR_ARG(name)),
        "add it under \"providers\" in settings.json, or use a vendor's name");
}

static const struct vendor *vendor_of_environment(const struct search *s)
{
    for (const struct vendor *v = vendors; v->name; v++) {
        bool has_key = v->key_need == KEY_REQUIRED && vendor_key_variable(v, s->environment).n;
        bool has_host = v->key_need != KEY_REQUIRED && v->base_url_env &&
                        env_get(s->environment, str_of(v->base_url_env)).n;

        if (has_key || has_host)
            return v;
    }
    return NULL;
}

static struct err *nothing_set_up(void)
{
    const struct vendor *v = &vendors[0];

    return err_hint(err_new(ERR_CONFIGURATION, "no model provider is set up"),
                    "set %s (get a key at %s),\nor another vendor's key, or a profile in "
                    "settings.json: see keel doctor",
                    v->key_env, vendor_setup_link(v));
}

static struct err *use_environment(const struct search *s, struct str model, struct profile *ret)
{
    const struct vendor *v = vendor_of_environment(s);
    struct str variable;

    if (!v)
        return nothing_set_up();
    variable = vendor_key_variable(v, s->environment);
    if (variable.n == 0)
        variable = str_of(v->base_url_env);
    TRY(assemble(s, str_of(v->name), v, NULL, model, ret));
    ret->notice = arena_format(s->arena, "using %s (%" STR_FMT "), because %" STR_FMT " is set",
                               v->display_name, STR_ARG(ret->model), STR_ARG(variable));
    return NULL;
}

/* Nothing names the provider: the current profile, the only one, or the environment's. */
static struct err *use_current(const struct search *s, struct str model, struct profile *ret)
{
    struct str current = json_get_text(settings_root(s->settings), "currentProvider");

    if (current.n)
        return use_named(s, current, model, ret);
    if (s->profiles && s->profiles->n == 1)
        return use_named(s, s->profiles->first->key, model, ret);
    return use_environment(s, model, ret);
}

/* Do models of this provider have a slash in their names? Then what stands before it need not be
 * a vendor. Of a server of one's own it is not known. */
static bool has_slashes(const struct profile *p)
{
    const struct vendor *v = p->vendor;

    if (!v || !v->default_model || strchr(v->default_model, '/'))
        return true;
    for (size_t i = 0; i < v->n_models; i++)
        if (strchr(v->models[i].id, '/'))
            return true;
    return false;
}

static struct err *no_vendor(const struct search *s, struct str name, struct str model)
{
    struct alike near = {.word = name};
    AUTO(strbuf) struct strbuf all = {0};
    struct err *e =
        err_new(ERR_VALIDATION, "there is no vendor or profile \"%" STR_FMT "\"", STR_ARG(name));

    for (const struct vendor *v = vendors; v->name; v++)
        alike_try(&near, str_of(v->name));
    json_each (profile, s->profiles)
        alike_try(&near, profile->key);
    if (near.best.n)
        return err_hint(e, "did you mean %" STR_FMT "/%" STR_FMT "?", STR_ARG(near.best),
                        STR_ARG(model));
    vendor_list_names(&all);
    return err_hint(e, "one of: %s", strbuf_cstr(&all));
}

/* A server of one's own has its own names. */
static struct err *check_spelling(const struct profile *p)
{
    const struct vendor *v = p->vendor;
    bool is_known = !v || !v->base_url || !str_is(p->base_url, v->base_url) || p->info_is_known;
    const struct model_info *guess = is_known ? NULL : vendor_guess_model(v, p->model);

    if (!guess)
        return NULL;
    return err_hint(err_new(ERR_VALIDATION, "%s has no model \"%" STR_FMT "\" that keel knows",
                            v->display_name, STR_ARG(p->model)),
                    "did you mean %s? If it is a new model, say --model %" STR_FMT "/%" STR_FMT,
                    guess->id, STR_ARG(p->id), STR_ARG(p->model));
}

/* "vendor/model", "profile/model", "vendor", "profile" or a model's name. */
static struct err *use_model(const struct search *s, struct str text, struct profile *ret)
{
    size_t slash = str_find_char(text, '/');
    struct str name = str_slice(text, 0, slash);
    const struct vendor *v;
    const struct json *profile;

    if (slash != STR_NONE && find_named(s, name, &v, &profile))
        return use_named(s, name, str_skip(text, slash + 1), ret);
    if (slash == STR_NONE && find_named(s, text, &v, &profile))
        return use_named(s, text, (struct str){0}, ret);
    if (!s->profiles || s->profiles->n == 0)
        for (v = vendors; v->name; v++)
            if (vendor_find_model(v, vendor_resolve_model(v, text)))
                return use_named(s, str_of(v->name), text, ret);
    TRY(use_current(s, text, ret));
    if (slash == STR_NONE)
        return check_spelling(ret);
    return has_slashes(ret) ? NULL : no_vendor(s, name, str_skip(text, slash + 1));
}

/* Another program's `model` setting means something else. */
static struct str wanted_model(const struct search *s, const char *flag)
{
    enum layer layer = settings_origin(s->settings, "model").layer;

    if (flag)
        return str_of(flag);
    if (layer == LAYER_CLAUDE || layer == LAYER_CLAUDE_USER)
        return (struct str){0};
    return json_get_text(settings_root(s->settings), "model");
}

static struct err *need_key(const struct settings *settings, const struct profile *p,
                            const char *const *environment)
{
    const struct vendor *v = p->vendor;

    if (profile_has_key(settings, p, environment))
        return NULL;
    return err_hint(err_new(ERR_CONFIGURATION,
                            "%" STR_FMT " needs an API key, and %" STR_FMT " is not set",
                            STR_ARG(p->id), STR_ARG(p->key_source)),
                    "export %" STR_FMT "=...%s%s", STR_ARG(p->key_source),
                    v ? "   get a key at " : "", v ? vendor_setup_link(v) : "");
}

struct err *profile_resolve(const struct settings *settings, const struct profile_query *query,
                            struct arena *a, struct profile *ret_profile)
{
    const struct json *profiles = json_get(settings_root(settings), "providers");
    struct search s = {
        .settings = settings,
        .profiles = profiles,
        .environment = query->environment ? query->environment : (const char *const *)environ,
        .arena = a,
        .is_offline = query->is_offline,
    };
    struct str model = wanted_model(&s, query->model);
    struct profile p;

    if (query->model && model.n == 0)
        return err_hint(err_new(ERR_VALIDATION, "the name of the model is empty"),
                        "--model VENDOR/MODEL; keel models lists them");
    TRY(model.n ? use_model(&s, model, &p) : use_current(&s, model, &p));
    if (!query->is_offline)
        TRY(need_key(settings, &p, s.environment));
    *ret_profile = p;
    return NULL;
}

/* --- keys --- */

/* The key of a profile or vendor, straight from where it stands. */
static struct str find_key(const struct settings *settings, struct str id, const struct vendor *v,
                           const char *const *environment)
{
    const struct json *profile = json_get_str(json_get(settings_root(settings), "providers"), id);
    struct str key = json_get_text(profile, "apiKey"), variable;

    if (env_is_reference(key))
        return env_resolve(key, environment);
    if (key.n)
        return key;
    if (!v)
        v = vendor_find(json_get_text(profile, "type").n ? json_get_text(profile, "type") : id);
    variable = v ? vendor_key_variable(v, environment) : (struct str){0};
    return variable.n ? env_get(environment, variable) : (struct str){0};
}

bool profile_has_key(const struct settings *settings, const struct profile *p,
                     const char *const *environment)
{
    if (p->key_source.n == 0 || (p->vendor && p->vendor->key_need != KEY_REQUIRED))
        return true;
    return find_key(settings, p->id, p->vendor,
                    environment ? environment : (const char *const *)environ)
        .n;
}

static struct err *get_credential(void *self, struct str provider, bool refresh,
                                  struct secret *ret_secret)
{
    const struct profile_credentials *c = self;

    if (refresh)
        return err_new(ERR_PROVIDER_AUTH, "the key of %" STR_FMT " cannot be renewed",
                       STR_ARG(provider));
    secret_set(ret_secret, find_key(c->settings, provider, NULL, c->environment));
    return NULL;
}

void profile_credentials_init(struct profile_credentials *c, const struct settings *settings,
                              const char *const *environment)
{
    *c = (struct profile_credentials){
        .port = {.get = get_credential, .self = c},
        .settings = settings,
        .environment = environment ? environment : (const char *const *)environ,
    };
}

/* --- the provider --- */

/* A server of which only the protocol is known is taken to read keys and to list models like the
 * first vendor in the table that speaks it. */
static const struct vendor *nearest_vendor(const struct profile *p)
{
    if (p->vendor)
        return p->vendor;
    for (const struct vendor *v = vendors; v->name; v++)
        if (v->protocol == p->protocol)
            return v;
    BUG("a protocol that no vendor speaks");
}

struct err *profile_make_provider(const struct profile *p, struct provider **ret_provider)
{
    static const struct dialect plain = {0};
    const struct vendor *v = p->vendor;
    const char *link = v ? vendor_setup_link(v) : NULL;
    AUTO(arena) struct arena a = {0};
    struct endpoint_config config = {
        .id = p->id,
        .protocol = p->protocol,
        .dialect = v ? &v->dialect : &plain,
        .words = vendor_for_words(v, p->protocol),
        .base_url = p->base_url,
        .auth = nearest_vendor(p)->auth,
        .headers = p->headers,
        .models_path = str_of(nearest_vendor(p)->models_path),
        .has_web_search = v && v->has_web_search,
        .has_web_fetch = v && v->has_web_fetch,
    };

    if (p->key_source.n)
        config.key_hint = arena_format(&a, "check %" STR_FMT "%s%s", STR_ARG(p->key_source),
                                       link ? "; see " : "", link ? link : "");
    return endpoint_provider_new(&config, ret_provider);
}
