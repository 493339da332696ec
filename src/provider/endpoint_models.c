/* endpoint_models.c - asks a server which models it has, and what they can do. */
#include "net/url.h"
#include "provider/advice.h"
#include "provider/endpoint_internal.h"
#include "provider/model_list.h"
#include "provider/provider_error.h"

#define LIST_MAX_BYTES ((size_t)8 << 20)
#define LIST_TIMEOUT_MS 20000

/* Fetches JSON about models. Posts `body` unless it is empty. */
static struct err *fetch_about_models(const struct endpoint *e, const struct provider_call *call,
                                      struct str url, struct str body, struct arena *a,
                                      struct json **ret_root)
{
    struct http_request request = {
        .url = url,
        .method = body.n ? "POST" : NULL,
        .body = body,
        .total_ms = LIST_TIMEOUT_MS,
        .max_body_bytes = LIST_MAX_BYTES,
    };
    struct http_response response;
    AUTO(secret) struct secret key = {0};
    AUTO(strbuf) struct strbuf answer = {0};
    struct json_where where = {0};

    if (body.n)
        http_headers_add(a, &request.headers, S("content-type"), S("application/json"));
    if (e->config.protocol->headers)
        e->config.protocol->headers(&(struct model_request){0}, e->config.dialect, a,
                                    &request.headers);
    TRY(credentials_get(call->credentials, e->provider.id, /* refresh= */ false, &key));
    TRY(endpoint_add_headers(&e->config, &key, a, &request));
    request.identity = e->config.identity;
    TRY(http_fetch(call->http, &request, a, &response, &answer));
    if (json_parse_at(a, arena_str(a, strbuf_str(&answer)), JSON_REPAIR_UTF8, ret_root, &where) &&
        response.status < 300)
        return NULL;
    if (response.status >= 400)
        return provider_error_new(provider_error_kind(response.status), response.status,
                                  S("the provider refused to list its models"));
    return err_hint(err_new(ERR_CONFIGURATION, "cannot parse the list of models%s%s",
                            where.reason ? ": " : "", where.reason ? where.reason : ""),
                    "check the base URL %" STR_FMT, STR_ARG(e->config.base_url));
}

static struct err *fetch_list(const struct endpoint *e, const struct provider_call *call,
                              struct str url, struct arena *a, struct model_list *ret_models)
{
    struct json *root;

    TRY(fetch_about_models(e, call, url, (struct str){0}, a, &root));
    return model_list_parse(a, root, ret_models);
}

/* The list with more details. Older servers, and servers behind a gateway, may lack it. */
static struct err *list_about(const struct endpoint *e, const struct provider_call *call,
                              struct arena *a, struct model_list *ret_models)
{
    struct url base;
    struct str url;

    TRY(url_parse(a, e->config.base_url, &base));
    TRY(url_resolve(a, &base, e->config.about_path, &url));
    return fetch_list(e, call, url, a, ret_models);
}

struct err *endpoint_list_models(const struct provider *p, const struct provider_call *call,
                                 struct arena *a, struct model_list *ret_models)
{
    const struct endpoint *e = (const struct endpoint *)p;
    struct err *failure;
    struct str url;

    if (e->config.models_path.n == 0)
        return err_hint(
            err_new(ERR_CONFIGURATION, "%" STR_FMT " cannot list its models", STR_ARG(p->id)),
            "keel models --all lists the models that keel knows");
    if (e->config.about_path.n) {
        AUTO(err) struct err *without = list_about(e, call, a, ret_models);

        if (!without || err_is(without, ERR_CANCELLED))
            return TAKE(without);
    }
    failure = url_join(a, e->config.base_url, e->config.models_path, &url);
    if (!failure)
        failure = fetch_list(e, call, url, a, ret_models);
    return failure ? advice_explain(&e->config, (struct str){0}, failure) : NULL;
}

/* Asks about one model, where the protocol has a request for that. */
static struct err *show_model(const struct endpoint *e, const struct provider_call *call,
                              struct str model, struct arena *a, struct model_info *ret_model)
{
    AUTO(strbuf) struct strbuf body = {0};
    struct json *root;
    struct str url;

    strbuf_add_cstr(&body, "{\"model\":");
    json_write_string(&body, model);
    strbuf_add_char(&body, '}');
    TRY(url_join(a, e->config.base_url, str_of(e->config.protocol->show_path), &url));
    TRY(fetch_about_models(e, call, url, strbuf_str(&body), a, &root));
    return model_show_parse(a, model, root, ret_model);
}

struct err *endpoint_ask_model(const struct provider *p, const struct provider_call *call,
                               struct str model, struct arena *a, struct model_info *ret_model)
{
    const struct endpoint *e = (const struct endpoint *)p;
    const struct model_info *found;
    struct model_list models;

    if (e->config.protocol->show_path) {
        struct err *failure = show_model(e, call, model, a, ret_model);

        return failure ? advice_explain(&e->config, (struct str){0}, failure) : NULL;
    }
    TRY(endpoint_list_models(p, call, a, &models));
    found = model_list_find(&models, model);
    if (!found && models.n == 1 && e->config.has_any_name)
        found = &models.items[0];
    if (!found)
        return advice_explain(&e->config, model,
                              err_new(ERR_MODEL_NOT_AVAILABLE,
                                      "the server does not list a model \"%" STR_FMT "\"",
                                      STR_ARG(model)));
    *ret_model = *found;
    return NULL;
}
