/* error.c - what the Responses API's errors mean. */
#include "provider/openai_responses/openai_responses.h"

#include "provider/decode.h"

static const struct {
    const char *word; /* of `code` or `type` */
    enum err_kind kind;
} words[] = {
    {"invalid_api_key", ERR_PROVIDER_AUTH},
    {"authentication_error", ERR_PROVIDER_AUTH},
    {"permission_error", ERR_PROVIDER_AUTH},
    {"account_deactivated", ERR_PROVIDER_AUTH},
    {"insufficient_quota", ERR_PROVIDER_AUTH},
    {"quota_exceeded", ERR_PROVIDER_AUTH},
    {"billing_not_active", ERR_PROVIDER_AUTH},
    {"billing_hard_limit_reached", ERR_PROVIDER_AUTH},
    {"usage_limit_reached", ERR_PROVIDER_AUTH},
    {"usage_not_included", ERR_PROVIDER_AUTH},
    {"model_not_found", ERR_MODEL_NOT_AVAILABLE},
    {"unsupported_model", ERR_MODEL_NOT_AVAILABLE},
    {"DeploymentNotFound", ERR_MODEL_NOT_AVAILABLE},
    {"context_length_exceeded", ERR_CONTEXT_OVERFLOW},
    {"string_above_max_length", ERR_CONTEXT_OVERFLOW},
    {"rate_limit_exceeded", ERR_PROVIDER_RATE_LIMIT},
    {"rate_limit_error", ERR_PROVIDER_RATE_LIMIT},
    {"too_many_requests", ERR_PROVIDER_RATE_LIMIT},
    {"slow_down", ERR_PROVIDER_RATE_LIMIT},
    {"server_error", ERR_PROVIDER_UNAVAILABLE},
    {"internal_error", ERR_PROVIDER_UNAVAILABLE},
    {"internal_server_error", ERR_PROVIDER_UNAVAILABLE},
    {"service_unavailable", ERR_PROVIDER_UNAVAILABLE},
    {"server_is_overloaded", ERR_PROVIDER_UNAVAILABLE},
    {"overloaded_error", ERR_PROVIDER_UNAVAILABLE},
    {"vector_store_timeout", ERR_TIMEOUT},
    {"timeout", ERR_TIMEOUT},
    {"invalid_prompt", ERR_CONTENT_FILTER}, /* the API's word for one that its policy refuses */
    {"content_filter", ERR_CONTENT_FILTER},
    {"content_policy_violation", ERR_CONTENT_FILTER},
    {"image_content_policy_violation", ERR_CONTENT_FILTER},
    {"moderation_blocked", ERR_CONTENT_FILTER},
    {"bio_policy", ERR_CONTENT_FILTER},
    {"cyber_policy", ERR_CONTENT_FILTER},
};

static bool find_word(struct str word, enum err_kind *ret_kind)
{
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_is(word, words[i].word)) {
            *ret_kind = words[i].kind;
            return true;
        }
    return false;
}

/* Routers put the HTTP status of the vendor behind them into `code`. */
static int status_in(const struct json *code)
{
    int64_t status;

    if (!json_int64(code, &status) && !str_to_int64(json_str(code), &status))
        return 0;
    return status >= 400 && status <= 599 ? (int)status : 0;
}

/* In an `error` member, in a failed response, or as the event itself. */
static const struct json *find_error(const struct json *body)
{
    const struct json *response = json_get(body, "response");

    if (json_is(json_get(body, "error"), JSON_OBJECT))
        return json_get(body, "error");
    if (json_is(json_get(response, "error"), JSON_OBJECT))
        return json_get(response, "error");
    return body;
}

static struct str find_message(const struct json *body, const struct json *error)
{
    const struct str places[] = {
        json_get_text(error, "message"), json_get_text(body, "error"),
        json_get_text(body, "detail"),   json_get_text(json_get(body, "detail"), "message"),
        json_get_text(error, "code"),
    };

    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (places[i].n)
            return places[i];
    return (struct str){0};
}

struct err *openai_responses_classify(int status, const struct json *body)
{
    const struct json *error = find_error(body);
    const struct json *code = json_get(error, "code");
    struct str message = find_message(body, error);
    enum err_kind kind;

    if (!find_word(json_str(code), &kind) && !find_word(json_get_text(error, "type"), &kind)) {
        int meant = status ? status : status_in(code);
        kind = meant ? kind_of_status(meant) : ERR_PROVIDER_ERROR;
    }
    return provider_error(kind, status, message);
}
