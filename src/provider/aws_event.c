/* aws_event.c - chunks and exceptions of Amazon Bedrock's streams. */
#include "provider/aws_event.h"

#include "base/base64.h"
#include "base/json.h"
#include "provider/provider_error.h"

/* Exceptions of the service, by what Anthropic calls the same thing:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html */
static const struct {
    const char *exception, *type;
} exceptions[] = {
    {"throttlingException", "rate_limit_error"},
    {"internalServerException", "api_error"},
    {"serviceUnavailableException", "overloaded_error"},
    {"modelStreamErrorException", "api_error"},
    {"modelTimeoutException", "timeout_error"},
    {"validationException", "invalid_request_error"},
};

static struct str type_of(struct str exception)
{
    for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
        if (str_is(exception, exceptions[i].exception))
            return str_of(exceptions[i].type);
    return exception;
}

static void write_exception(const struct event_frame *frame, const struct json *body,
                            struct strbuf *event)
{
    struct str exception = event_frame_get(frame, ":exception-type");
    struct str message = error_body_message(body);
    struct json_writer w;

    if (!exception.n)
        exception = event_frame_get(frame, ":error-code");
    if (!message.n)
        message = event_frame_get(frame, ":error-message");
    jw_init(&w, event);
    jw_begin_object(&w);
    jw_kv_str(&w, "type", S("error"));
    jw_key(&w, "error");
    jw_begin_object(&w);
    jw_kv_str(&w, "type", type_of(exception));
    jw_kv_str(&w, "message", message.n ? message : exception);
    jw_end_object(&w);
    jw_end_object(&w);
}

struct err *aws_event_read(const struct event_frame *frame, struct arena *scratch,
                           struct strbuf *event)
{
    struct str kind = event_frame_get(frame, ":message-type");
    struct json *body = NULL;
    struct json_where where;
    struct err *e;

    if (!json_parse_at(scratch, frame->payload, JSON_REPAIR_UTF8, &body, &where))
        body = NULL;
    if (str_is(kind, "exception") || str_is(kind, "error")) {
        write_exception(frame, body, event);
        return NULL;
    }
    if (!str_is(event_frame_get(frame, ":event-type"), "chunk"))
        return NULL;
    e = body ? base64_decode(event, json_get_text(body, "bytes"))
             : err_new(ERR_BAD_RESPONSE, "%s", where.reason);
    if (!e)
        return NULL;
    e->kind = ERR_BAD_RESPONSE;
    return err_wrap(e, "cannot parse an event of the provider");
}
