/* profile.c - from what the person said to one endpoint, one model and one key. */
#include "config/profile.h"

#include "config/login.h"
#include "config/profile_address.h"
#include "config/saved_catalogue.h"
#include "config/settings_keys.h"
#include "config/unknown_name.h"
#include "net/url.h"
#include "provider/endpoint.h"
#include "sys/env.h"

#include <errno.h>
#include <unistd.h>

#define MAX_ATTEMPTS 100
#define MAX_SECONDS 604800 /* a week */
#define MIN_WINDOW 1000    /* tokens; the system prompt alone is longer */
#define MAX_TOKENS 1000000000

const struct setting_key profile_settings[] = {
    {"currentProvider", SETTING_STRING, .help = "the profile to use when --model names none"},
    {"providers", SETTING_OBJECT, .help = "provider profiles by name"},
    {"providers.*", SETTING_OBJECT, .help = "one profile"},
    {"providers.*.type", SETTING_STRING, .help = "a vendor (anthropic, openai, ...) or a protocol"},
    {"providers.*.baseUrl", SETTING_STRING, .help = "base URL of the API"},
    {"providers.*.apiKey", SETTING_STRING, .help = "the key, better as \"$ENV:NAME\""},
    {"providers.*.apiKeyHelper", SETTING_STRING, .not_from = FROM_PROJECT,
     .help = "a command that prints the key; only from your own settings"},
    {"providers.*.auth", SETTING_STRING, .words = "bearer, x-api-key, api-key, x-goog-api-key",
     .help = "how the key is sent: bearer, x-api-key, api-key, x-goog-api-key"},
    {"providers.*.region", SETTING_STRING, .help = "AWS region for Amazon Bedrock: us-east-1"},
    {"providers.*.awsProfile", SETTING_STRING,
     .help = "profile in ~/.aws/credentials and ~/.aws/config"},
    {"providers.*.project", SETTING_STRING, .help = "Google Cloud project"},
    {"providers.*.location", SETTING_STRING, .help = "Vertex AI location (global)"},
    {"providers.*.credentialsFile", SETTING_STRING,
     .help = "key file of a Google service account (GOOGLE_APPLICATION_CREDENTIALS)"},
    {"providers.*.resource", SETTING_STRING, .help = "Microsoft Foundry resource"},
    {"providers.*.apiVersion", SETTING_STRING,
     .help = "API version of Azure deployments: 2024-10-21"},
    {"providers.*.clientCertificate", SETTING_STRING,
     .help = "client certificate for mTLS, a PEM file"},
    {"providers.*.clientKey", SETTING_STRING, .help = "the certificate's private key, a PEM file"},
    {"providers.*.clientKeyPassphrase", SETTING_STRING,
     .help = "passphrase of the client key, as \"$ENV:NAME\""},
    {"providers.*.model", SETTING_STRING, .help = "default model of the profile"},
    {"providers.*.contextWindow", SETTING_INTEGER, .least = MIN_WINDOW, .most = MAX_TOKENS,
     .help = "tokens; overrides the catalogue"},
    {"providers.*.maxOutput", SETTING_INTEGER, .least = 1, .most = MAX_TOKENS,
     .help = "tokens; overrides the catalogue"},
    {"providers.*.timeout", SETTING_INTEGER, .least = 1, .most = (int64_t)MAX_SECONDS * 1000,
     .help = "longest wait for data from the provider, in ms"},
    {"providers.*.maxSeconds", SETTING_INTEGER, .least = 1, .most = MAX_SECONDS,
     .help = "longest duration of one answer, in seconds (3600)"},
    {"providers.*.maxAttempts", SETTING_INTEGER, .least = 1, .most = MAX_ATTEMPTS,
     .help = "overrides maxAttempts"},
    {"providers.*.backoff", SETTING_OBJECT,
     .help = "delays between retries when the provider names none; they double"},
    {"providers.*.backoff.first", SETTING_INTEGER, .most = (int64_t)MAX_SECONDS * 1000,
     .help = "first delay, in ms (500)"},
    {"providers.*.backoff.max", SETTING_INTEGER, .most = (int64_t)MAX_SECONDS * 1000,
     .help = "longest delay, in ms (60000)"},
    {"providers.*.headers", SETTING_OBJECT, .help = "additional HTTP headers"},
    {"providers.*.headers.*", SETTING_STRING, .help = "one header"},
    {"providers.*.options", SETTING_ANY,
     .help = "members of the request body, passed through unchanged"},
    {"apiKeyHelper", SETTING_STRING, .not_from = FROM_PROJECT,
     .help = "a command that prints Anthropic's key; only from your own settings"},
    {"model", SETTING_STRING, .not_from = FROM_CLAUDE, .help = "vendor/model, as with --model"},
    {"maxAttempts", SETTING_INTEGER, .least = 1, .most = MAX_ATTEMPTS,
     .help = "attempts per model (10)"},
    {0},
};

struct search {
    const struct settings *settings;
    const struct json *profiles; /* NULL: there are none */
    const char *const *environment;
    struct arena *arena;
    const char *home; /* keel's; NULL: there is none */
    bool is_offline;
};

/* --- what a profile says --- */

/* A string member, with $ENV: resolved. */
static struct str member(const struct search *s, const struct json *profile, const char *key)
{
    struct str text = json_get_text(profile, key);

    return env_is_reference(text) ? env_resolve(text, s->environment) : text;
}

/* A reference to a variable that is not set names it: without its value keel would ask somebody
 * else, or ask without a key. */
static struct err *check_reference(const struct search *s, struct str path, const struct json *v)
{
    struct str name = str_skip(v->text, strlen(ENV_REFERENCE_PREFIX));

    if (v->type != JSON_STRING || !env_is_reference(v->text) ||
        env_resolve(v->text, s->environment).n)
        return NULL;
    return err_hint(err_new(ERR_CONFIGURATION,
                            "%" STR_FMT ".%" STR_FMT " is \"%" STR_FMT
                            "\", but the variable %" STR_FMT " is not set",
                            STR_ARG(path), STR_ARG(v->key), STR_ARG(v->text), STR_ARG(name)),
                    "export %" STR_FMT "=...", STR_ARG(name));
}

static struct err *check_references(const struct search *s, struct str id,
                                    const struct json *profile)
{
    struct str path = arena_format(s->arena, "providers.%" STR_FMT, STR_ARG(id));

    json_each (member, profile)
        TRY(check_reference(s, path, member));
    path = arena_format(s->arena, "%" STR_FMT ".headers", STR_ARG(path));
    json_each (header, json_get(profile, "headers"))
        TRY(check_reference(s, path, header));
    return NULL;
}

/* The operator's numbers win over the catalogue's. */
static void describe_model(struct profile *p, const struct json *profile)
{
    const struct model_info *known = p->vendor ? vendor_find_model(p->vendor, p->model) : NULL;
    int64_t window = json_int_or(json_get(profile, "contextWindow"), 0);
    int64_t output = json_int_or(json_get(profile, "maxOutput"), 0);
    int64_t guess = p->protocol->guessed_window;

    p->info_is_known = known != NULL;
    p->info =
        known ? *known
              : (struct model_info){.id = p->model.p,
                                    .name = p->model.p,
                                    .context_window = guess ? guess : MODEL_DEFAULT_CONTEXT_WINDOW,
                                    .max_output = MODEL_DEFAULT_MAX_OUTPUT,
                                    .price = {-1, -1, -1, -1}};
    if (p->vendor && p->vendor->models_of)
        p->info.price = (struct price){-1, -1, -1, -1};
    p->has_own_window = window > 0;
    p->has_own_output = output > 0;
    if (window > 0)
        p->info.context_window = window;
    if (output > 0)
        p->info.max_output = output;
}

/* ANTHROPIC_CUSTOM_HEADERS: "Name: value", a line each. */
static void take_header_lines(const struct search *s, struct profile *p)
{
    const char *variable = p->vendor ? p->vendor->headers_env : NULL;
    struct str rest = variable ? env_get(s->environment, str_of(variable)) : (struct str){0};
    struct str line;

    while (rest.n && str_split(&rest, '\n', &line)) {
        size_t colon = str_find_char(line, ':');

        if (colon != STR_NONE)
            http_headers_set(s->arena, &p->headers, str_trim(str_slice(line, 0, colon)),
                             str_trim(str_skip(line, colon + 1)));
    }
}

/* Those of the profile win. */
static void take_headers(const struct search *s, const struct json *profile, struct profile *p)
{
    take_header_lines(s, p);
    json_each (header, json_get(profile, "headers")) {
        struct str value = header->text;

        if (env_is_reference(value))
            value = env_resolve(value, s->environment);
        http_headers_set(s->arena, &p->headers, header->key, value);
    }
}

static struct err *no_model(const struct profile *p)
{
    const struct vendor *v = p->vendor;
    struct err *e = err_new(ERR_CONFIGURATION, "%" STR_FMT " needs a model name", STR_ARG(p->id));

    if (v && v->catalogue->n == 0 && v->models_path)
        return err_hint(e,
                        "add --model %" STR_FMT "/NAME; keel models %s --refresh asks the server "
                        "which models it has",
                        STR_ARG(p->id), v->name);
    return err_hint(e, "add --model %" STR_FMT "/NAME; keel models lists the known models",
                    STR_ARG(p->id));
}

static struct err *no_base_url(const struct profile *p)
{
    const char *variable = p->vendor ? p->vendor->base_url_env : NULL;

    return err_hint(err_new(ERR_CONFIGURATION, "%" STR_FMT " needs a base URL", STR_ARG(p->id)),
                    "set %s%s\"providers\": {\"%" STR_FMT
                    "\": {\"baseUrl\": ...}} in settings.json",
                    variable ? variable : "", variable ? ", or " : "", STR_ARG(p->id));
}

static void take_attempts(const struct search *s, const struct json *profile, struct profile *p)
{
    const struct json *own = json_get(profile, "maxAttempts"),
                      *general = settings_get(s->settings, "maxAttempts");

    if (own || general)
        p->max_attempts = (unsigned)json_int_or(own ? own : general, 1);
}

static struct err *take_backoff(const struct json *profile, struct profile *p)
{
    const struct json *backoff = json_get(profile, "backoff");
    int64_t first_ms = json_int_or(json_get(backoff, "first"), 0);
    int64_t max_ms = json_int_or(json_get(backoff, "max"), 0);

    if (first_ms && max_ms && first_ms > max_ms)
        return err_new(ERR_CONFIGURATION,
                       "providers.%" STR_FMT ".backoff.first must not exceed backoff.max",
                       STR_ARG(p->id));
    p->backoff.first_ms = (uint64_t)first_ms;
    p->backoff.max_ms = (uint64_t)max_ms;
    return NULL;
}

/* --- who keel is --- */

/* A certificate of the client's, for gateways that ask for one. */
static struct err *take_identity(const struct search *s, const struct json *profile,
                                 struct profile *p)
{
    static const struct {
        const char *setting, *variable;
    } names[] = {
        {"clientCertificate", "CLAUDE_CODE_CLIENT_CERT"},
        {"clientKey", "CLAUDE_CODE_CLIENT_KEY"},
        {"clientKeyPassphrase", "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE"},
    };
    const char *found[ARRAY_LEN(names)] = {NULL};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str value = member(s, profile, names[i].setting);

        if (!value.n)
            value = env_get(s->environment, str_of(names[i].variable));
        if (value.n)
            found[i] =
                i < 2 ? login_path(s->environment, s->arena, value) : arena_cstr(s->arena, value);
    }
    for (size_t i = 0; i < 2; i++)
        if (found[i] && access(found[i], R_OK) != 0)
            return err_hint(err_errno(ERR_CONFIGURATION, errno, "cannot read %s", found[i]),
                            "check the setting providers.%" STR_FMT ".%s, and %s", STR_ARG(p->id),
                            names[i].setting, names[i].variable);
    if (!found[0] && found[1])
        return err_hint(
            err_new(ERR_CONFIGURATION, "%" STR_FMT " has a clientKey but no clientCertificate",
                    STR_ARG(p->id)),
            "set providers.%" STR_FMT ".clientCertificate, or remove clientKey", STR_ARG(p->id));
    p->identity = (struct http_identity){found[0], found[1], found[2]};
    return NULL;
}

static const struct vendor *nearest_vendor(const struct profile *p);

/* How the key is sent: as the profile says, else as its place does. */
static void take_auth(const struct search *s, const struct json *profile, struct profile *p)
{
    static const struct {
        const char *name;
        enum auth_style auth;
    } styles[] = {
        {"bearer", AUTH_BEARER},
        {"x-api-key", AUTH_X_API_KEY},
        {"api-key", AUTH_API_KEY},
        {"x-goog-api-key", AUTH_X_GOOG_API_KEY},
    };
    struct str wanted = member(s, profile, "auth");
    struct key_place place = key_place_find(s->settings, s->environment, p->id, p->vendor,
                                            nearest_vendor(p)->auth, s->arena);

    p->key_source = place.name;
    p->auth = place.auth;
    for (size_t i = 0; i < ARRAY_LEN(styles); i++)
        if (str_is(wanted, styles[i].name))
            p->auth = styles[i].auth;
}

/* --- all together --- */

static struct err *take_address(const struct search *s, const struct json *profile,
                                struct profile *p)
{
    struct address_query q = {p->id, p->vendor, profile, s->environment, s->arena};

    if (s->is_offline)
        return NULL;
    TRY(profile_address(&q, &p->base_url));
    if (p->auth != AUTH_AWS)
        return NULL;
    p->region = profile_place(&q, "region");
    return p->region.n ? NULL : profile_place_missing(&q, "region");
}

static struct str model_of(const struct search *s, const struct vendor *v,
                           const struct json *profile, struct str model)
{
    if (model.n == 0)
        model = member(s, profile, "model");
    if (model.n == 0 && v && v->model_env)
        model = env_get(s->environment, str_of(v->model_env));
    if (model.n == 0 && v)
        model = str_of(v->default_model);
    return arena_str(s->arena, model);
}

/* Puts vendor, profile and model together. `profile` may be NULL. */
static struct err *assemble(const struct search *s, struct str id, const struct vendor *v,
                            const struct json *profile, struct str model, struct profile *ret)
{
    struct str type = member(s, profile, "type");
    struct profile p = {.id = arena_str(s->arena, id), .vendor = v};

    if (!s->is_offline)
        TRY(check_references(s, id, profile));
    if (profile && !v)
        p.vendor = vendor_find(type.n ? type : id);
    p.protocol = p.vendor ? p.vendor->protocol : protocol_find(type);
    if (!p.protocol)
        return unknown_type(s->settings, id, type);
    model = model_of(s, p.vendor, profile, model);
    if (p.vendor)
        model = arena_str(s->arena, vendor_resolve_model(p.vendor, model));
    p.model = model;
    p.options = json_get(profile, "options");
    p.idle_ms = (uint64_t)json_int_or(json_get(profile, "timeout"), 0);
    p.total_ms = (uint64_t)json_int_or(json_get(profile, "maxSeconds"), 0) * 1000;
    take_attempts(s, profile, &p);
    TRY(take_backoff(profile, &p));
    take_headers(s, profile, &p);
    describe_model(&p, profile);
    if (p.model.n == 0)
        return no_model(&p);
    take_auth(s, profile, &p);
    TRY(take_address(s, profile, &p));
    if (p.base_url.n == 0 && !s->is_offline)
        return no_base_url(&p);
    if (!s->is_offline)
        TRY(take_identity(s, profile, &p));
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
    return unknown_current(s->settings, s->profiles, name);
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

static struct err *nothing_chosen(const struct search *s)
{
    AUTO(strbuf) struct strbuf names = {0};
    struct str first = s->profiles->first->key;

    json_each (profile, s->profiles)
        strbuf_addf(&names, "%s%" STR_FMT, names.n ? ", " : "", STR_ARG(profile->key));
    return err_hint(
        err_new(ERR_CONFIGURATION, "several provider profiles (%s), and none is selected",
                strbuf_cstr(&names)),
        "add --model %" STR_FMT ", or put \"currentProvider\": \"%" STR_FMT "\" into settings.json",
        STR_ARG(first), STR_ARG(first));
}

static struct err *nothing_set_up(const struct search *s)
{
    const struct vendor *v = &vendors[0];

    if (s->profiles && s->profiles->n > 1)
        return nothing_chosen(s);
    return err_hint(err_new(ERR_CONFIGURATION, "no model provider is configured"),
                    "export %s=... (get a key at %s),\nor set another vendor's key, or add a "
                    "profile to settings.json: see keel doctor",
                    v->key_env, vendor_setup_link(v));
}

static bool is_at_home(const struct profile *p)
{
    return p->vendor && p->vendor->base_url && str_is(p->base_url, p->vendor->base_url);
}

struct str profile_elsewhere(const struct profile *p, struct arena *a)
{
    return is_at_home(p) ? (struct str){0} : url_redact(a, p->base_url);
}

static struct err *use_environment(const struct search *s, struct str model, struct profile *ret)
{
    const struct vendor *v = vendor_of_environment(s);
    struct str variable, elsewhere;

    if (!v)
        return nothing_set_up(s);
    variable = vendor_key_variable(v, s->environment);
    if (variable.n == 0)
        variable = str_of(v->base_url_env);
    TRY(assemble(s, str_of(v->name), v, NULL, model, ret));
    elsewhere = profile_elsewhere(ret, s->arena);
    ret->notice = arena_format(
        s->arena, "using %s (%" STR_FMT ")%s%" STR_FMT ", because %" STR_FMT " is set%s",
        v->display_name, STR_ARG(ret->model), elsewhere.n ? " at " : "", STR_ARG(elsewhere),
        STR_ARG(variable),
        s->profiles && s->profiles->n > 1
            ? "\nno profile is selected: --model NAME, or the setting currentProvider"
            : "");
    return NULL;
}

/* Without a word of the person: the current profile, the only one, or the environment's. */
static bool has_current(const struct search *s)
{
    return json_get_text(settings_root(s->settings), "currentProvider").n ||
           (s->profiles && s->profiles->n == 1) || vendor_of_environment(s);
}

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
    for (size_t i = 0; i < v->catalogue->n; i++)
        if (strchr(v->catalogue->models[i].id, '/'))
            return true;
    return false;
}

/* May a name without a vendor before it go there? The vendor's own service has the models of the
 * catalogue and of the list that it gave last. A server of one's own has its own names, but one
 * word for a family is keel's. */
static bool is_plausible(const struct search *s, const struct profile *p)
{
    const struct vendor *v = p->vendor;
    AUTO(arena) struct arena a = {0};
    struct model_list saved = {0};
    struct str fetched_at;

    if (s->is_offline || !v || p->info_is_known)
        return true;
    if (!is_at_home(p))
        return vendor_guess_family(v, p->model).n == 0;
    if (s->home)
        saved_catalogue_read(s->home, v, &a, &saved, &fetched_at);
    for (size_t i = 0; i < saved.n; i++)
        if (str_is(p->model, saved.items[i].id))
            return true;
    return v->catalogue->n == 0 && saved.n == 0;
}

static struct err *no_model_behind(struct str name, bool has_default)
{
    struct err *e = err_new(ERR_VALIDATION, "no model name after \"%" STR_FMT "/\"", STR_ARG(name));

    if (!has_default)
        return err_hint(e, "use %" STR_FMT "/MODEL", STR_ARG(name));
    return err_hint(e, "use %" STR_FMT "/MODEL, or %" STR_FMT " alone for its default model",
                    STR_ARG(name), STR_ARG(name));
}

/* "vendor/model", "profile/model", "vendor", "profile" or a model's name. */
static struct err *use_model(const struct search *s, struct str text, struct profile *ret)
{
    size_t slash = str_find_char(text, '/');
    struct str name = str_slice(text, 0, slash);
    const struct vendor *v;
    const struct json *profile;

    if (slash != STR_NONE && find_named(s, name, &v, &profile))
        return slash + 1 < text.n
                   ? use_named(s, name, str_skip(text, slash + 1), ret)
                   : no_model_behind(name, json_has(profile, "model") || (v && v->default_model));
    if (slash == STR_NONE && find_named(s, text, &v, &profile))
        return use_named(s, text, (struct str){0}, ret);
    if (!s->profiles || s->profiles->n == 0)
        for (v = vendors; v->name; v++)
            if (vendor_find_model(v, vendor_resolve_model(v, text)))
                return use_named(s, str_of(v->name), text, ret);
    if (!has_current(s) && slash != STR_NONE)
        return unknown_vendor(s->profiles, text);
    if (!has_current(s) && (!s->profiles || s->profiles->n == 0))
        return unknown_name(text);
    TRY(use_current(s, text, ret));
    if (slash != STR_NONE && !has_slashes(ret))
        return unknown_vendor(s->profiles, text);
    return is_plausible(s, ret) ? NULL : unknown_model(ret);
}

static struct err *wanted_model(const struct search *s, const char *flag, struct str *ret_model)
{
    const struct json *setting = settings_get(s->settings, "model");

    *ret_model = flag ? str_of(flag) : json_str(setting);
    if (str_trim(*ret_model).n || (!flag && !setting))
        return NULL;
    if (!flag)
        return err_hint(err_new(ERR_VALIDATION, "the setting model is empty"),
                        "set it to VENDOR/MODEL, or remove it: keel config show --origin");
    return err_hint(err_new(ERR_VALIDATION, "the model name is empty"),
                    "use --model VENDOR/MODEL; keel models lists the known models");
}

/* With the file that says so: the person may not have written it today. */
static struct err *in_setting(const struct search *s, const char *path, struct err *take_error)
{
    struct setting_origin origin = settings_origin(s->settings, path);
    struct str where = origin.file.n ? origin.file : str_of(layer_name(origin.layer));

    return err_wrap(take_error, "the setting %s (%" STR_FMT ")", path, STR_ARG(where));
}

/* A line break of a file or a password manager would be sent as part of a header. */
static struct err *check_key(const struct settings *settings, const struct profile *p,
                             const char *const *environment)
{
    AUTO(arena) struct arena a = {0};
    struct key_place place = key_place_find(settings, environment, p->id, p->vendor, p->auth, &a);
    struct str key = place.text;

    if (place.kind == KEY_IN_VARIABLE)
        key = env_get(environment, place.text);
    else if (place.kind != KEY_IN_SETTINGS)
        return NULL;
    else if (env_is_reference(key))
        key = env_resolve(key, environment);
    if (http_is_value(key))
        return NULL;
    return err_hint(err_new(ERR_CONFIGURATION,
                            "the key in %" STR_FMT " contains a line break or another control "
                            "character",
                            STR_ARG(place.name)),
                    "set %" STR_FMT " again, without it", STR_ARG(place.name));
}

static struct err *need_key(const struct settings *settings, const struct profile *p,
                            const char *const *environment)
{
    const struct vendor *v = p->vendor;

    if (profile_has_key(settings, p, environment))
        return check_key(settings, p, environment);
    return err_hint(err_new(ERR_CONFIGURATION,
                            "%" STR_FMT " needs an API key, but %" STR_FMT " is not set",
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
        .home = query->home,
        .is_offline = query->is_offline,
    };
    struct str model;
    struct profile p;
    struct err *e;

    TRY(wanted_model(&s, query->model, &model));
    e = model.n ? use_model(&s, model, &p) : use_current(&s, model, &p);
    if (e && model.n && !query->model)
        return in_setting(&s, "model", e);
    TRY(e);
    if (!query->is_offline)
        TRY(need_key(settings, &p, s.environment));
    *ret_profile = p;
    return NULL;
}

/* --- keys --- */

bool profile_has_key(const struct settings *settings, const struct profile *p,
                     const char *const *environment)
{
    AUTO(arena) struct arena a = {0};
    struct key_place place = key_place_find(settings, environment, p->id, p->vendor, p->auth, &a);

    if (place.name.n == 0 || (p->vendor && p->vendor->key_need != KEY_REQUIRED))
        return true;
    if (place.kind == KEY_IN_SETTINGS && env_is_reference(place.text))
        return env_resolve(place.text, environment).n;
    return place.kind == KEY_IN_SETTINGS ? place.text.n : place.kind != KEY_NOWHERE;
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
        .auth = p->auth,
        .region = p->region,
        .headers = p->headers,
        .identity = p->identity,
        .models_path = str_of(nearest_vendor(p)->models_path),
        .about_path = str_of(v ? v->about_path : NULL),
        .has_any_name = v && v->has_any_name,
        .has_web_search = v && v->has_web_search,
        .has_web_fetch = v && v->has_web_fetch,
    };

    if (p->key_source.n)
        config.key_hint = arena_format(&a, "check %" STR_FMT "%s%s", STR_ARG(p->key_source),
                                       link ? "; see " : "", link ? link : "");
    return endpoint_provider_new(&config, ret_provider);
}
