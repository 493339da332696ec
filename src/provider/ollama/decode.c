/* decode.c - reads answers of Ollama's API.
 *
 * A stream is a series of JSON lines, each with a piece of the message; the last one has "done" and
 * the counts. A whole answer looks like a stream of one line. /api/generate answers with "response"
 * and "thinking" instead of a message. Calls always arrive whole. */
#include "provider/ollama/ollama.h"

#include "base/base64.h"
#include "provider/inline_tags.h"
#include "provider/provider_error.h"

/* --- errors --- */

/* Errors are just a text; the hosted service adds the status. */
struct err *ollama_classify(int status, const struct json *body)
{
    struct str message = error_body_message(body);
    int64_t reported = json_int_or(json_get(body, "StatusCode"), 0);

    if (status == 0 && reported >= 400 && reported <= 599)
        status = (int)reported;
    return provider_error_new(provider_error_kind(status), status, message);
}

/* --- the message --- */

static struct err *add_piece(struct reply *r, enum part_kind kind, struct str text)
{
    size_t index;

    if (text.n == 0)
        return NULL;
    TRY(reply_continue(r, kind, &index));
    return reply_add_text(r, index, text);
}

static struct err *take_call(struct reply *r, const struct json *call)
{
    const struct json *function = json_get(call, "function");
    const struct json *args = json_get(function, "arguments");
    size_t index;

    if (!json_is(function, JSON_OBJECT))
        return NULL;
    reply_close_text(r);
    TRY(reply_begin(r, PART_TOOL_CALL, json_get_text(call, "id"), json_get_text(function, "name"),
                    &index));
    if (args)
        TRY(reply_add_args(r, index, json_is(args, JSON_STRING) ? args->text : args->raw));
    reply_close(r, index);
    return NULL;
}

static struct str image_type(struct str bytes)
{
    if (str_starts(bytes, S("\xFF\xD8\xFF")))
        return S("image/jpeg");
    if (str_starts(bytes, S("RIFF")) && str_starts(str_skip(bytes, 8), S("WEBP")))
        return S("image/webp");
    return S("image/png");
}

static struct err *take_image(struct reply *r, const struct json *image)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    struct err *e = base64_decode(&bytes, json_str(image));
    size_t index;

    if (e) {
        e->kind = ERR_BAD_RESPONSE;
        return err_wrap(e, "cannot decode an image that the provider sent");
    }
    if (bytes.n == 0)
        return NULL;
    TRY(reply_begin(r, PART_MEDIA, (struct str){0}, (struct str){0}, &index));
    return reply_set_media(r, index,
                           &(struct media){.mime = image_type(strbuf_str(&bytes)),
                                           .source = MEDIA_BYTES,
                                           .data = strbuf_str(&bytes)});
}

void ollama_begin(struct decode *d)
{
    struct inline_tags *tags = ARENA_NEW(&d->reply->arena, struct inline_tags);

    tags->add = add_piece;
    d->state = tags;
}

static struct err *add_text(struct decode *d, struct str text)
{
    if (!d->dialect || !d->dialect->inline_tags)
        return add_piece(d->reply, PART_TEXT, text);
    return inline_tags_feed(d->state, d->reply, &d->scratch, text);
}

struct err *ollama_end(struct decode *d)
{
    return inline_tags_end(d->state, d->reply, &d->scratch);
}

static struct err *take_message(struct decode *d, const struct json *message)
{
    struct reply *r = d->reply;

    TRY(add_piece(r, PART_REASONING, json_get_text(message, "thinking")));
    TRY(add_text(d, json_get_text(message, "content")));
    json_each (image, json_get(message, "images"))
        TRY(take_image(r, image));
    json_each (call, json_get(message, "tool_calls"))
        TRY(take_call(r, call));
    return NULL;
}

/* --- the end --- */

/* Calls end with "stop", too. */
static enum stop stop_of(const struct reply *r, struct str reason)
{
    if (str_is(reason, "length"))
        return STOP_LENGTH;
    if (reason.n && !str_is(reason, "stop"))
        return STOP_UNKNOWN; /* "load", "unload": there was no question */
    for (size_t i = 0; i < r->n_parts; i++)
        if (r->parts[i].part.kind == PART_TOOL_CALL)
            return STOP_TOOL_CALLS;
    return STOP_END;
}

static void take_end(struct decode *d, const struct json *event)
{
    struct reply *r = d->reply;
    struct str reason = json_get_text(event, "done_reason");

    usage_take_count(&r->usage, &r->usage.input, json_get(event, "prompt_eval_count"));
    usage_take_count(&r->usage, &r->usage.output, json_get(event, "eval_count"));
    if (!json_bool(json_get(event, "done"), false))
        return;
    reply_set_stop(r, reason, stop_of(r, reason));
    r->is_complete = d->is_over = true;
}

bool ollama_is_event(struct str type, const struct json *event)
{
    return json_has(event, "message") || json_has(event, "response") || json_has(event, "done");
}

struct err *ollama_event(struct decode *d, struct str type, const struct json *event)
{
    struct reply *r = d->reply;
    const struct json *error = json_get(event, "error");

    if (d->is_over)
        return NULL;
    if ((error && error->type != JSON_NULL) ||
        (error_body_is_error(event) && !json_bool(json_get(event, "done"), false)))
        return ollama_classify(0, event);
    if (r->model.n == 0)
        reply_set_word(r, &r->model, json_get_text(event, "model"));
    TRY(take_message(d, json_get(event, "message")));
    TRY(add_piece(r, PART_REASONING, json_get_text(event, "thinking")));
    TRY(add_text(d, json_get_text(event, "response")));
    if (json_bool(json_get(event, "done"), false))
        TRY(ollama_end(d));
    take_end(d, event);
    return NULL;
}

struct err *ollama_body(struct decode *d, const struct json *body)
{
    TRY(ollama_event(d, S("message"), body));
    if (!ollama_is_event(S("message"), body))
        return err_new(ERR_BAD_RESPONSE, "the answer has no message");
    return NULL;
}
