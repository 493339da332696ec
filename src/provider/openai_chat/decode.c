/* decode.c - reads Chat Completions answers of all vendors.
 *
 * A stream is a series of chunks; each has choices, and a choice has a delta of the message. The
 * choice's finish_reason ends the answer (unless every chunk has one), usage may follow, and
 * "[DONE]" closes the stream. A whole answer has a message in the place of the delta and is read by
 * the same functions. Only the first choice counts. */
#include "provider/openai_chat/openai_chat.h"

#include "provider/inline_tags.h"
#include "provider/provider_error.h"

struct chat_stream {
    struct chat_calls calls;
    struct chat_reasoning reasoning;
    struct chat_audio audio;
    struct inline_tags tags;
    bool has_sources;
    bool had_choice;
    bool had_open_choice; /* a choice had no finish reason: the first one that has it is the last */
};

void openai_chat_begin(struct decode *d)
{
    d->state = ARENA_NEW(&d->reply->arena, struct chat_stream);
}

/* --- text --- */

/* Citations come between pieces of their text: they do not end it. */
struct err *chat_add_piece(struct reply *r, enum part_kind kind, struct str text)
{
    size_t index = r->n_parts;

    if (text.n == 0)
        return NULL;
    while (index > 0 && r->parts[index - 1].part.kind == PART_CITATION)
        index--;
    if (index > 0 && r->parts[index - 1].part.kind == kind && !r->parts[index - 1].is_closed)
        return reply_add_text(r, index - 1, text);
    reply_close_text(r);
    chat_end_call(r);
    TRY(reply_begin(r, kind, (struct str){0}, (struct str){0}, &index));
    return reply_add_text(r, index, text);
}

/* A thinking part has a string, or a list of text parts. */
static struct err *take_thinking(struct reply *r, const struct json *thinking)
{
    if (!json_is(thinking, JSON_ARRAY))
        return chat_add_piece(r, PART_REASONING, json_str(thinking));
    json_each (part, thinking)
        TRY(chat_add_piece(r, PART_REASONING, json_get_text(part, "text")));
    return NULL;
}

static struct err *add_text(struct decode *d, struct str text)
{
    struct chat_stream *s = d->state;

    if (!d->dialect || !d->dialect->inline_tags)
        return chat_add_piece(d->reply, PART_TEXT, text);
    s->tags.add = chat_add_piece;
    return inline_tags_feed(&s->tags, d->reply, &d->scratch, text);
}

static struct err *take_content_part(struct decode *d, const struct json *part)
{
    struct reply *r = d->reply;
    struct str type = json_get_text(part, "type");

    if (json_is(part, JSON_STRING))
        return add_text(d, part->text);
    if (str_is(type, "thinking"))
        return take_thinking(r, json_get(part, "thinking"));
    if (str_is(type, "refusal"))
        return chat_add_piece(r, PART_REFUSAL, json_get_text(part, "refusal"));
    if (str_is(type, "image_url"))
        return chat_take_image(r, part);
    return add_text(d, json_get_text(part, "text"));
}

static struct err *take_content(struct decode *d, const struct json *content)
{
    if (!json_is(content, JSON_ARRAY))
        return add_text(d, json_str(content));
    json_each (part, content)
        TRY(take_content_part(d, part));
    return NULL;
}

/* --- the end of an answer --- */

static enum stop stop_of(struct str reason)
{
    static const struct {
        const char *reason;
        enum stop stop;
    } stops[] = {
        {"stop", STOP_END},
        {"end_turn", STOP_END},
        {"eos", STOP_END},
        {"eos_token", STOP_END},
        {"stop_sequence", STOP_END},
        {"tool_calls", STOP_TOOL_CALLS},
        {"tool_use", STOP_TOOL_CALLS},
        {"length", STOP_LENGTH},
        {"max_tokens", STOP_LENGTH},
        {"model_length", STOP_OVERFLOW},
        {"model_context_window_exceeded", STOP_OVERFLOW},
        {"content_filter", STOP_FILTERED},
        {"sensitive", STOP_FILTERED},
        {"refusal", STOP_REFUSED},
    };

    for (size_t i = 0; i < ARRAY_LEN(stops); i++)
        if (str_is(reason, stops[i].reason))
            return stops[i].stop;
    return STOP_UNKNOWN;
}

/* Reasons that mean that the provider aborted. */
static bool is_breakdown(struct str reason)
{
    return str_is(reason, "error") || str_is(reason, "network_error") ||
           str_is(reason, "insufficient_system_resource");
}

static struct err *take_finish(struct decode *d, const struct json *choice)
{
    struct str reason = json_get_text(choice, "finish_reason");
    struct str detail = json_get_text(choice, "native_finish_reason");
    const struct chat_stream *s = d->state;

    if (reason.n == 0)
        return NULL;
    if (detail.n == 0)
        detail = json_get_text(choice, "stop_reason"); /* the stop sequence that was met */
    if (is_breakdown(reason))
        return err_new(ERR_PROVIDER_UNAVAILABLE, "the provider aborted the answer: %" STR_FMT,
                       STR_ARG(reason));
    reply_set_stop(d->reply, reason, stop_of(reason));
    if (detail.n && !str_eq(detail, reason))
        reply_set_word(d->reply, &d->reply->stop_detail, detail);
    d->reply->is_complete = true;
    if (s->had_open_choice)
        chat_end_call(d->reply);
    return NULL;
}

/* Many send "stop" also after tool calls, and all send it after refusals. */
static void settle_stop(struct reply *r)
{
    for (size_t i = 0; i < r->n_parts && r->stop == STOP_END; i++) {
        if (r->parts[i].part.kind == PART_TOOL_CALL)
            r->stop = STOP_TOOL_CALLS;
        else if (r->parts[i].part.kind == PART_REFUSAL)
            r->stop = STOP_REFUSED;
    }
}

struct err *openai_chat_end(struct decode *d)
{
    struct chat_stream *s = d->state;

    if (s->tags.add)
        TRY(inline_tags_end(&s->tags, d->reply, &d->scratch));
    TRY(chat_settle_reasoning(d, &s->reasoning));
    TRY(chat_settle_audio(d->reply, &s->audio));
    settle_stop(d->reply);
    return NULL;
}

/* --- events --- */

static struct err *take_said(struct decode *d, const struct json *said, bool is_whole)
{
    struct chat_stream *s = d->state;

    TRY(chat_take_reasoning(d->reply, &s->reasoning, said, is_whole));
    TRY(chat_take_executed_tools(d->reply, json_get(said, "executed_tools")));
    TRY(take_content(d, json_get(said, "content")));
    TRY(chat_add_piece(d->reply, PART_REFUSAL, json_get_text(said, "refusal")));
    TRY(chat_take_audio(d->reply, &s->audio, json_get(said, "audio")));
    json_each (image, json_get(said, "images"))
        TRY(chat_take_image(d->reply, image));
    json_each (annotation, json_get(said, "annotations"))
        TRY(chat_take_annotation(d->reply, annotation));
    return chat_take_calls(d->reply, &s->calls, said, is_whole);
}

/* Vendors report errors in many ways. */
static bool is_error(struct str type, const struct json *event)
{
    int64_t status = json_int_or(json_get(json_get(event, "base_resp"), "status_code"), 0);

    if (error_value_is_set(json_get(event, "error")) || str_is(type, "error") || status ||
        str_is(json_get_text(event, "object"), "error"))
        return true;
    return !json_has(event, "choices") &&
           (error_value_is_set(json_get(event, "message")) || error_body_is_error(event));
}

static void take_head(struct reply *r, const struct json *event)
{
    if (r->id.n == 0)
        reply_set_word(r, &r->id, json_get_text(event, "id"));
    if (r->model.n == 0)
        reply_set_word(r, &r->model, json_get_text(event, "model"));
}

/* The member with the content. Some streams have a delta and the message so far, and some whole
 * answers an empty delta. */
static const struct json *said_in(const struct json *choice, bool is_whole)
{
    const struct json *delta = json_get(choice, "delta"), *message = json_get(choice, "message");

    if (json_is(message, JSON_OBJECT) && (is_whole || !json_is(delta, JSON_OBJECT)))
        return message;
    return delta;
}

static struct err *take_choice(struct decode *d, const struct json *event,
                               const struct json *choice, bool is_whole)
{
    const struct json *said = said_in(choice, is_whole);
    struct chat_stream *s = d->state;

    if (error_value_is_set(json_get(choice, "error")))
        return openai_classify(0, choice);
    s->had_choice = true;
    chat_take_route(d->reply, event, said);
    if (d->reply->is_complete && s->had_open_choice)
        return NULL; /* the answer has ended */
    s->had_open_choice |= json_get_text(choice, "finish_reason").n == 0;
    TRY(take_said(d, said, is_whole));
    return take_finish(d, choice);
}

static struct err *take_chunk(struct decode *d, struct str type, const struct json *event,
                              bool is_whole)
{
    struct chat_stream *s = d->state;

    if (is_error(type, event))
        return openai_classify(0, event);
    take_head(d->reply, event);
    chat_take_usage(d->reply, event);
    json_each (choice, json_get(event, "choices"))
        if (json_int_or(json_get(choice, "index"), 0) == 0)
            TRY(take_choice(d, event, choice, is_whole));
    return s->has_sources ? NULL : chat_take_sources(d->reply, event, &s->has_sources);
}

bool openai_chat_is_event(struct str type, const struct json *event)
{
    return json_is(json_get(event, "choices"), JSON_ARRAY) || json_has(event, "usage") ||
           str_starts(json_get_text(event, "object"), S("chat.completion"));
}

struct err *openai_chat_event(struct decode *d, struct str type, const struct json *event)
{
    const struct chat_stream *s = d->state;

    if (d->is_over)
        return NULL;
    if (event)
        return take_chunk(d, type, event, /* is_whole= */ false);
    if (!s->had_choice)
        return err_new(ERR_BAD_RESPONSE, "the answer has no choices");
    d->reply->is_complete = d->is_over = true;
    return NULL;
}

struct err *openai_chat_body(struct decode *d, const struct json *body)
{
    TRY(take_chunk(d, S("message"), body, /* is_whole= */ true));
    if (!json_is(json_get(body, "choices"), JSON_ARRAY) || json_get(body, "choices")->n == 0)
        return err_new(ERR_BAD_RESPONSE, "the answer has no choices");
    d->reply->is_complete = true;
    return openai_chat_end(d);
}
