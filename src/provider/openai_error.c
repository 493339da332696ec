/* openai_error.c - classifies errors of OpenAI and of APIs like it.
 *
 * OpenAI sends {"error": {"message", "type", "param", "code"}}. Others omit the outer object, name
 * it differently, put an HTTP status into "code", or wrap the error of a provider behind them. The
 * kind comes from the words in typed fields, else from the status; never from the message, which is
 * for people. */
#include "provider/openai_error.h"

#include "provider/provider_error.h"

static const struct {
    const char *word;
    enum err_kind kind;
} kinds[] = {
    {"invalid_api_key", ERR_PROVIDER_AUTH},
    {"authentication_error", ERR_PROVIDER_AUTH},
    {"invalid_authentication_error", ERR_PROVIDER_AUTH},
    {"incorrect_api_key_error", ERR_PROVIDER_AUTH},
    {"permission_error", ERR_PROVIDER_AUTH},
    {"permission_denied", ERR_PROVIDER_AUTH},
    {"permission_denied_error", ERR_PROVIDER_AUTH},
    {"access_denied", ERR_PROVIDER_AUTH},
    {"account_deactivated", ERR_PROVIDER_AUTH},
    {"insufficient_quota", ERR_PROVIDER_AUTH},
    {"insufficient_balance", ERR_PROVIDER_AUTH},
    {"insufficient_credits", ERR_PROVIDER_AUTH},
    {"exceeded_current_quota_error", ERR_PROVIDER_AUTH},
    {"billing_error", ERR_PROVIDER_AUTH},
    {"billing_not_active", ERR_PROVIDER_AUTH},
    {"billing_hard_limit_reached", ERR_PROVIDER_AUTH},
    {"unsupported_country_region_territory", ERR_PROVIDER_AUTH},
    {"API_KEY_INVALID", ERR_PROVIDER_AUTH},
    {"UNAUTHENTICATED", ERR_PROVIDER_AUTH},
    {"PERMISSION_DENIED", ERR_PROVIDER_AUTH},
    {"AccessDenied", ERR_PROVIDER_AUTH},
    {"Arrearage", ERR_PROVIDER_AUTH},
    {"InvalidApiKey", ERR_PROVIDER_AUTH},
    {"quota_exceeded", ERR_PROVIDER_AUTH},
    {"usage_limit_reached", ERR_PROVIDER_AUTH},
    {"usage_not_included", ERR_PROVIDER_AUTH},

    {"rate_limit_exceeded", ERR_PROVIDER_RATE_LIMIT},
    {"rate_limit_error", ERR_PROVIDER_RATE_LIMIT},
    {"rate_limit_reached_error", ERR_PROVIDER_RATE_LIMIT},
    {"rate_limited", ERR_PROVIDER_RATE_LIMIT},
    {"too_many_requests", ERR_PROVIDER_RATE_LIMIT},
    {"slow_down", ERR_PROVIDER_RATE_LIMIT},
    {"too_many_requests_error", ERR_PROVIDER_RATE_LIMIT},
    {"requests", ERR_PROVIDER_RATE_LIMIT},
    {"tokens", ERR_PROVIDER_RATE_LIMIT},
    {"RESOURCE_EXHAUSTED", ERR_PROVIDER_RATE_LIMIT},
    {"Throttling", ERR_PROVIDER_RATE_LIMIT},

    {"server_error", ERR_PROVIDER_UNAVAILABLE},
    {"internal_server_error", ERR_PROVIDER_UNAVAILABLE},
    {"internal_error", ERR_PROVIDER_UNAVAILABLE},
    {"api_error", ERR_PROVIDER_UNAVAILABLE},
    {"overloaded", ERR_PROVIDER_UNAVAILABLE},
    {"overloaded_error", ERR_PROVIDER_UNAVAILABLE},
    {"engine_overloaded_error", ERR_PROVIDER_UNAVAILABLE},
    {"server_overloaded", ERR_PROVIDER_UNAVAILABLE},
    {"service_unavailable", ERR_PROVIDER_UNAVAILABLE},
    {"service_unavailable_error", ERR_PROVIDER_UNAVAILABLE},
    {"capacity_exceeded", ERR_PROVIDER_UNAVAILABLE},
    {"upstream_error", ERR_PROVIDER_UNAVAILABLE},
    {"provider_unavailable", ERR_PROVIDER_UNAVAILABLE},
    {"UNAVAILABLE", ERR_PROVIDER_UNAVAILABLE},
    {"INTERNAL", ERR_PROVIDER_UNAVAILABLE},
    {"server_is_overloaded", ERR_PROVIDER_UNAVAILABLE},
    {"timeout", ERR_TIMEOUT},
    {"timeout_error", ERR_TIMEOUT},
    {"DEADLINE_EXCEEDED", ERR_TIMEOUT},
    {"vector_store_timeout", ERR_TIMEOUT},

    {"model_not_found", ERR_MODEL_NOT_AVAILABLE},
    {"model_not_available", ERR_MODEL_NOT_AVAILABLE},
    {"model_not_supported", ERR_MODEL_NOT_AVAILABLE},
    {"model_decommissioned", ERR_MODEL_NOT_AVAILABLE},
    {"invalid_model", ERR_MODEL_NOT_AVAILABLE},
    {"unknown_model", ERR_MODEL_NOT_AVAILABLE},
    {"not_found_error", ERR_MODEL_NOT_AVAILABLE},
    {"resource_not_found_error", ERR_MODEL_NOT_AVAILABLE},
    {"DeploymentNotFound", ERR_MODEL_NOT_AVAILABLE},
    {"NOT_FOUND", ERR_MODEL_NOT_AVAILABLE},
    {"unsupported_model", ERR_MODEL_NOT_AVAILABLE},

    {"context_length_exceeded", ERR_CONTEXT_OVERFLOW},
    {"context_window_exceeded", ERR_CONTEXT_OVERFLOW},
    {"string_above_max_length", ERR_CONTEXT_OVERFLOW},
    {"exceed_context_size_error", ERR_CONTEXT_OVERFLOW},
    {"too_many_prompt_tokens", ERR_CONTEXT_OVERFLOW},
    {"request_too_large", ERR_CONTEXT_OVERFLOW},
    {"tokens_limit_reached", ERR_CONTEXT_OVERFLOW},
    {"model_max_prompt_tokens_exceeded", ERR_CONTEXT_OVERFLOW},
    {"3051", ERR_CONTEXT_OVERFLOW}, /* Mistral's */
    {"1261", ERR_CONTEXT_OVERFLOW}, /* Z.ai's */

    {"content_filter", ERR_CONTENT_FILTER},
    {"content_policy_violation", ERR_CONTENT_FILTER},
    {"ResponsibleAIPolicyViolation", ERR_CONTENT_FILTER},
    {"moderation_blocked", ERR_CONTENT_FILTER},
    {"invalid_prompt", ERR_CONTENT_FILTER},
    {"data_inspection_failed", ERR_CONTENT_FILTER},
    {"DataInspectionFailed", ERR_CONTENT_FILTER},
    {"image_content_policy_violation", ERR_CONTENT_FILTER},
    {"bio_policy", ERR_CONTENT_FILTER},
    {"cyber_policy", ERR_CONTENT_FILTER},
};

/* The words above that are about money. */
static const char *const money_words[] = {
    "insufficient_quota",
    "insufficient_balance",
    "insufficient_credits",
    "exceeded_current_quota_error",
    "billing_error",
    "billing_not_active",
    "billing_hard_limit_reached",
    "Arrearage",
    "quota_exceeded",
    "usage_limit_reached",
};

/* Codes for files of the request that were refused. */
static const char *const media_words[] = {
    "invalid_image",        "invalid_image_format",
    "invalid_base64_image", "invalid_image_url",
    "image_too_large",      "image_too_small",
    "image_parse_error",    "invalid_image_mode",
    "image_file_too_large", "unsupported_image_media_type",
    "empty_image_file",     "failed_to_download_image",
    "image_file_not_found", "unsupported_image",
    "unsupported_file",     "unsupported_file_mimetype",
    "invalid_file",
};

static bool kind_of_word(const struct json *word, enum err_kind *ret_kind)
{
    bool is_word = json_is(word, JSON_STRING) || json_is(word, JSON_NUMBER);

    for (size_t i = 0; is_word && i < ARRAY_LEN(kinds); i++)
        if (str_is(word->text, kinds[i].word)) {
            *ret_kind = kinds[i].kind;
            return true;
        }
    return false;
}

/* A router that refuses a prompt lists the rules that it breaks. */
static bool was_flagged(const struct json *metadata)
{
    return json_has(metadata, "flagged_input") ||
           json_is(json_get(metadata, "reasons"), JSON_ARRAY);
}

static bool kind_of_words(const struct json *error, enum err_kind *ret_kind)
{
    const struct json *metadata = json_get(error, "metadata");

    if (was_flagged(metadata)) {
        *ret_kind = ERR_CONTENT_FILTER;
        return true;
    }
    if (kind_of_word(json_get(json_get(error, "innererror"), "code"), ret_kind) ||
        kind_of_word(json_get(error, "code"), ret_kind) ||
        kind_of_word(json_get(error, "type"), ret_kind) ||
        kind_of_word(json_get(error, "status"), ret_kind) ||
        kind_of_word(json_get(metadata, "error_type"), ret_kind))
        return true;
    json_each (detail, json_get(error, "details"))
        if (kind_of_word(json_get(detail, "reason"), ret_kind))
            return true;
    return false;
}

static bool is_about_media(const struct json *error)
{
    struct str code = json_get_text(error, "code");

    for (size_t i = 0; i < ARRAY_LEN(media_words); i++)
        if (str_is(code, media_words[i]))
            return true;
    return false;
}

static bool is_about_money(const struct json *error)
{
    struct str code = json_get_text(error, "code"), type = json_get_text(error, "type");

    for (size_t i = 0; i < ARRAY_LEN(money_words); i++)
        if (str_is(code, money_words[i]) || str_is(type, money_words[i]))
            return true;
    return false;
}

/* An HTTP status in the body, as a number or digits; 0: none. */
static int status_in(const struct json *error)
{
    static const char *const names[] = {"code", "status", "status_code"};

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct json *v = json_get(error, names[i]);
        int64_t status = json_int_or(v, 0);

        if (json_is(v, JSON_STRING) && !str_to_int64(v->text, &status))
            continue;
        if (status >= 400 && status <= 599)
            return (int)status;
    }
    return 0;
}

/* The object with the typed fields: "error", also that of a failed response, or else the body. */
static const struct json *error_in(const struct json *body)
{
    const struct json *error = json_get(body, "error");
    const struct json *of_response = json_get(json_get(body, "response"), "error");

    if (json_is(error, JSON_OBJECT))
        return error;
    return json_is(of_response, JSON_OBJECT) ? of_response : body;
}

/* Prefers the message of the error object, also in a failed response. */
static struct str message_in(const struct json *body)
{
    struct str text = json_get_text(error_in(body), "message");

    return text.n ? text : error_body_message(body);
}

/* Some send the type of a server error with every error. The status then decides whether another
 * attempt can help. */
static bool is_contradicted(enum err_kind kind, int status)
{
    return kind == ERR_PROVIDER_UNAVAILABLE && status >= 400 && status < 500 &&
           !(provider_error_kind(status) == ERR_PROVIDER_RATE_LIMIT || status == 408 ||
             status == 409);
}

static enum err_kind kind_of(int status, const struct json *error)
{
    enum err_kind kind;

    if (status == 413)
        return ERR_CONTEXT_OVERFLOW; /* whichever limit the prompt exceeds */
    if (kind_of_words(error, &kind) && !is_contradicted(kind, status))
        return kind;
    if (status == 0)
        status = status_in(error);
    return provider_error_kind(status);
}

/* Routers say "provider returned error" and put that error, as text, into metadata.raw. */
static const struct json *error_behind(struct arena *a, const struct json *error)
{
    struct str raw = json_get_text(json_get(error, "metadata"), "raw");
    struct json_where where;
    struct json *value;

    if (raw.n == 0 || !json_parse_at(a, raw, JSON_REPAIR_UTF8, &value, &where))
        return NULL;
    return json_is(value, JSON_OBJECT) ? value : NULL;
}

/* Adds the place of the file to the text. */
static struct err *refuse_media(struct arena *a, const struct json *error, enum err_kind kind,
                                int status, struct str message)
{
    struct str param = json_get_text(error, "param");

    if (param.n && str_find(message, param) == STR_NONE)
        message = arena_format(a, "%" STR_FMT " (%" STR_FMT ")", STR_ARG(message), STR_ARG(param));
    return err_refuse_media(provider_error_new(kind, status, message), "");
}

/* OpenAI shows reasoning only to verified organizations, and its refusal names the parameter. */
static bool hides_thoughts(int status, const struct json *error)
{
    return status == 400 && str_is(json_get_text(error, "param"), "reasoning.summary");
}

struct err *openai_classify(int status, const struct json *body)
{
    AUTO(arena) struct arena a = {0};
    const struct json *error, *behind;
    enum err_kind kind;
    struct str message;
    struct err *e;

    body = error_body_first(body);
    error = error_in(body);
    message = message_in(body);
    kind = kind_of(status, error);

    behind = error_behind(&a, error);
    if (behind) {
        kind_of_words(error_in(behind), &kind);
        if (message_in(behind).n)
            message = arena_format(&a, "%" STR_FMT ": %" STR_FMT, STR_ARG(message),
                                   STR_ARG(message_in(behind)));
    }
    if (kind != ERR_CONTENT_FILTER && is_about_media(error))
        return refuse_media(&a, error, kind, status, message);
    e = provider_error_new(kind, status, message);
    e->hides_thoughts = hides_thoughts(status, error);
    if (kind == ERR_PROVIDER_AUTH &&
        (is_about_money(error) || (behind && is_about_money(error_in(behind)))))
        return err_hint(e, PROVIDER_NO_CREDIT);
    return e;
}
