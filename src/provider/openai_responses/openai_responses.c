/* openai_responses.c - the OpenAI Responses protocol: POST /responses below a base URL with /v1. */
#include "provider/openai_responses/openai_responses.h"

static void path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    strbuf_add_cstr(out, "/responses");
}

const struct protocol protocol_openai_responses = {
    .name = "openai-responses",
    .api_surface = "responses",
    .form = {.bytes = FORM_WEB_IMAGES "application/pdf application/json text/ ",
             .addresses = FORM_WEB_IMAGES "application/pdf application/json text/ "},
    .path = path,
    .encode = openai_responses_encode,
    .begin = openai_responses_begin,
    .event = openai_responses_event,
    .body = openai_responses_body,
    .classify = openai_classify,
};
