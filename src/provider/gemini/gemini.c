/* gemini.c - the Gemini protocol: POST .../models/MODEL:streamGenerateContent. */
#include "provider/gemini/gemini.h"

#include "net/url.h"

/* --- fields --- */

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

/* "mimeType" as "mime_type". */
static void to_snake_case(const char *key, char *out, size_t room)
{
    size_t n = 0;

    for (; *key && n + 2 < room; key++) {
        if (is_upper(*key))
            out[n++] = '_';
        out[n++] = (char)(is_upper(*key) ? *key - 'A' + 'a' : *key);
    }
    out[n] = 0;
}

const struct json *gemini_get(const struct json *object, const char *key)
{
    const struct json *v = json_get(object, key);
    char snake[64];

    if (!v) {
        to_snake_case(key, snake, sizeof snake);
        v = json_get(object, snake);
    }
    return json_is(v, JSON_NULL) ? NULL : v;
}

struct str gemini_get_text(const struct json *object, const char *key)
{
    return json_str(gemini_get(object, key));
}

/* --- the address --- */

/* Cuts a collection's name off the model and returns it: models may be called by either name. */
static struct str take_collection(struct str *model, const struct dialect *d)
{
    struct str tuned = S("tunedModels/"), models = S("models/");

    if (!d->vertex && str_starts(*model, tuned)) {
        *model = str_skip(*model, tuned.n);
        return tuned;
    }
    if (str_starts(*model, models))
        *model = str_skip(*model, models.n);
    return models;
}

/* On Vertex AI the base URL ends with the project and the location. */
static void path(const struct model_request *r, const struct dialect *d, struct strbuf *out)
{
    struct str model = r->model;
    struct str collection = take_collection(&model, d);

    strbuf_add_cstr(out, d->vertex ? "/publishers/google/" : "/v1beta/");
    strbuf_add(out, collection);
    url_add_encoded(out, model);
    strbuf_add_cstr(out, r->stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
}

static bool is_event(struct str type, const struct json *event)
{
    const struct json *inner = gemini_get(event, "response");

    return gemini_get(event, "candidates") || gemini_get(event, "promptFeedback") ||
           gemini_get(event, "usageMetadata") || (inner && is_event(type, inner));
}

const struct protocol protocol_gemini = {
    .name = "gemini",
    .api_surface = "gemini-generate-content",
    .form = {.bytes = " image/png image/jpeg image/webp image/heic image/heif audio/wav audio/mpeg "
                      "audio/aiff audio/aac audio/ogg audio/flac video/mp4 video/mpeg "
                      "video/quicktime video/avi video/x-flv video/webm video/wmv video/3gpp "
                      "application/pdf text/ ",
             .addresses = " image/ audio/ video/ application/pdf text/ ",
             .answers = " image/ audio/ video/ ",
             .finds_types = true},
    .path = path,
    .encode = gemini_encode,
    .begin = gemini_begin,
    .is_event = is_event,
    .event = gemini_event,
    .body = gemini_body,
    .end = gemini_end,
    .classify = gemini_classify,
};
