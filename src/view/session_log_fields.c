/* session_log_fields.c - writes requests to a provider and its answers as fields of a log line. */
#include "view/session_log_fields.h"

#include "base/secrets.h"
#include "model/message_json.h"
#include "view/field.h"

void session_log_json(struct json_writer *w, const char *key, const struct json *v)
{
    AUTO(arena) struct arena scratch = {0};

    field_json(w, key, json_hide_secret_keys(&scratch, v));
}

void session_log_text(struct json_writer *w, const char *key, struct str text)
{
    if (text.n)
        jw_kv_str(w, key, text);
}

void session_log_message(struct json_writer *w, const char *key, const struct message *m)
{
    jw_key(w, key);
    if (m)
        message_write(w, m);
    else
        jw_null(w);
}

void session_log_schema(struct json_writer *w, const struct tool_def *d)
{
    jw_begin_object(w);
    jw_kv_str(w, "name", d->name);
    jw_kv_str(w, "description", d->description);
    jw_key(w, "parameters");
    if (d->input_schema)
        jw_json(w, d->input_schema);
    else
        jw_raw(w, S("{\"type\":\"object\",\"properties\":{}}"));
    jw_end_object(w);
}

void session_log_attempt(struct json_writer *w, const struct event *e)
{
    const struct event_attempt *a = &e->body.attempt;

    if (a->n_retry_slugs) {
        jw_key(w, "retrySlugs");
        jw_begin_array(w);
        for (size_t i = 0; i < a->n_retry_slugs; i++)
            jw_str(w, str_of(a->retry_slugs[i]));
        jw_end_array(w);
    }
    if (a->reserved.input || a->reserved.output) {
        jw_key(w, "reserved");
        jw_begin_object(w);
        jw_kv_int(w, "inputTokens", a->reserved.input);
        jw_kv_int(w, "outputTokens", a->reserved.output);
        jw_kv_int(w, "costMicrocents", a->reserved.microcents);
        jw_end_object(w);
    }
    if (e->type != EVENT_ATTEMPT_END)
        return;
    if (a->usage) {
        jw_key(w, "usage");
        usage_write(w, a->usage);
    }
    if (a->assumed) {
        jw_key(w, "assumed");
        usage_write(w, a->assumed);
        jw_kv_int(w, "assumedMicrocents", a->assumed_microcents);
    }
    jw_kv_int(w, "costMicrocents", a->cost_microcents);
}

/* --- values that are written once --- */

void session_log_range_entry(struct json_writer *w, const struct session_log_links *l, size_t n)
{
    jw_begin_object(w);
    jw_kv_str(w, "kind", S("history-range"));
    jw_kv_int(w, "baseSeq", (int64_t)l->base_seq);
    jw_kv_int(w, "from", 0);
    jw_kv_int(w, "to", (int64_t)n);
    if (n == l->n_messages)
        jw_kv_str(w, "sha256", str_of(l->sha256));
    jw_end_object(w);
}

void session_log_range(struct json_writer *w, const char *key, const struct session_log_links *l)
{
    jw_key(w, key);
    jw_begin_array(w);
    if (l->n_messages)
        session_log_range_entry(w, l, l->n_messages);
    jw_end_array(w);
}

static void write_same(struct json_writer *w, const struct session_log_same *same)
{
    jw_begin_object(w);
    jw_kv_str(w, "kind", S("same-as"));
    jw_kv_int(w, "seq", (int64_t)same->seq);
    jw_kv_str(w, "field", str_of(same->field));
    jw_kv_str(w, "sha256", str_of(same->sha256));
    jw_end_object(w);
}

static void field_cut(struct json_writer *w, const struct history_cut *cut)
{
    if (!cut)
        return;
    jw_key(w, "cut");
    jw_begin_object(w);
    if (cut->has_nothing)
        jw_kv_bool(w, "all", true);
    jw_kv_int(w, "skipped", (int64_t)cut->n_skipped);
    if (cut->n_behind)
        jw_kv_int(w, "behind", (int64_t)cut->n_behind);
    jw_key(w, "clipped");
    jw_begin_array(w);
    for (size_t i = 0; i < cut->n_clipped; i++)
        jw_int(w, (int64_t)cut->clipped[i]);
    jw_end_array(w);
    jw_end_object(w);
}

/* --- requests and answers --- */

static void request_context(struct json_writer *w, const struct event_request *b,
                            const struct session_log_links *l)
{
    const struct model_request *r = b->request;

    if (l && l->system.seq) {
        jw_key(w, "system");
        write_same(w, &l->system);
    } else {
        jw_kv_str(w, "system", r->system);
    }
    if (l) {
        session_log_range(w, "messages", l);
        field_cut(w, b->cut);
    } else {
        jw_key(w, "messages");
        jw_begin_array(w);
        for (size_t i = 0; i < r->n_messages; i++)
            message_write(w, r->messages[i]);
        jw_end_array(w);
    }
    jw_key(w, "tools");
    jw_begin_array(w);
    if (l && l->tools.seq)
        write_same(w, &l->tools);
    else
        for (size_t i = 0; i < r->n_tools; i++)
            session_log_schema(w, r->tools[i]);
    jw_end_array(w);
}

void session_log_request(struct json_writer *w, const struct event_request *b,
                         const struct session_log_links *l)
{
    const struct model_request *r = b->request;

    jw_kv_str(w, "provider", r->provider);
    jw_kv_str(w, "model", r->model);
    request_context(w, b, l);
    jw_key(w, "options");
    jw_begin_object(w);
    jw_kv_bool(w, "stream", r->stream);
    jw_kv_int(w, "maxOutputTokens", r->max_output);
    jw_kv_str(w, "effort", str_of(effort_name(r->effort)));
    if (r->sampling.temperature.is_set)
        jw_kv_double(w, "temperature", r->sampling.temperature.value);
    if (r->sampling.top_p.is_set)
        jw_kv_double(w, "topP", r->sampling.top_p.value);
    jw_kv_bool(w, "webSearch", r->web_search);
    jw_kv_bool(w, "webFetch", r->web_fetch);
    if (r->output_schema)
        field_json(w, "outputSchema", r->output_schema);
    jw_end_object(w);
    jw_key(w, "overlays");
    jw_begin_array(w);
    for (size_t i = 0; i < b->n_overlays; i++)
        jw_str(w, b->overlays[i]);
    jw_end_array(w);
    jw_kv_int(w, "toolsVersion", (int64_t)b->tools_version);
}

/* As JSON if it is JSON, else as text. */
static void field_payload(struct json_writer *w, struct str bytes)
{
    AUTO(arena) struct arena scratch = {0};
    struct json_where where;
    struct json *value;

    if (json_parse_at(&scratch, bytes, 0, &value, &where))
        field_raw(w, "payload", bytes);
    else
        jw_kv_str(w, "payload", bytes);
}

void session_log_payload(struct json_writer *w, const struct native_payload *p)
{
    jw_kv_str(w, "provider", p->provider);
    session_log_text(w, "apiSurface", p->api_surface);
    jw_kv_str(w, "payloadKind", str_of(payload_kind_name(p->kind)));
    jw_kv_int(w, "sequence", (int64_t)p->sequence);
    if (p->sha256.n) {
        jw_kv_str(w, "sha256", p->sha256);
        jw_kv_int(w, "byteLength", (int64_t)p->n_bytes);
    } else {
        field_payload(w, p->bytes);
    }
    if (p->http_status) {
        jw_key(w, "metadata");
        jw_begin_object(w);
        jw_kv_int(w, "httpStatus", p->http_status);
        jw_end_object(w);
    }
}

void session_log_delta(struct json_writer *w, const struct event_delta *b)
{
    static const char *const kinds[] = {"text",      "reasoning",   "refusal", "tool_begin",
                                        "tool_args", "server_tool", "part_end"};
    const struct delta *d = b->delta;

    jw_kv_int(w, "sequence", (int64_t)b->sequence);
    jw_kv_str(w, "delta", d->text);
    jw_kv_str(w, "kind", str_of(kinds[d->kind]));
    jw_kv_int(w, "part", (int64_t)d->part);
    session_log_text(w, "toolCallId", d->id);
    session_log_text(w, "toolName", d->name);
    jw_kv_str(w, "source", str_of(output_source_name(b->source)));
}

void session_log_server_tool(struct json_writer *w, const struct event_delta *b)
{
    jw_kv_str(w, "toolName", b->delta->name);
    jw_kv_str(w, "toolCallId", b->delta->id);
    jw_kv_str(w, "query", b->delta->text);
}

void session_log_reply(struct json_writer *w, const struct event_reply *b)
{
    const struct reply *r = b->reply;
    AUTO(message)
    struct message *m =
        reply_to_message(r, r->id, reply_state(r), (struct origin){.model = r->model});

    jw_kv_str(w, "responseKind", str_of(b->kind));
    session_log_message(w, "response", m);
    session_log_text(w, "stopDetail", r->stop_detail);
}

void session_log_normalized(struct json_writer *w, const struct event_message *b)
{
    jw_kv_str(w, "provider", b->message->origin.provider);
    jw_kv_str(w, "model", b->message->origin.model);
    jw_kv_int(w, "toolCallsCount", (int64_t)b->n_tool_calls);
    if (b->is_aside)
        jw_kv_bool(w, "isAside", true);
    session_log_message(w, "response", b->message);
}
