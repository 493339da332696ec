/* advice.c - adds the id of a failed request, and what to do next, to its error. */
#include "provider/advice.h"

#include "provider/provider_error.h"

#define MAX_ID_BYTES 128

static bool is_plain(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (id.p[i] <= ' ' || id.p[i] > '~')
            return false;
    return id.n > 0 && id.n <= MAX_ID_BYTES;
}

struct str advice_request_id(const struct http_headers *headers)
{
    static const char *const names[] = {"request-id", "x-request-id", "x-amzn-requestid",
                                        "apim-request-id"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        struct str id = str_trim(http_headers_get(headers, names[i]));

        if (is_plain(id))
            return id;
    }
    return (struct str){0};
}

struct err *advice_name_request(struct err *take_error, const struct http_headers *headers)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct str id = advice_request_id(headers);

    if (!take_error || !id.n || err_is(take_error, ERR_CANCELLED))
        return take_error;
    strbuf_addf(&text, "%s (request-id %" STR_FMT ")", take_error->text, STR_ARG(id));
    mem_free(take_error->text);
    take_error->text = mem_strdup(strbuf_cstr(&text));
    return take_error;
}

/* --- what to do next --- */

static bool is_about_money(const struct err *e)
{
    return e->peer_status == 402 || e->peer_status == 429;
}

static struct err *advise_key(const struct endpoint_config *c, struct err *e)
{
    if (is_about_money(e))
        return err_hint(e, PROVIDER_NO_CREDIT);
    if (!e->hint && c->key_hint.n)
        return err_hint(e, "%" STR_FMT, STR_ARG(c->key_hint));
    return e;
}

/* `keel models` accepts vendors, not profiles. */
static struct err *advise_model(const struct endpoint_config *c, struct str model, struct err *e)
{
    if (vendor_find(c->id))
        return err_hint(e,
                        "the request asked for \"%" STR_FMT "\"; keel models %" STR_FMT
                        " --refresh lists the models",
                        STR_ARG(model), STR_ARG(c->id));
    return err_hint(e,
                    "the request asked for \"%" STR_FMT "\"; check \"model\" and \"baseUrl\" of "
                    "providers.%" STR_FMT " in the settings",
                    STR_ARG(model), STR_ARG(c->id));
}

static struct err *advise_timeout(const struct endpoint_config *c, struct err *e)
{
    if (e->peer_status)
        return err_hint(e, "try again later, or use another model with --model");
    return err_hint(e,
                    "try again, or raise \"timeout\" (ms of silence) or \"maxSeconds\" of "
                    "providers.%" STR_FMT " in the settings",
                    STR_ARG(c->id));
}

static struct err *add_hint(const struct endpoint_config *c, struct str model,
                            struct err *take_error)
{
    if (err_is(take_error, ERR_PROVIDER_AUTH))
        return advise_key(c, take_error);
    if (err_find_hint(take_error))
        return take_error;
    switch (take_error->kind) {
    case ERR_MODEL_NOT_AVAILABLE:
        return model.n ? advise_model(c, model, take_error) : take_error;
    case ERR_CONTEXT_OVERFLOW:
        return err_hint(take_error, "send less: a shorter prompt or fewer files; keel session "
                                    "compact shortens the history");
    case ERR_PROVIDER_RATE_LIMIT:
        return err_hint(take_error, "try again later, or use another model with --model");
    case ERR_PROVIDER_UNAVAILABLE:
        return err_hint(take_error, "the provider has a problem: try again later, or use another "
                                    "model with --model");
    case ERR_PROVIDER_ERROR:
        return err_hint(take_error, "--trace-llm prints the request that the provider refused");
    case ERR_BAD_RESPONSE:
        return err_hint(take_error, "--trace-llm prints what the provider sent");
    case ERR_TIMEOUT:
        return advise_timeout(c, take_error);
    case ERR_NETWORK:
        return err_hint(take_error, "check the network, then try again");
    default:
        return take_error;
    }
}

struct err *advice_explain(const struct endpoint_config *c, struct str model,
                           struct err *take_error)
{
    if (err_is(take_error, ERR_CANCELLED))
        return take_error;
    return err_wrap(add_hint(c, model, take_error), "%" STR_FMT, STR_ARG(c->id));
}

struct str advice_base_url(const struct endpoint_config *c, struct arena *a)
{
    const char *variable = c->words ? c->words->base_url_env : NULL;

    return arena_format(a, "%s%s\"baseUrl\" of providers.%" STR_FMT " in the settings",
                        variable ? variable : "", variable ? " or " : "", STR_ARG(c->id));
}
