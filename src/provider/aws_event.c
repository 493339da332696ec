/* aws_event.c - chunks and exceptions of Amazon Bedrock's streams. */
#include "provider/aws_event.h"

#include "base/base64.h"
#include "provider/decode.h"
#include "provider/error_body.h"

/* https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html */
static const struct {
    const char *type;
    enum err_kind kind;
} exceptions[] = {
    {"throttlingException", ERR_PROVIDER_RATE_LIMIT},
    {"internalServerException", ERR_PROVIDER_UNAVAILABLE},
    {"serviceUnavailableException", ERR_PROVIDER_UNAVAILABLE},
    {"modelStreamErrorException", ERR_PROVIDER_UNAVAILABLE},
    {"modelTimeoutException", ERR_TIMEOUT},
};

static struct err *read_exception(const struct event_frame *frame, const struct protocol *protocol,
                                  const struct json *body)
{
    struct str type = event_frame_get(frame, ":exception-type");
    struct str message = error_body_message(body);

    if (type.n == 0)
        type = event_frame_get(frame, ":error-code");
    if (message.n == 0)
        message = event_frame_get(frame, ":error-message");
    for (size_t i = 0; i < ARRAY_LEN(exceptions); i++)
        if (str_is(type, exceptions[i].type))
            return provider_error(exceptions[i].kind, 0, message.n ? message : type);
    if (str_is(type, "validationException") && body)
        return protocol->classify(400, body);
    return provider_error(ERR_PROVIDER_ERROR, 0, message.n ? message : type);
}

struct err *aws_event_read(const struct event_frame *frame, const struct protocol *protocol,
                           struct arena *scratch, struct strbuf *event)
{
    struct str kind = event_frame_get(frame, ":message-type");
    struct json *body = NULL;
    struct json_where where;
    struct err *e;

    if (!json_parse_at(scratch, frame->payload, JSON_REPAIR_UTF8, &body, &where))
        body = NULL;
    if (str_is(kind, "exception") || str_is(kind, "error"))
        return read_exception(frame, protocol, body);
    if (!str_is(event_frame_get(frame, ":event-type"), "chunk"))
        return NULL;
    e = body ? base64_decode(event, json_get_text(body, "bytes"))
             : err_new(ERR_BAD_RESPONSE, "%s", where.reason);
    if (!e)
        return NULL;
    e->kind = ERR_BAD_RESPONSE;
    return err_wrap(e, "the provider sent an event that cannot be read");
}
