/* anthropic.c - the Anthropic Messages protocol: POST /v1/messages. */
#include "provider/anthropic/anthropic.h"

#include "net/url.h"

/* A version stands behind an '@' there, which is sent as it is. */
static void add_vertex_model(struct strbuf *out, struct str model)
{
    struct str part;
    const char *at = "";

    while (str_split(&model, '@', &part)) {
        strbuf_add_cstr(out, at);
        url_add_encoded(out, part);
        at = "@";
    }
}

/* On Vertex AI the base URL ends with the project and the location. */
static void path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    if (d->bedrock) {
        strbuf_add_cstr(out, "/model/");
        url_add_encoded(out, r->model);
        strbuf_add_cstr(out, r->stream ? "/invoke-with-response-stream" : "/invoke");
    } else if (d->vertex) {
        strbuf_add_cstr(out, "/publishers/anthropic/models/");
        add_vertex_model(out, r->model);
        strbuf_add_cstr(out, r->stream ? ":streamRawPredict" : ":rawPredict");
    } else {
        strbuf_add_cstr(out, "/v1/messages");
    }
}

static bool is_event(struct str type, const struct json *event)
{
    struct str own = json_get_text(event, "type");

    type = own.n ? own : type;
    return str_starts(type, S("message_")) || str_starts(type, S("content_block_")) ||
           str_is(type, "ping");
}

const struct protocol protocol_anthropic_messages = {
    .name = "anthropic-messages",
    .api_surface = "anthropic-messages",
    .form = {.bytes = FORM_WEB_IMAGES "application/pdf text/ ",
             .addresses = FORM_WEB_IMAGES "application/pdf ",
             .has_plain_errors = true,
             .binds_reasoning = true,
             .reasoning_leads_on = true,
             .pairs_server_tools = true,
             .continues_pauses = true},
    .path = path,
    .headers = anthropic_headers,
    .encode = anthropic_encode,
    .begin = anthropic_begin,
    .is_event = is_event,
    .event = anthropic_event,
    .body = anthropic_body,
    .classify = anthropic_classify,
};
