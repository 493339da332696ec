/* decode.c - reads answers of the Anthropic Messages API.
 *
 * A stream is: message_start, then blocks (start, deltas, stop; each with its index), message_delta
 * with the stop reason and the final usage, message_stop. A whole answer is the message itself, and
 * is read as if its blocks had been streamed. */
#include "provider/anthropic/anthropic.h"

#include "provider/provider_error.h"

#define MAX_BLOCKS REPLY_MAX_PARTS

/* A block being read: its part, and its first form, to put it together again. */
struct anthropic_block {
    bool is_open;
    size_t part;
    struct str start;
};

struct anthropic_stream {
    struct anthropic_block *blocks;
    size_t n_blocks, room;
    bool has_begun;
};

void anthropic_begin(struct decode *d)
{
    d->state = ARENA_NEW(&d->reply->arena, struct anthropic_stream);
}

/* --- errors --- */

struct err *anthropic_classify(int status, const struct json *body)
{
    static const struct {
        const char *type;
        enum err_kind kind;
    } types[] = {
        {"authentication_error", ERR_PROVIDER_AUTH},
        {"permission_error", ERR_PROVIDER_AUTH},
        {"billing_error", ERR_PROVIDER_AUTH},
        {"rate_limit_error", ERR_PROVIDER_RATE_LIMIT},
        {"overloaded_error", ERR_PROVIDER_UNAVAILABLE},
        {"api_error", ERR_PROVIDER_UNAVAILABLE},
        {"timeout_error", ERR_TIMEOUT},
        {"not_found_error", ERR_MODEL_NOT_AVAILABLE},
        {"request_too_large", ERR_CONTEXT_OVERFLOW},
        {"invalid_request_error", ERR_PROVIDER_ERROR},
    };
    struct str type = json_get_text(json_get(error_body_first(body), "error"), "type");
    struct str message = error_body_message(body);

    /* Other servers with this API call all their errors "api_error". */
    if (status >= 400 && status < 500 && str_is(type, "api_error"))
        type = (struct str){0};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(type, types[i].type)) {
            struct err *e = provider_error_new(types[i].kind, status, message.n ? message : type);

            return str_is(type, "billing_error") ? err_hint(e, PROVIDER_NO_CREDIT) : e;
        }
    return provider_error_new(provider_error_kind(status), status, message);
}

/* --- usage and stop --- */

/* Every report is cumulative; a later one may repeat only some of the numbers. */
static void take_usage(struct reply *r, const struct json *usage)
{
    struct usage *u = &r->usage;

    usage_take_count(u, &u->input, json_get(usage, "input_tokens"));
    usage_take_count(u, &u->output, json_get(usage, "output_tokens"));
    usage_take_count(u, &u->cache_read, json_get(usage, "cache_read_input_tokens"));
    usage_take_count(u, &u->cache_write, json_get(usage, "cache_creation_input_tokens"));
    usage_take_count(u, &u->web_searches,
                     json_get(json_get(usage, "server_tool_use"), "web_search_requests"));
}

static enum stop stop_of(struct str reason)
{
    static const struct {
        const char *reason;
        enum stop stop;
    } stops[] = {
        {"end_turn", STOP_END},
        {"stop_sequence", STOP_END},
        {"tool_use", STOP_TOOL_CALLS},
        {"max_tokens", STOP_LENGTH},
        {"model_context_window_exceeded", STOP_OVERFLOW},
        {"refusal", STOP_REFUSED},
        {"pause_turn", STOP_PAUSED},
    };

    for (size_t i = 0; i < ARRAY_LEN(stops); i++)
        if (str_is(reason, stops[i].reason))
            return stops[i].stop;
    return STOP_UNKNOWN;
}

/* Why the model declined, as far as the API says: words, a policy, and a model that may answer
 * instead. */
static void take_refusal(struct reply *r, const struct json *details)
{
    struct str words = str_trim(json_get_text(details, "explanation"));
    struct str policy = json_get_text(details, "category");
    struct str other = json_get_text(details, "recommended_model");
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_add(&text, words);
    if (policy.n)
        strbuf_addf(&text, words.n ? " (%" STR_FMT ")" : "%" STR_FMT, STR_ARG(policy));
    if (other.n)
        strbuf_addf(&text, "%sthe provider recommends %" STR_FMT, text.n ? "; " : "",
                    STR_ARG(other));
    if (text.n)
        reply_set_word(r, &r->stop_detail, strbuf_str(&text));
}

static void take_stop(struct reply *r, const struct json *holder)
{
    struct str reason = json_get_text(holder, "stop_reason");
    struct str sequence = json_get_text(holder, "stop_sequence");

    if (reason.n)
        reply_set_stop(r, reason, stop_of(reason));
    if (sequence.n)
        reply_set_word(r, &r->stop_detail, sequence);
    take_refusal(r, json_get(holder, "stop_details"));
}

static void take_message(struct reply *r, const struct json *message)
{
    reply_set_word(r, &r->id, json_get_text(message, "id"));
    reply_set_word(r, &r->model, json_get_text(message, "model"));
    take_usage(r, json_get(message, "usage"));
    take_stop(r, message);
}

/* --- blocks --- */

static enum part_kind kind_of_block(struct str type)
{
    if (str_is(type, "text"))
        return PART_TEXT;
    if (str_is(type, "thinking") || str_is(type, "redacted_thinking"))
        return PART_REASONING;
    if (str_is(type, "tool_use"))
        return PART_TOOL_CALL;
    if (str_ends(type, S("tool_use")))
        return PART_SERVER_TOOL_USE;
    return PART_SERVER_TOOL_RESULT; /* results, and kinds newer than this code */
}

static struct err *add_citation(struct reply *r, const struct json *citation)
{
    struct str title = json_get_text(citation, "title");
    struct part *p;
    size_t index;

    TRY(reply_begin(r, PART_CITATION, (struct str){0}, (struct str){0}, &index));
    TRY(reply_add_text(r, index, json_get_text(citation, "cited_text")));
    p = reply_part(r, index);
    TRY(reply_set_field(r, &p->url, json_get_text(citation, "url")));
    TRY(reply_set_field(r, &p->title, title.n ? title : json_get_text(citation, "document_title")));
    return reply_set_field(r, &p->native, citation->raw);
}

/* Takes the content with which a block begins: none in a stream, all of it in a whole answer.
 * Thinking has no arguments: they collect its signature until the block ends. */
static struct err *take_block_content(struct reply *r, size_t index, const struct json *block)
{
    struct part *p = reply_part(r, index);
    const struct json *input = json_get(block, "input");

    switch (p->kind) {
    case PART_TEXT:
        return reply_add_text(r, index, json_get_text(block, "text"));
    case PART_REASONING:
        TRY(reply_set_field(r, &p->data, json_get_text(block, "data")));
        TRY(reply_add_args(r, index, json_get_text(block, "signature")));
        return reply_add_text(r, index, json_get_text(block, "thinking"));
    case PART_TOOL_CALL:
    case PART_SERVER_TOOL_USE:
        if (!input || (input->type == JSON_OBJECT && input->n == 0))
            return NULL;
        return reply_add_args(r, index, input->raw);
    default:
        return NULL;
    }
}

static struct err *begin_block(struct reply *r, const struct json *block,
                               struct anthropic_block *ret_block)
{
    struct str type = json_get_text(block, "type");
    struct str id = json_get_text(block, "id"), name = json_get_text(block, "name");
    enum part_kind kind = kind_of_block(type);

    if (id.n == 0)
        id = json_get_text(block, "tool_use_id");
    if (kind == PART_SERVER_TOOL_RESULT && name.n == 0)
        name = type;
    TRY(reply_begin(r, kind, id, name, &ret_block->part));
    ret_block->is_open = true;
    ret_block->start = reply_str(r, block->raw);
    return take_block_content(r, ret_block->part, block);
}

static void set_streamed(struct arena *a, struct json *block, const char *key, struct str text)
{
    if (!str_eq(json_get_text(block, key), text))
        json_set_str(a, block, key, text);
}

/* Adds the streamed content to the block; false if it cannot be sent back. */
static bool complete_block(struct decode *d, const struct anthropic_block *b, struct json *block)
{
    struct str text = reply_part_text(d->reply, b->part), args = reply_part_args(d->reply, b->part);
    const struct part *p = reply_part(d->reply, b->part);
    const struct json *known = json_get(block, "input");
    struct json_where where;
    struct json *input;

    if (p->kind == PART_REASONING && p->data.n == 0) {
        set_streamed(&d->scratch, block, "thinking", text);
        set_streamed(&d->scratch, block, "signature", p->signature);
    } else if (p->kind == PART_SERVER_TOOL_USE && args.n && !(known && str_eq(known->raw, args))) {
        if (!json_parse_at(&d->scratch, args, 0, &input, &where))
            return false;
        json_set(&d->scratch, block, "input", input);
    } else if (p->kind == PART_SERVER_TOOL_RESULT && text.n) {
        set_streamed(&d->scratch, block, "content", text);
    }
    return true;
}

/* Keeps a text with its citations, which are the parts after it, in the form that the API accepts
 * back. */
static struct err *keep_citations(struct reply *r, size_t text)
{
    AUTO(strbuf) struct strbuf native = {0};
    struct json_writer w;
    size_t n = 0;

    jw_init(&w, &native);
    jw_begin_object(&w);
    jw_kv_str(&w, "type", S("text"));
    jw_kv_str(&w, "text", reply_part_text(r, text));
    jw_key(&w, "citations");
    jw_begin_array(&w);
    for (size_t i = text + 1; i < r->n_parts && r->parts[i].part.kind == PART_CITATION; i++, n++)
        jw_raw(&w, r->parts[i].part.native);
    jw_end_array(&w);
    jw_end_object(&w);
    return n ? reply_set_field(r, &reply_part(r, text)->native, strbuf_str(&native)) : NULL;
}

/* Keeps the block as the provider would have sent it whole, to send it back unchanged. */
static struct err *keep_block(struct decode *d, struct anthropic_block *b)
{
    struct reply *r = d->reply;
    struct part *p = reply_part(r, b->part);
    AUTO(strbuf) struct strbuf native = {0};
    struct json *block;

    if (p->kind == PART_TEXT)
        return keep_citations(r, b->part);
    if (p->kind == PART_TOOL_CALL)
        return NULL;
    if (p->kind == PART_REASONING)
        TRY(reply_set_field(r, &p->signature, reply_take_args(r, b->part)));
    TRY(json_parse(&d->scratch, b->start, 0, &block));
    if (!complete_block(d, b, block))
        return NULL;
    if (block->raw.n) /* nothing was added: keeps the bytes */
        return reply_set_field(r, &p->native, b->start);
    json_write(&native, block);
    return reply_set_field(r, &p->native, strbuf_str(&native));
}

static struct err *end_block(struct decode *d, struct anthropic_block *b)
{
    b->is_open = false;
    TRY(keep_block(d, b));
    reply_close(d->reply, b->part);
    return NULL;
}

static struct err *take_delta(struct reply *r, struct anthropic_block *b, const struct json *delta)
{
    struct str type = json_get_text(delta, "type");

    if (str_is(type, "text_delta"))
        return reply_add_text(r, b->part, json_get_text(delta, "text"));
    if (str_is(type, "thinking_delta"))
        return reply_add_text(r, b->part, json_get_text(delta, "thinking"));
    if (str_is(type, "input_json_delta"))
        return reply_add_args(r, b->part, json_get_text(delta, "partial_json"));
    if (str_is(type, "compaction_delta"))
        return reply_add_text(r, b->part, json_get_text(delta, "content"));
    if (str_is(type, "citations_delta") && json_get(delta, "citation"))
        return add_citation(r, json_get(delta, "citation"));
    if (str_is(type, "signature_delta") && reply_part(r, b->part)->kind == PART_REASONING)
        return reply_add_args(r, b->part, json_get_text(delta, "signature"));
    return NULL; /* a kind of delta newer than this code */
}

/* --- events --- */

static struct err *find_block(struct anthropic_stream *s, const struct json *event,
                              struct anthropic_block **ret_block)
{
    int64_t index = json_int_or(json_get(event, "index"), -1);

    if (index < 0 || (size_t)index >= s->n_blocks || !s->blocks[index].is_open)
        return err_new(ERR_BAD_RESPONSE, "the provider sent a delta for a block that is not open");
    *ret_block = &s->blocks[index];
    return NULL;
}

static struct err *on_block_start(struct decode *d, const struct json *event)
{
    struct anthropic_stream *s = d->state;
    int64_t index = json_int_or(json_get(event, "index"), -1);
    const struct json *block = json_get(event, "content_block");

    if (index < 0 || index >= MAX_BLOCKS || !json_is(block, JSON_OBJECT))
        return err_new(ERR_BAD_RESPONSE, "the provider began a block without a valid index");
    while (s->n_blocks <= (size_t)index) {
        s->blocks =
            arena_grow(&d->reply->arena, s->blocks, s->n_blocks, &s->room, sizeof *s->blocks);
        s->blocks[s->n_blocks++] = (struct anthropic_block){0};
    }
    return begin_block(d->reply, block, &s->blocks[index]);
}

static struct err *on_block_delta(struct decode *d, const struct json *event)
{
    struct anthropic_block *b;

    TRY(find_block(d->state, event, &b));
    return take_delta(d->reply, b, json_get(event, "delta"));
}

static struct err *on_block_stop(struct decode *d, const struct json *event)
{
    struct anthropic_block *b;

    TRY(find_block(d->state, event, &b));
    return end_block(d, b);
}

static struct err *on_message_start(struct decode *d, const struct json *event)
{
    struct anthropic_stream *s = d->state;

    if (s->has_begun)
        return err_new(ERR_BAD_RESPONSE, "the provider began a second message in one stream");
    s->has_begun = true;
    take_message(d->reply, json_get(event, "message"));
    return NULL;
}

static struct err *on_message_delta(struct decode *d, const struct json *event)
{
    take_stop(d->reply, json_get(event, "delta"));
    take_usage(d->reply, json_get(event, "usage"));
    return NULL;
}

static struct err *on_message_stop(struct decode *d, const struct json *event)
{
    d->reply->is_complete = d->is_over = true;
    return NULL;
}

static struct err *on_error(struct decode *d, const struct json *event)
{
    return anthropic_classify(0, event);
}

bool anthropic_is_event(struct str type, const struct json *event)
{
    struct str own = json_get_text(event, "type");

    type = own.n ? own : type;
    return str_starts(type, S("message_")) || str_starts(type, S("content_block_")) ||
           str_is(type, "ping");
}

struct err *anthropic_event(struct decode *d, struct str type, const struct json *event)
{
    static const struct {
        const char *type;
        struct err *(*take)(struct decode *d, const struct json *event);
    } events[] = {
        {"content_block_delta", on_block_delta},
        {"content_block_start", on_block_start},
        {"content_block_stop", on_block_stop},
        {"message_start", on_message_start},
        {"message_delta", on_message_delta},
        {"message_stop", on_message_stop},
        {"error", on_error},
    };

    if (d->is_over)
        return NULL; /* no answer after message_stop */
    if (json_get_text(event, "type").n)
        type = json_get_text(event, "type");
    else if (error_body_is_error(event))
        type = S("error"); /* not from this API, but from a server in between */
    for (size_t i = 0; i < ARRAY_LEN(events); i++)
        if (str_is(type, events[i].type))
            return events[i].take(d, event);
    return NULL; /* ping, and types newer than this code */
}

struct err *anthropic_body(struct decode *d, const struct json *body)
{
    if (str_is(json_get_text(body, "type"), "error") || json_has(body, "error"))
        return anthropic_classify(0, body);
    if (!json_is(json_get(body, "content"), JSON_ARRAY) && error_body_is_error(body))
        return anthropic_classify(0, body);
    if (!json_is(json_get(body, "content"), JSON_ARRAY))
        return err_new(ERR_BAD_RESPONSE, "the answer has no content");
    take_message(d->reply, body);
    json_each (content, json_get(body, "content")) {
        struct anthropic_block block;

        if (content->type != JSON_OBJECT)
            continue;
        TRY(begin_block(d->reply, content, &block));
        json_each (citation, json_get(content, "citations"))
            TRY(add_citation(d->reply, citation));
        TRY(end_block(d, &block));
    }
    d->reply->is_complete = d->reply->stop_reason.n > 0;
    return NULL;
}
