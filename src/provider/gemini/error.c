/* error.c - converts Google's error objects (google.rpc.Status). */
#include "provider/gemini/gemini.h"

#include "provider/provider_error.h"

#include <math.h>

/* --- kinds --- */

static const struct json *find_detail(const struct json *error, const char *type)
{
    json_each (detail, gemini_get(error, "details"))
        if (str_ends(json_get_text(detail, "@type"), str_of(type)))
            return detail;
    return NULL;
}

/* Reasons that say more than the status: Google calls a bad key an INVALID_ARGUMENT. */
static bool is_about_the_key(const struct json *error)
{
    static const char *const reasons[] = {
        "API_KEY_INVALID",
        "API_KEY_EXPIRED",
        "API_KEY_SERVICE_BLOCKED",
        "API_KEY_NOT_FOUND",
        "BILLING_DISABLED",
        "SERVICE_DISABLED",
        "ACCESS_TOKEN_EXPIRED",
        "CREDENTIALS_MISSING",
        "CONSUMER_INVALID",
        "ACCOUNT_STATE_INVALID",
        "CONSUMER_SUSPENDED",
        "USER_PROJECT_DENIED",
        "API_KEY_IP_ADDRESS_BLOCKED",
        "API_KEY_HTTP_REFERRER_BLOCKED",
    };
    struct str reason = json_get_text(find_detail(error, "google.rpc.ErrorInfo"), "reason");

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++)
        if (str_is(reason, reasons[i]))
            return true;
    return false;
}

static bool find_kind(struct str status, enum err_kind *ret_kind)
{
    static const struct {
        const char *status;
        enum err_kind kind;
    } statuses[] = {
        {"UNAUTHENTICATED", ERR_PROVIDER_AUTH},          {"PERMISSION_DENIED", ERR_PROVIDER_AUTH},
        {"FAILED_PRECONDITION", ERR_PROVIDER_AUTH}, /* no free tier in this region: billing is
                                                       needed */
        {"RESOURCE_EXHAUSTED", ERR_PROVIDER_RATE_LIMIT}, {"NOT_FOUND", ERR_MODEL_NOT_AVAILABLE},
        {"INVALID_ARGUMENT", ERR_PROVIDER_ERROR},        {"OUT_OF_RANGE", ERR_PROVIDER_ERROR},
        {"UNIMPLEMENTED", ERR_PROVIDER_ERROR},           {"DEADLINE_EXCEEDED", ERR_TIMEOUT},
        {"UNAVAILABLE", ERR_PROVIDER_UNAVAILABLE},       {"INTERNAL", ERR_PROVIDER_UNAVAILABLE},
        {"UNKNOWN", ERR_PROVIDER_UNAVAILABLE},           {"ABORTED", ERR_PROVIDER_UNAVAILABLE},
        {"CANCELLED", ERR_PROVIDER_UNAVAILABLE},         {"DATA_LOSS", ERR_PROVIDER_UNAVAILABLE},
    };

    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (str_is(status, statuses[i].status)) {
            *ret_kind = statuses[i].kind;
            return true;
        }
    return false;
}

static enum err_kind kind_of(int http_status, const struct json *error)
{
    int64_t code = json_int_or(gemini_get(error, "code"), http_status);
    enum err_kind kind;

    if (is_about_the_key(error) || code == 402) /* 402: the credit is used up */
        return ERR_PROVIDER_AUTH;
    if (find_kind(gemini_get_text(error, "status"), &kind))
        return kind;
    return code >= 400 && code < 600 ? provider_error_kind((int)code) : ERR_PROVIDER_ERROR;
}

/* --- delays --- */

#define MAX_DELAY_S 86400.0

/* "34.5s": a duration of protocol buffers. */
static int64_t delay_ms(struct str duration)
{
    double seconds;

    if (!str_ends(duration, S("s")) ||
        !str_to_double(str_slice(duration, 0, duration.n - 1), &seconds) || !(seconds >= 0))
        return -1;
    return (int64_t)ceil(MIN(seconds, MAX_DELAY_S) * 1000);
}

struct err *gemini_classify(int status, const struct json *body)
{
    const struct json *error;
    struct str message;
    struct err *e;

    body = error_body_first(body); /* a stream that is not SSE is one array */
    error = gemini_get(body, "error");
    message = gemini_get_text(error, "message");
    if (message.n == 0)
        message = gemini_get_text(error, "status");
    if (message.n == 0)
        message = error_body_message(body);
    e = provider_error_new(kind_of(status, error), status, message);
    e->retry_after_ms =
        delay_ms(gemini_get_text(find_detail(error, "google.rpc.RetryInfo"), "retryDelay"));
    return e;
}
