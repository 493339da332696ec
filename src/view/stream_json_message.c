/* stream_json_message.c - writes messages and tool results in the form of the Messages API. */
#include "view/stream_json_line.h"

#include "base/base64.h"
#include "base/uuid.h"

static int64_t or_zero(int64_t n)
{
    return MAX(n, 0);
}

/* The SDK's type has no optional members here. Members that other providers lack have the values
 * that Anthropic sends for unused features. */
void usage_block(struct json_writer *w, const struct usage *u)
{
    int64_t written = or_zero(u->cache_write);

    jw_begin_object(w);
    jw_kv_int(w, "input_tokens", usage_fresh_input(u));
    jw_kv_int(w, "cache_creation_input_tokens", written);
    jw_kv_int(w, "cache_read_input_tokens", or_zero(u->cache_read));
    jw_kv_int(w, "output_tokens", usage_completion(u));
    jw_key(w, "output_tokens_details");
    jw_begin_object(w);
    jw_kv_int(w, "thinking_tokens", or_zero(u->reasoning));
    jw_end_object(w);
    jw_key(w, "server_tool_use");
    jw_begin_object(w);
    jw_kv_int(w, "web_search_requests", or_zero(u->web_searches));
    jw_kv_int(w, "web_fetch_requests", 0);
    jw_end_object(w);
    jw_kv_str(w, "service_tier", S("standard"));
    jw_key(w, "cache_creation");
    jw_begin_object(w);
    jw_kv_int(w, "ephemeral_1h_input_tokens", 0);
    jw_kv_int(w, "ephemeral_5m_input_tokens", written);
    jw_end_object(w);
    jw_kv_str(w, "inference_geo", S(""));
    jw_kv_raw(w, "iterations", S("[]"));
    jw_kv_str(w, "speed", S("standard"));
    jw_kv_raw(w, "fallback_credit", S("null"));
    jw_end_object(w);
}

void message_head(struct json_writer *w, struct str id, struct str model)
{
    jw_key(w, "message");
    jw_begin_object(w);
    jw_kv_str(w, "id", id);
    jw_kv_str(w, "type", S("message"));
    jw_kv_str(w, "role", S("assistant"));
    jw_kv_str(w, "model", model);
    jw_key(w, "content");
    jw_begin_array(w);
}

void message_tail(struct json_writer *w, const struct usage *u)
{
    static const char *const nothing[] = {"stop_reason", "stop_sequence",      "stop_details",
                                          "container",   "context_management", "diagnostics"};

    jw_end_array(w);
    for (size_t i = 0; i < ARRAY_LEN(nothing); i++)
        jw_kv_raw(w, nothing[i], S("null"));
    jw_key(w, "usage");
    usage_block(w, u);
    jw_end_object(w);
}

void field_stop(struct json_writer *w, struct str reason, enum stop stop)
{
    static const char *const words[] = {[STOP_END] = "end_turn",
                                        [STOP_TOOL_CALLS] = "tool_use",
                                        [STOP_LENGTH] = "max_tokens",
                                        [STOP_FILTERED] = "refusal",
                                        [STOP_REFUSED] = "refusal",
                                        [STOP_PAUSED] = "pause_turn",
                                        [STOP_OVERFLOW] = "model_context_window_exceeded",
                                        [STOP_UNREAD] = "tool_use"};

    jw_key(w, "stop_reason");
    if (str_is(reason, REPLY_ABORTED)) /* not a reason of that API */
        jw_null(w);
    else if (str_is(reason, "stop_sequence"))
        jw_str(w, reason);
    else if (stop != STOP_UNKNOWN)
        jw_str(w, str_of(words[stop]));
    else if (reason.n)
        jw_str(w, reason);
    else
        jw_null(w);
}

struct str failure_word(enum err_kind kind)
{
    switch (kind) {
    case ERR_PROVIDER_AUTH:
    case ERR_CONFIGURATION:
        return S("authentication_failed");
    case ERR_PROVIDER_RATE_LIMIT:
        return S("rate_limit");
    case ERR_PROVIDER_UNAVAILABLE:
    case ERR_CIRCUIT_OPEN:
        return S("overloaded");
    case ERR_VALIDATION:
    case ERR_CONTEXT_OVERFLOW:
        return S("invalid_request");
    case ERR_MODEL_NOT_AVAILABLE:
        return S("model_not_found");
    case ERR_BUDGET_EXCEEDED:
        return S("billing_error");
    case ERR_PROVIDER_ERROR:
    case ERR_BAD_RESPONSE:
    case ERR_NETWORK:
    case ERR_TIMEOUT:
        return S("server_error");
    default:
        return S("unknown");
    }
}

/* --- blocks --- */

/* A text with citations is kept as its block, which has this form. */
static bool has_citations(const struct part *p)
{
    return p->kind == PART_TEXT && str_starts(p->native, S("{\"type\":\"text\""));
}

static void text_block(struct json_writer *w, struct str text)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", S("text"));
    jw_kv_str(w, "text", text);
    jw_kv_raw(w, "citations", S("null"));
    jw_end_object(w);
}

static void reasoning_block(struct json_writer *w, const struct part *p)
{
    bool is_redacted = p->data.n && p->text.n == 0;

    jw_begin_object(w);
    jw_kv_str(w, "type", is_redacted ? S("redacted_thinking") : S("thinking"));
    if (is_redacted) {
        jw_kv_str(w, "data", p->data);
    } else {
        jw_kv_str(w, "thinking", p->text);
        jw_kv_str(w, "signature", p->signature);
    }
    jw_end_object(w);
}

static void call_block(struct json_writer *w, const struct part *p, struct str type)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", type);
    jw_kv_str(w, "id", p->id);
    jw_kv_str(w, "name", p->name);
    if (p->is_free_text) {
        jw_key(w, "input");
        jw_begin_object(w);
        jw_kv_str(w, "input", p->args);
        jw_end_object(w);
    } else {
        field_raw(w, "input", p->args);
    }
    jw_end_object(w);
}

static void media_block(struct json_writer *w, const struct media *m)
{
    AUTO(strbuf) struct strbuf text = {0};
    bool is_url = m->source == MEDIA_URL;

    if (m->source == MEDIA_BLOB) {
        strbuf_addf(&text, "[%" STR_FMT ", stored as %" STR_FMT "]", STR_ARG(m->mime),
                    STR_ARG(m->data));
        text_block(w, strbuf_str(&text));
        return;
    }
    jw_begin_object(w);
    jw_kv_str(w, "type", str_starts(m->mime, S("image/")) ? S("image") : S("document"));
    jw_key(w, "source");
    jw_begin_object(w);
    jw_kv_str(w, "type", is_url ? S("url") : S("base64"));
    if (is_url) {
        jw_kv_str(w, "url", m->data);
    } else {
        jw_kv_str(w, "media_type", m->mime);
        base64_add(&text, m->data);
        jw_kv_str(w, "data", strbuf_str(&text));
    }
    jw_end_object(w);
    jw_end_object(w);
}

/* False: the part is not a block of its own there. */
static bool part_is_block(const struct message *m, const struct part *p)
{
    switch (p->kind) {
    case PART_TEXT:
    case PART_REFUSAL:
        return p->text.n > 0;
    case PART_REASONING:
        return p->text.n || p->data.n || p->signature.n;
    case PART_SERVER_TOOL_RESULT: /* in its provider's form, which only Anthropic's shares */
        return p->native.n && str_is(m->origin.protocol, "anthropic-messages");
    case PART_MEDIA:
    case PART_TOOL_CALL:
    case PART_SERVER_TOOL_USE:
        return true;
    case PART_TOOL_RESULT:
    case PART_CITATION:
    case PART_CONTEXT:
        return false;
    }
    return false;
}

static void block(struct json_writer *w, const struct part *p)
{
    switch (p->kind) {
    case PART_REASONING:
        reasoning_block(w, p);
        break;
    case PART_TOOL_CALL:
        call_block(w, p, S("tool_use"));
        break;
    case PART_SERVER_TOOL_USE:
        call_block(w, p, S("server_tool_use"));
        break;
    case PART_SERVER_TOOL_RESULT:
        value_raw(w, p->native);
        break;
    case PART_MEDIA:
        media_block(w, &p->media);
        break;
    default:
        if (has_citations(p))
            value_raw(w, p->native);
        else
            text_block(w, p->text);
    }
}

/* --- lines --- */

/* What the lines of a message share. */
struct message_line {
    struct str id, model;
    const struct usage *usage;
    bool is_error, is_aborted;
};

static void write_block_line(struct stream_json *s, const struct event *e, const struct part *p,
                             const struct message_line *l, struct strbuf *out)
{
    struct json_writer w;

    line_begin(&w, out, "assistant");
    message_head(&w, l->id, l->model);
    block(&w, p);
    message_tail(&w, l->usage);
    line_parent(&w, e);
    if (l->is_error)
        jw_kv_str(&w, "error", failure_word(s->has_failed ? s->failure : ERR_INTERNAL));
    if (l->is_aborted)
        jw_kv_bool(&w, "aborted", true);
    line_end(s, &w, e);
}

/* One line per block, as in the reference; the lines share the id of the message. The first lines
 * of a streamed answer may be written already. */
void write_assistant(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct message *m = e->body.message.message;
    bool is_own = event_is_child(e) || m->is_error;
    bool is_ours = m->is_error || m->origin.model.n == 0; /* keel's text, not a model's */
    struct str model = m->usage.routed_model.n ? m->usage.routed_model : m->origin.model;
    struct message_line line = {.id = is_own ? m->id : message_id(s, e, m->id),
                                .model = is_ours ? S("<synthetic>") : model,
                                .usage = &m->usage,
                                .is_error = m->is_error,
                                .is_aborted = m->state == MESSAGE_INTERRUPTED};

    for (size_t i = is_own ? 0 : s->n_reported; i < m->n_parts; i++)
        if (part_is_block(m, &m->parts[i]))
            write_block_line(s, e, &m->parts[i], &line, out);
    if (is_own)
        return;
    strbuf_clear(&s->message_id); /* the next message is another one */
    s->n_reported = s->n_reported_lines = 0;
}

/* Lines keep the order of the parts: if one is not complete, the following ones wait, too. Parts
 * that only their provider can read depend on the provider, and wait as well. */
void write_part(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct event_delta *d = &e->body.delta;
    const struct message from_model = {0};
    struct message_line line = {.model =
                                    d->reply->model.n ? d->reply->model : strbuf_str(&s->model),
                                .usage = &d->reply->usage};

    if (!d->part || d->delta->part != s->n_reported || d->part->kind == PART_SERVER_TOOL_RESULT)
        return;
    s->n_reported++;
    if (!part_is_block(&from_model, d->part))
        return;
    line.id = message_id(s, e, d->reply->id);
    write_block_line(s, e, d->part, &line, out);
    s->n_reported_lines++;
}

/* With the uuid of its sender, if that is valid. */
void write_prompt(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct message *m = e->body.message.message;
    struct json_writer w;

    line_begin(&w, out, "user");
    jw_key(&w, "message");
    jw_begin_object(&w);
    jw_kv_str(&w, "role", S("user"));
    jw_key(&w, "content");
    jw_begin_array(&w);
    for (size_t i = 0; i < m->n_parts; i++)
        if (part_is_block(m, &m->parts[i]))
            block(&w, &m->parts[i]);
    jw_end_array(&w);
    jw_end_object(&w);
    line_parent(&w, e);
    field_time(&w, "timestamp", e->unix_ms);
    jw_kv_bool(&w, "isReplay", true);
    if (uuid_is_valid(m->id))
        line_end_as(s, &w, m->id);
    else
        line_end(s, &w, e);
}

/* Text alone is a string, anything else a list of blocks. */
static void field_content(struct json_writer *w, const struct part *result)
{
    bool has_media = false;

    for (size_t i = 0; result && i < result->n_content; i++)
        has_media |= result->content[i].kind == PART_MEDIA;
    if (!has_media) {
        field_result_text(w, "content", result);
        return;
    }
    jw_key(w, "content");
    jw_begin_array(w);
    for (size_t i = 0; i < result->n_content; i++)
        block(w, &result->content[i]);
    jw_end_array(w);
}

/* A failure is a text, as in the reference; else the details that the tool has for programs. */
static void field_details(struct json_writer *w, const struct event_tool *t)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (t->is_ok) {
        if (t->metadata)
            field_json(w, "tool_use_result", t->metadata);
        return;
    }
    strbuf_add_cstr(&text, "Error: ");
    result_text(t->result, &text);
    jw_kv_str(w, "tool_use_result", strbuf_str(&text));
}

void write_tool_result(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct event_tool *t = &e->body.tool;
    struct json_writer w;

    line_begin(&w, out, "user");
    jw_key(&w, "message");
    jw_begin_object(&w);
    jw_kv_str(&w, "role", S("user"));
    jw_key(&w, "content");
    jw_begin_array(&w);
    jw_begin_object(&w);
    jw_kv_str(&w, "tool_use_id", t->call_id);
    jw_kv_str(&w, "type", S("tool_result"));
    field_content(&w, t->result);
    jw_kv_bool(&w, "is_error", !t->is_ok);
    jw_end_object(&w);
    jw_end_array(&w);
    jw_end_object(&w);
    line_parent(&w, e);
    field_time(&w, "timestamp", e->unix_ms);
    field_details(&w, t);
    line_end(s, &w, e);
}
