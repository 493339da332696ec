/* endpoint.c - makes a provider from a configuration. */
#include "net/url.h"
#include "provider/advice.h"
#include "provider/aws_sign.h"
#include "provider/endpoint_internal.h"
#include "sys/loop.h"

/* For files, if the vendor documents no limit. */
#define USUAL_MAX_EDGE 8000
#define USUAL_MAX_IMAGE_BYTES ((size_t)5 << 20)
#define USUAL_MAX_PDF_BYTES ((size_t)20 << 20)

/* --- headers --- */

static void add_auth(const struct endpoint_config *c, struct arena *a, const struct secret *key,
                     struct http_headers *out)
{
    static const char *const names[] = {
        [AUTH_BEARER] = "authorization", [AUTH_X_API_KEY] = "x-api-key",
        [AUTH_API_KEY] = "api-key",      [AUTH_X_GOOG_API_KEY] = "x-goog-api-key",
        [AUTH_BOTH] = "x-api-key",       [AUTH_AWS] = "authorization",
        [AUTH_GOOGLE] = "authorization",
    };
    bool is_bearer = str_is(str_of(names[c->auth]), "authorization");
    struct str value = str_make(key->p, key->n), bearer;

    if (!key->n || key->id)
        return;
    bearer = arena_format(a, "Bearer %s", key->p);
    http_headers_add(a, out, str_of(names[c->auth]), is_bearer ? bearer : value);
    if (c->auth == AUTH_BOTH)
        http_headers_add(a, out, S("authorization"), bearer);
}

struct err *endpoint_add_headers(const struct endpoint_config *c, const struct secret *key,
                                 struct arena *a, struct http_request *request)
{
    add_auth(c, a, key, &request->headers);
    for (size_t i = 0; i < c->headers.n; i++)
        http_headers_set(a, &request->headers, c->headers.items[i].name, c->headers.items[i].value);
    if (!key->id)
        return NULL;
    return aws_sign(&(struct aws_signer){.key_id = str_of(key->id),
                                         .secret_key = str_make(key->p, key->n),
                                         .session_token = str_of(key->session),
                                         .region = c->region,
                                         .service = S("bedrock"),
                                         .unix_ms = clock_unix_ms(loop_clock(task_loop()))},
                    a, request);
}

/* --- capabilities --- */

/* Limits that a row omits have keel's defaults. */
static struct media_limits media_limits(const struct endpoint_config *c)
{
    struct media_limits l = c->words ? c->words->media : (struct media_limits){0};

    return (struct media_limits){
        .max_edge = l.max_edge ? l.max_edge : USUAL_MAX_EDGE,
        .max_image_bytes = l.max_image_bytes ? l.max_image_bytes : USUAL_MAX_IMAGE_BYTES,
        .max_pdf_bytes = l.max_pdf_bytes ? l.max_pdf_bytes : USUAL_MAX_PDF_BYTES,
        .max_pdf_pages = l.max_pdf_pages,
        .no_gif = l.no_gif,
    };
}

static struct provider_capabilities endpoint_capabilities(const struct provider *p,
                                                          const struct model_info *info)
{
    const struct endpoint_config *c = &((const struct endpoint *)p)->config;
    bool search = c->has_web_search && (!info || info->capabilities & CAN_SEARCH_WEB);
    bool fetch = c->has_web_fetch && (!info || info->capabilities & CAN_FETCH_WEB);

    return (struct provider_capabilities){
        .form = &c->protocol->form,
        .can_call_tools = !info || info->capabilities & CAN_TOOLS,
        .web_search = {.is_supported = search, .is_enabled = search},
        .web_fetch = {.is_supported = fetch, .is_enabled = fetch},
        .takes_file_urls = c->dialect->file_urls,
        .media = media_limits(c),
    };
}

/* --- life cycle --- */

static void endpoint_free(struct provider *p)
{
    struct endpoint *e = (struct endpoint *)p;

    arena_done(&e->arena);
    mem_free(e);
}

static const struct provider_ops ops = {
    .ask = endpoint_ask,
    .waits_to_send = true,
    .capabilities = endpoint_capabilities,
    .list_models = endpoint_list_models,
    .free = endpoint_free,
};

static struct err *check_base_url(const struct endpoint_config *c)
{
    AUTO(arena) struct arena a = {0};
    struct str place = advice_base_url(c, &a);
    struct url url;
    struct err *e = url_parse(&a, c->base_url, &url);

    if (!e && url.userinfo.n)
        e = err_hint(err_new(ERR_CONFIGURATION, "it contains a user name or a password"),
                     "remove it from %" STR_FMT "; put a key into \"apiKey\", a password into "
                     "\"headers\": {\"authorization\": \"Basic ...\"}",
                     STR_ARG(place));
    if (!e && !str_is(url.scheme, "http") && !str_is(url.scheme, "https"))
        e = err_new(ERR_CONFIGURATION, "only http:// and https:// URLs are supported");
    if (!e)
        return NULL;
    if (!e->hint)
        e = err_hint(e, "correct %" STR_FMT, STR_ARG(place));
    e->kind = ERR_CONFIGURATION;
    return err_wrap(e, "%" STR_FMT ": bad base URL \"%" STR_FMT "\"", STR_ARG(c->id),
                    STR_ARG(url_redact(&a, c->base_url)));
}

static struct http_identity copy_identity(struct arena *a, const struct http_identity *i)
{
    return (struct http_identity){
        .certificate = i->certificate ? arena_cstr(a, str_of(i->certificate)) : NULL,
        .key = i->key ? arena_cstr(a, str_of(i->key)) : NULL,
        .passphrase = i->passphrase ? arena_cstr(a, str_of(i->passphrase)) : NULL,
    };
}

struct err *endpoint_provider_new(const struct endpoint_config *config,
                                  struct provider **ret_provider)
{
    struct endpoint *e;

    TRY(check_base_url(config));
    e = mem_alloc(sizeof *e);
    e->config = *config;
    e->config.id = arena_str(&e->arena, config->id);
    e->config.base_url = arena_str(&e->arena, config->base_url);
    e->config.models_path = arena_str(&e->arena, config->models_path);
    e->config.about_path = arena_str(&e->arena, config->about_path);
    e->config.key_hint = arena_str(&e->arena, config->key_hint);
    e->config.region = arena_str(&e->arena, config->region);
    e->config.identity = copy_identity(&e->arena, &config->identity);
    e->config.headers = (struct http_headers){0};
    for (size_t i = 0; i < config->headers.n; i++)
        http_headers_add(&e->arena, &e->config.headers, config->headers.items[i].name,
                         config->headers.items[i].value);
    e->provider = (struct provider){
        .ops = &ops, .id = e->config.id, .protocol = str_of(config->protocol->name)};
    *ret_provider = &e->provider;
    return NULL;
}
