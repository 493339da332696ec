/* openai_responses.c - the OpenAI Responses protocol: POST /responses below a base URL with /v1. */
#include "provider/openai_responses/openai_responses.h"

static void path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    strbuf_add_cstr(out, "/responses");
}

static bool is_event(struct str type, const struct json *event)
{
    struct str own = json_get_text(event, "type");

    type = own.n ? own : type;
    return str_starts(type, S("response.")) || str_is(type, "ping") || str_is(type, "keepalive");
}

const struct protocol protocol_openai_responses = {
    .name = "openai-responses",
    .api_surface = "responses",
    .form = {.bytes = FORM_WEB_IMAGES "application/pdf application/json text/ ",
             .addresses = FORM_WEB_IMAGES "application/pdf application/json text/ "},
    .path = path,
    .encode = openai_responses_encode,
    .begin = openai_responses_begin,
    .is_event = is_event,
    .event = openai_responses_event,
    .body = openai_responses_body,
    .classify = openai_classify,
};
