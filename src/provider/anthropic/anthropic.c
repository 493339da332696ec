/* anthropic.c - the Anthropic Messages protocol: POST /v1/messages. */
#include "provider/anthropic/anthropic.h"

static void path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    strbuf_add_cstr(out, "/v1/messages");
}

const struct protocol protocol_anthropic_messages = {
    .name = "anthropic-messages",
    .api_surface = "anthropic-messages",
    .path = path,
    .headers = anthropic_headers,
    .encode = anthropic_encode,
    .begin = anthropic_begin,
    .event = anthropic_event,
    .body = anthropic_body,
    .classify = anthropic_classify,
};
