/* openai_chat.c - the Chat Completions protocol: POST /chat/completions.
 *
 * Made by OpenAI and spoken by most others. Base URLs of this protocol end in the version ("/v1"),
 * because vendors disagree about that part. */
#include "provider/openai_chat/openai_chat.h"

#include "net/url.h"

static void path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    if (d->deployments) {
        strbuf_add_cstr(out, "/deployments/");
        url_add_encoded(out, r->model);
    }
    strbuf_add_cstr(out, "/chat/completions");
}

static bool is_event(struct str type, const struct json *event)
{
    return json_is(json_get(event, "choices"), JSON_ARRAY) || json_has(event, "usage") ||
           str_starts(json_get_text(event, "object"), S("chat.completion"));
}

const struct protocol protocol_openai_chat = {
    .name = "openai-chat",
    .api_surface = "chat-completions",
    .form = {.bytes = FORM_WEB_IMAGES "application/pdf audio/wav audio/mpeg text/ ",
             .addresses = FORM_WEB_IMAGES,
             .counts_answer = true},
    .path = path,
    .encode = openai_chat_encode,
    .begin = openai_chat_begin,
    .is_event = is_event,
    .event = openai_chat_event,
    .body = openai_chat_body,
    .end = openai_chat_end,
    .classify = openai_classify,
};
