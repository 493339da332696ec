/* journal.c - one line for each event. */
#include "view/journal.h"

#include "model/message_json.h"
#include "view/field.h"
#include "view/journal_fields.h"
#include "view/map.h"

static void field_tool_set(struct json_writer *w, const char *key, const struct tool_set *set)
{
    jw_key(w, key);
    jw_begin_array(w);
    for (size_t i = 0; set && i < set->n; i++)
        journal_schema(w, &set->entries[i].def);
    jw_end_array(w);
}

/* --- sessions and runs --- */

static void session_fields(struct json_writer *w, const struct event_session *s)
{
    jw_kv_str(w, "cwd", s->cwd);
    jw_kv_str(w, "provider", s->provider);
    jw_kv_str(w, "model", s->model);
    jw_kv_str(w, "systemPrompt", s->system);
    jw_kv_int(w, "systemPromptLength", (int64_t)s->system.n);
    field_tool_set(w, "toolSchemas", s->tools);
}

static void field_native_tool(struct json_writer *w, const char *key,
                              const struct native_web_tool *t)
{
    jw_key(w, key);
    jw_begin_object(w);
    jw_kv_bool(w, "supported", t->is_supported);
    jw_kv_bool(w, "enabled", t->is_enabled);
    jw_end_object(w);
}

static void field_history(struct json_writer *w, const struct history *h,
                          const struct journal_links *l)
{
    if (l)
        journal_range(w, "history", l);
    if (l || !h)
        return;
    jw_key(w, "history");
    jw_begin_array(w);
    for (size_t i = 0; i < h->n; i++)
        if (h->entries[i].message)
            message_write(w, h->entries[i].message);
    jw_end_array(w);
}

static void run_fields(struct json_writer *w, const struct event *e, const struct journal_links *l)
{
    const struct event_run *r = &e->body.run;

    jw_kv_str(w, "policy", str_of(r->policy));
    jw_kv_str(w, "provider", r->provider);
    jw_kv_str(w, "model", r->model);
    jw_key(w, "nativeWebTools");
    jw_begin_object(w);
    field_native_tool(w, "webSearch", &r->capabilities.web_search);
    field_native_tool(w, "webFetch", &r->capabilities.web_fetch);
    jw_end_object(w);
    jw_kv_str(w, "input", r->input);
    field_history(w, e->history, l);
}

static size_t content_length(const struct message *m)
{
    size_t n = 0;

    for (size_t i = 0; i < m->n_parts; i++) {
        if (m->parts[i].kind == PART_TEXT)
            n += m->parts[i].text.n;
        for (size_t k = 0; k < m->parts[i].n_content; k++)
            n += m->parts[i].content[k].text.n;
    }
    return n;
}

void journal_structure(struct json_writer *w, const struct message *m)
{
    bool has_calls = false;

    jw_begin_object(w);
    jw_kv_str(w, "role", str_of(role_name(m->role)));
    jw_kv_int(w, "contentLength", (int64_t)content_length(m));
    jw_key(w, "toolCallNames");
    jw_begin_array(w);
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL) {
            jw_str(w, m->parts[i].name);
            has_calls = true;
        }
    jw_end_array(w);
    jw_kv_bool(w, "hasToolCalls", has_calls);
    jw_key(w, "metadata");
    usage_write(w, &m->usage);
    jw_end_object(w);
}

static void field_structure(struct json_writer *w, const struct history *h,
                            const struct journal_links *l)
{
    struct str rest = l ? l->structure : (struct str){0}, line;

    if (!l && !h)
        return;
    jw_key(w, "historyStructure");
    jw_begin_array(w);
    if (l && l->structure_from)
        journal_range_entry(w, l, l->structure_from);
    while (str_split(&rest, '\n', &line))
        if (line.n)
            jw_raw(w, line);
    for (size_t i = 0; !l && i < h->n; i++)
        if (h->entries[i].message)
            journal_structure(w, h->entries[i].message);
    jw_end_array(w);
}

static void result_fields(struct json_writer *w, const struct event *e,
                          const struct journal_links *l)
{
    const struct run_result *r = e->body.result;

    jw_kv_str(w, "outcome", str_of(run_outcome_name(r->outcome)));
    jw_kv_str(w, "content", r->text);
    if (r->value)
        journal_json(w, "value", r->value);
    if (r->error)
        field_failure(w, "error", r->error);
    if (r->forced != FINAL_NONE)
        jw_kv_str(w, "forcedFinalReason", str_of(final_reason_name(r->forced)));
    journal_text(w, "stopReason", r->stop_reason);
    jw_kv_int(w, "rounds", r->n_rounds);
    jw_kv_int(w, "attempts", r->n_attempts);
    jw_kv_int(w, "toolsExecuted", r->n_tools_executed);
    jw_key(w, "usage");
    usage_write(w, &r->usage);
    jw_kv_int(w, "costMicrocents", r->cost_microcents);
    jw_kv_bool(w, "costIsKnown", r->cost_is_known);
    jw_kv_int(w, "durationMs", (int64_t)r->duration_ms);
    jw_kv_int(w, "apiDurationMs", (int64_t)r->api_duration_ms);
    field_history(w, e->history, l);
    field_structure(w, e->history, l);
}

/* --- context --- */

static void context_fields(struct json_writer *w, const struct event_context *c)
{
    field_context(w, "contextState", c->used, c->window);
    jw_kv_int(w, "serializedTokens", c->serialized);
    jw_kv_int(w, "providerTokens", c->counted);
    jw_kv_bool(w, "isExact", c->is_exact);
}

static void compact_fields(struct json_writer *w, const struct event_compact *c)
{
    jw_kv_str(w, "trigger", str_of(c->trigger));
    if (c->n_results)
        jw_kv_int(w, "results", (int64_t)c->n_results);
    field_context(w, "before", c->before.used, c->before.window);
    field_context(w, "after", c->after.used, c->after.window);
}

/* --- messages and tool calls --- */

static void history_fields(struct json_writer *w, const struct event_message *b)
{
    jw_kv_str(w, "mutation", str_of(b->mutation));
    jw_kv_int(w, "index", (int64_t)b->index);
    if (b->n_of)
        jw_kv_int(w, "of", (int64_t)b->n_of);
    if (b->is_kept)
        jw_kv_bool(w, "kept", true);
    journal_message(w, "message", b->message);
}

static void batch_fields(struct json_writer *w, const struct event_batch *b)
{
    jw_kv_str(w, "batchId", b->id);
    jw_kv_str(w, "mode", str_of(b->mode));
    jw_key(w, "maxConcurrency");
    if (b->max_concurrency)
        jw_int(w, b->max_concurrency);
    else
        jw_null(w); /* no bound */
    jw_kv_int(w, "requestCount", (int64_t)b->n_requests);
    jw_key(w, "tools");
    jw_begin_array(w);
    for (size_t i = 0; b->message && i < b->message->n_parts; i++)
        if (b->message->parts[i].kind == PART_TOOL_CALL)
            jw_str(w, b->message->parts[i].name);
    jw_end_array(w);
}

static void tool_fields(struct json_writer *w, const struct event_tool *t)
{
    jw_kv_str(w, "batchId", t->batch_id);
    jw_kv_int(w, "index", (int64_t)t->index);
    jw_kv_str(w, "toolName", t->name);
    jw_kv_str(w, "toolCallId", t->call_id);
}

static void tool_request_fields(struct json_writer *w, const struct event_tool *t)
{
    tool_fields(w, t);
    journal_json(w, "parameters", t->args);
    field_owner_path(w, "ownerPath", t->owner);
    jw_kv_str(w, "risk", str_of(risk_name(t->risk)));
}

static void field_metadata(struct json_writer *w, const struct event_tool *t)
{
    if (t->metadata) {
        journal_json(w, "metadata", t->metadata);
        return;
    }
    jw_key(w, "metadata");
    jw_begin_object(w);
    if (t->error_code)
        jw_kv_str(w, "errorCode", str_of(t->error_code));
    jw_end_object(w);
}

static void tool_result_fields(struct json_writer *w, const struct event_tool *t)
{
    tool_fields(w, t);
    jw_kv_bool(w, "success", t->is_ok);
    field_result_text(w, t->is_ok ? "result" : "error", t->result);
    field_metadata(w, t);
    field_owner_path(w, "ownerPath", t->owner);
    jw_kv_bool(w, "executed", t->was_executed);
    jw_kv_bool(w, "denied", t->was_denied);
    jw_kv_int(w, "durationMs", (int64_t)t->duration_ms);
    jw_kv_int(w, "charactersIn", (int64_t)t->n_chars_in);
    jw_kv_int(w, "charactersOut", (int64_t)t->n_chars_out);
}

/* --- questions, notices --- */

static void ask_fields(struct json_writer *w, const struct ask *a)
{
    jw_kv_str(w, "kind", str_of(ask_kind_name(a->kind)));
    journal_text(w, "toolCallId", a->call_id);
    journal_text(w, "toolName", a->tool);
    journal_json(w, "parameters", a->args);
    jw_kv_str(w, "text", a->text);
}

static void answer_fields(struct json_writer *w, const struct event_ask *b)
{
    static const char *const kinds[] = {"nobody",  "later",   "no",   "once",
                                        "session", "project", "value"};

    ask_fields(w, b->ask);
    jw_kv_str(w, "answer", str_of(kinds[b->answer->kind]));
    journal_text(w, "reason", b->answer->reason);
    if (b->answer->value)
        journal_json(w, "value", b->answer->value);
}

static void notice_fields(struct json_writer *w, const struct event_notice *n)
{
    jw_kv_str(w, "severity", str_of(severity_name(n->severity)));
    jw_kv_str(w, "source", str_of(n->source));
    jw_kv_str(w, "message", n->text);
    if (n->details)
        journal_json(w, "details", n->details);
}

static void rewind_fields(struct json_writer *w, const struct event_rewind *b)
{
    jw_kv_int(w, "toTurn", b->turn);
    jw_kv_int(w, "toSeq", (int64_t)b->seq);
    jw_kv_bool(w, "conversation", b->takes_messages);
    jw_kv_int(w, "files", (int64_t)b->n_files);
}

static void checkpoint_fields(struct json_writer *w, const struct event_checkpoint *c)
{
    jw_kv_int(w, "baseSeq", (int64_t)c->base_seq);
    field_json(w, "state", c->state);
    jw_key(w, "usage");
    usage_write(w, &c->usage);
    jw_kv_int(w, "costMicrocents", c->cost_microcents);
    jw_kv_bool(w, "costIsKnown", c->cost_is_known);
    if (c->is_estimated)
        jw_kv_bool(w, "isEstimated", true);
    if (c->is_unpriced)
        jw_kv_bool(w, "isUnpriced", true);
    jw_kv_int(w, "rounds", (int64_t)c->n_rounds);
    jw_kv_int(w, "toolCalls", (int64_t)c->n_tool_calls);
    jw_kv_int(w, "activeMs", (int64_t)c->active_ms);
}

/* --- the line --- */

struct str journal_name(const struct event *e)
{
    if (e->type == EVENT_DELTA && e->body.delta.delta->kind == DELTA_SERVER_TOOL)
        return S("server_tool");
    /* Text that people saw and no provider sent: round separators, a report's text. */
    if (e->type == EVENT_DELTA &&
        (e->body.delta.is_separator || e->body.delta.source == SOURCE_FINALIZE))
        return S("text_delta");
    if (e->type == EVENT_DELTA)
        return S("provider_stream_raw_delta");
    if (e->type == EVENT_RUN_END)
        return e->body.result->outcome == RUN_DONE ? S("assistant") : S("run_end");
    return str_of(view_names(VIEW_JOURNAL, e->type));
}

static void body_fields(struct json_writer *w, const struct event *e, const struct journal_links *l)
{
    switch (e->type) {
    case EVENT_SESSION_BEGIN:
        session_fields(w, &e->body.session);
        break;
    case EVENT_RUN_BEGIN:
    case EVENT_PRE_RUN:
        run_fields(w, e, l);
        break;
    case EVENT_USER_INPUT:
    case EVENT_ASSISTANT_COMMITTED:
        journal_message(w, "message", e->body.message.message);
        break;
    case EVENT_TOOLS_CHANGED:
        jw_kv_int(w, "toolsVersion", (int64_t)e->body.tools.tools->version);
        field_tool_set(w, "toolSchemas", e->body.tools.tools);
        break;
    case EVENT_CONTEXT:
        context_fields(w, &e->body.context);
        break;
    case EVENT_COMPACTED:
        compact_fields(w, &e->body.compact);
        break;
    case EVENT_FINAL_TURN:
        jw_kv_str(w, "reason", str_of(final_reason_name(e->body.final.reason)));
        jw_kv_str(w, "instruction", e->body.final.instruction);
        break;
    case EVENT_ATTEMPT_BEGIN:
        journal_attempt(w, e);
        break;
    case EVENT_PROVIDER_REQUEST:
        journal_request(w, &e->body.request, l);
        break;
    case EVENT_NATIVE_PAYLOAD:
        journal_payload(w, e->body.payload);
        break;
    case EVENT_DELTA:
        if (e->body.delta.delta->kind == DELTA_SERVER_TOOL)
            journal_server_tool(w, &e->body.delta);
        else
            journal_delta(w, &e->body.delta);
        break;
    case EVENT_RESPONSE_RAW:
        journal_reply(w, &e->body.reply);
        break;
    case EVENT_ATTEMPT_END:
        journal_attempt_end(w, e);
        break;
    case EVENT_RETRY:
        journal_attempt(w, e);
        jw_kv_int(w, "delayMs", (int64_t)e->body.attempt.delay_ms);
        break;
    case EVENT_FALLBACK:
        journal_attempt(w, e);
        jw_kv_str(w, "nextProvider", e->body.attempt.next_provider);
        jw_kv_str(w, "nextModel", e->body.attempt.next_model);
        break;
    case EVENT_RESPONSE_NORMALIZED:
        journal_normalized(w, &e->body.message);
        break;
    case EVENT_HISTORY:
        history_fields(w, &e->body.message);
        break;
    case EVENT_BATCH_BEGIN:
        batch_fields(w, &e->body.batch);
        break;
    case EVENT_TOOL_REQUEST:
    case EVENT_TOOL_EARLY:
        tool_request_fields(w, &e->body.tool);
        break;
    case EVENT_TOOL_DROPPED:
        tool_fields(w, &e->body.tool);
        jw_kv_str(w, "errorCode", str_of(e->body.tool.error_code));
        break;
    case EVENT_TOOL_BEGIN:
        tool_fields(w, &e->body.tool);
        break;
    case EVENT_TOOL_PROGRESS:
        tool_fields(w, &e->body.tool);
        jw_kv_str(w, "text", e->body.tool.progress);
        break;
    case EVENT_TOOL_END:
    case EVENT_TOOL_RESULT:
        tool_result_fields(w, &e->body.tool);
        break;
    case EVENT_TOOL_COMMITTED:
        tool_fields(w, &e->body.tool);
        journal_message(w, "message", e->body.tool.message);
        break;
    case EVENT_SNAPSHOT:
        journal_snapshot(w, &e->body.snapshot);
        break;
    case EVENT_PRE_IMAGE:
        journal_pre_image(w, &e->body.image);
        break;
    case EVENT_STATE:
        jw_kv_str(w, "key", e->body.state.key);
        field_json(w, "value", e->body.state.value);
        break;
    case EVENT_ASKED:
        ask_fields(w, e->body.ask.ask);
        break;
    case EVENT_ANSWERED:
        answer_fields(w, &e->body.ask);
        break;
    case EVENT_NOTICE:
        notice_fields(w, &e->body.notice);
        break;
    case EVENT_ERROR:
        field_failure(w, "error", e->body.error);
        break;
    case EVENT_RUN_END:
        result_fields(w, e, l);
        break;
    case EVENT_REWOUND:
        rewind_fields(w, &e->body.rewind);
        break;
    case EVENT_CHECKPOINT:
        checkpoint_fields(w, &e->body.checkpoint);
        break;
    case EVENT_SESSION_END:
        jw_kv_str(w, "reason", str_of(e->body.session.reason));
        break;
    case EVENT_TEXT_DROPPED:
    case EVENT_N_TYPES:
        break;
    }
}

static void begin_line(struct json_writer *w, const struct event *e, struct str name,
                       struct strbuf *out)
{
    jw_init(w, out);
    jw_begin_object(w);
    field_time(w, "timestamp", e->unix_ms);
    jw_kv_str(w, "sessionId", e->stream);
    jw_kv_str(w, "event", name);
    jw_kv_int(w, "seq", (int64_t)e->seq);
    jw_kv_str(w, "executionId", e->run_id);
    jw_kv_str(w, "conversationId", e->stream);
    journal_text(w, "parentSessionId", e->parent_stream);
    jw_kv_int(w, "turn", e->turn);
    jw_kv_int(w, "round", e->round);
    if (e->attempt)
        jw_kv_int(w, "attempt", e->attempt);
}

static void end_line(struct json_writer *w, struct strbuf *out)
{
    jw_end_object(w);
    strbuf_add_char(out, '\n');
}

void journal_write_linked(const struct event *e, const struct journal_links *l, struct strbuf *out)
{
    struct json_writer w;

    begin_line(&w, e, journal_name(e), out);
    body_fields(&w, e, l);
    end_line(&w, out);
}

bool journal_write_shown(const struct event *e, struct strbuf *out)
{
    const struct event_delta *b = &e->body.delta;
    struct json_writer w;

    if (e->type != EVENT_DELTA || b->is_separator || b->source != SOURCE_STREAM ||
        b->delta->kind != DELTA_TEXT)
        return false;
    begin_line(&w, e, S("text_delta"), out);
    jw_kv_str(&w, "delta", b->delta->text);
    end_line(&w, out);
    return true;
}

void journal_write_brief(const struct event *e, const struct json_long_texts *long_texts,
                         struct strbuf *out)
{
    struct json_writer w;

    begin_line(&w, e, journal_name(e), out);
    w.long_texts = long_texts;
    body_fields(&w, e, NULL);
    end_line(&w, out);
}

void journal_write(const struct event *e, struct strbuf *out)
{
    journal_write_linked(e, NULL, out);
}
