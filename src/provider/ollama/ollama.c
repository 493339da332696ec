/* ollama.c - Ollama's own protocol: POST /api/chat. */
#include "provider/ollama/ollama.h"

#include "provider/model_list.h"

static void path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    strbuf_add_cstr(out, "/api/chat");
}

static bool is_event(struct str type, const struct json *event)
{
    return json_has(event, "message") || json_has(event, "response") || json_has(event, "done");
}

const struct protocol protocol_ollama = {
    .name = "ollama",
    .api_surface = "ollama-chat",
    .form = {.bytes = " image/png image/jpeg image/webp text/ ", .addresses = ""},
    .path = path,
    .show_path = "/api/show",
    .guessed_window = MODEL_LOCAL_WINDOW,
    .encode = ollama_encode,
    .begin = ollama_begin,
    .is_event = is_event,
    .event = ollama_event,
    .body = ollama_body,
    .end = ollama_end,
    .classify = ollama_classify,
};
