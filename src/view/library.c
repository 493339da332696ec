/* library.c - writes the events of the library, except logs and accounting. */
#include "view/library_line.h"

void library_begin(struct json_writer *w, struct strbuf *out, const char *type)
{
    jw_init(w, out);
    jw_begin_object(w);
    jw_key(w, "event");
    jw_begin_object(w);
    jw_kv_str(w, "type", str_of(type));
}

/* isFinal applies only to reports. */
static void end_line(const struct library_view *v, struct json_writer *w, const struct event *e,
                     bool is_final)
{
    jw_end_object(w);
    jw_key(w, "meta");
    jw_begin_object(w);
    jw_kv_bool(w, "isMaster", !v->is_sub_agent && !event_is_child(e));
    jw_kv_int(w, "pendingHandoffCount", v->n_pending_handoffs);
    jw_kv_bool(w, "handoffConfigured", v->has_handoff);
    jw_kv_bool(w, "isFinal", is_final);
    if (e->type == EVENT_DELTA)
        jw_kv_str(w, "source", str_of(output_source_name(e->body.delta.source)));
    jw_end_object(w);
    jw_end_object(w);
    strbuf_add_char(w->out, '\n');
}

void library_end(const struct library_view *v, struct json_writer *w, const struct event *e)
{
    end_line(v, w, e, false);
}

struct str library_agent(const struct event *e)
{
    const struct owner *agent = owner_find(e->owner, "agent");

    return agent ? agent->id : S("main");
}

static void write_delta(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct delta *d = e->body.delta.delta;
    bool is_text = d->kind == DELTA_TEXT || d->kind == DELTA_REFUSAL;
    struct json_writer w;

    if ((!is_text && d->kind != DELTA_REASONING) || d->text.n == 0)
        return;
    library_begin(&w, out, is_text ? "output" : "thinking");
    jw_kv_str(&w, "text", d->text);
    library_end(v, &w, e);
}

static void write_turn(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct event_attempt *a = &e->body.attempt;
    struct json_writer w;

    library_begin(&w, out, "turn_started");
    jw_kv_int(&w, "turn", e->round);
    jw_kv_int(&w, "attempt", e->attempt);
    jw_kv_bool(&w, "isRetry", a->is_retry);
    jw_kv_bool(&w, "isFinalTurn", a->is_final_turn);
    if (a->forced != FINAL_NONE)
        jw_kv_str(&w, "forcedFinalReason", str_of(final_reason_name(a->forced)));
    if (a->n_retry_slugs) {
        jw_key(&w, "retrySlugs");
        jw_begin_array(&w);
        for (size_t i = 0; i < a->n_retry_slugs; i++)
            jw_str(&w, str_of(a->retry_slugs[i]));
        jw_end_array(&w);
    }
    library_end(v, &w, e);
}

/* --- progress --- */

static void begin_progress(struct json_writer *w, struct strbuf *out, const struct event *e,
                           const char *type, const char *kind)
{
    library_begin(w, out, type);
    jw_key(w, "event");
    jw_begin_object(w);
    jw_kv_str(w, "type", str_of(kind));
    jw_kv_str(w, "agentId", library_agent(e));
    jw_kv_str(w, "txnId", e->run_id);
    jw_kv_int(w, "timestamp", e->unix_ms);
}

static void end_progress(const struct library_view *v, struct json_writer *w, const struct event *e)
{
    jw_end_object(w);
    library_end(v, w, e);
}

static void write_agent_started(const struct library_view *v, const struct event *e,
                                struct strbuf *out)
{
    struct json_writer w;

    begin_progress(&w, out, e, "progress", "agent_started");
    end_progress(v, &w, e);
}

/* A copy of it is `status`, for listeners that show one line only. */
static void write_update(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    static const char *const types[] = {"progress", "status"};
    struct json_writer w;

    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        begin_progress(&w, out, e, types[i], "agent_update");
        jw_kv_str(&w, "message", e->body.tool.progress);
        if (str_is(e->body.tool.name, "agent__task_status") && e->body.tool.args)
            field_json(&w, "taskStatus", e->body.tool.args);
        end_progress(v, &w, e);
    }
}

static void write_tool_progress(const struct library_view *v, const struct event *e,
                                struct strbuf *out)
{
    const struct event_tool *t = &e->body.tool;
    bool has_ended = e->type == EVENT_TOOL_RESULT;
    struct json_writer w;

    begin_progress(&w, out, e, "progress", has_ended ? "tool_finished" : "tool_started");
    jw_kv_str(&w, "tool", t->name);
    jw_kv_str(&w, "callId", t->call_id);
    if (has_ended) {
        jw_kv_str(&w, "status", t->is_ok ? S("ok") : S("failed"));
        jw_kv_int(&w, "latencyMs", (int64_t)t->duration_ms);
        jw_kv_int(&w, "charactersIn", (int64_t)t->n_chars_in);
        jw_kv_int(&w, "charactersOut", (int64_t)t->n_chars_out);
    }
    end_progress(v, &w, e);
}

/* --- the end --- */

static void write_agent_ended(const struct library_view *v, const struct event *e,
                              struct strbuf *out)
{
    const struct run_result *r = e->body.result;
    bool is_done = r->outcome == RUN_DONE;
    struct json_writer w;

    begin_progress(&w, out, e, "progress", is_done ? "agent_finished" : "agent_failed");
    if (r->error)
        field_error(&w, "error", r->error);
    jw_key(&w, "metrics");
    jw_begin_object(&w);
    jw_kv_int(&w, "durationMs", (int64_t)r->duration_ms);
    jw_kv_int(&w, "tokensIn", usage_prompt(&r->usage));
    jw_kv_int(&w, "tokensOut", usage_completion(&r->usage));
    jw_kv_int(&w, "toolsRun", r->n_tools_executed);
    field_usd(&w, "costUsd", run_result_microcents(r));
    jw_end_object(&w);
    end_progress(v, &w, e);
}

static void write_report(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct run_result *r = e->body.result;
    bool is_final = !v->has_handoff && v->n_pending_handoffs == 0 && !event_is_child(e);
    struct json_writer w;

    if (r->outcome != RUN_DONE)
        return;
    library_begin(&w, out, v->has_handoff ? "handoff" : "final_report");
    jw_key(&w, "report");
    jw_begin_object(&w);
    jw_kv_str(&w, "format", v->format ? str_of(v->format) : r->value ? S("json") : S("text"));
    if (r->value)
        field_json(&w, "content_json", r->value);
    else
        jw_kv_str(&w, "content", r->text);
    if (r->forced != FINAL_NONE) {
        jw_key(&w, "metadata");
        jw_begin_object(&w);
        jw_kv_str(&w, "reason", str_of(final_reason_name(r->forced)));
        jw_end_object(&w);
    }
    jw_kv_int(&w, "ts", e->unix_ms);
    jw_end_object(&w);
    end_line(v, &w, e, is_final);
}

static void field_totals(struct json_writer *w, const struct run_result *r)
{
    jw_key(w, "totals");
    jw_begin_object(w);
    jw_kv_int(w, "tokensIn", usage_prompt(&r->usage));
    jw_kv_int(w, "tokensOut", usage_completion(&r->usage));
    jw_kv_int(w, "tokensCacheRead", MAX(r->usage.cache_read, 0));
    jw_kv_int(w, "tokensCacheWrite", MAX(r->usage.cache_write, 0));
    field_usd(w, "costUsd", run_result_microcents(r));
    jw_kv_int(w, "toolsRun", r->n_tools_executed);
    jw_end_object(w);
}

static void field_entries(struct json_writer *w, const char *key, const struct run_result *r)
{
    jw_key(w, key);
    jw_begin_array(w);
    for (size_t i = 0; i < r->n_accounting; i++)
        accounting_write(w, &r->accounting[i]);
    jw_end_array(w);
}

/* The run as a tree of its operations, in order. */
static void field_tree(struct json_writer *w, const char *key, const struct event *e)
{
    const struct run_result *r = e->body.result;

    jw_key(w, key);
    jw_begin_object(w);
    jw_kv_str(w, "id", e->run_id);
    jw_kv_str(w, "agentId", library_agent(e));
    jw_kv_int(w, "startedAt", e->unix_ms - (int64_t)r->duration_ms);
    jw_kv_int(w, "endedAt", e->unix_ms);
    jw_kv_bool(w, "success", r->outcome == RUN_DONE);
    if (r->error)
        field_error(w, "error", r->error);
    jw_kv_int(w, "turns", r->n_rounds);
    field_entries(w, "ops", r);
    field_totals(w, r);
    jw_end_object(w);
}

static void begin_payload(const struct library_view *v, struct json_writer *w,
                          const struct event *e, const char *type, struct strbuf *out)
{
    library_begin(w, out, type);
    jw_key(w, "payload");
    jw_begin_object(w);
    jw_kv_str(w, "sessionId", e->stream);
    jw_kv_str(w, "originId", v->origin_id ? str_of(v->origin_id) : e->run_id);
    jw_kv_int(w, "timestamp", e->unix_ms);
}

static void write_end(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    struct json_writer w;

    write_agent_ended(v, e, out);
    write_report(v, e, out);
    library_end_logs(v, e, out);

    begin_payload(v, &w, e, "accounting_flush", out);
    field_entries(&w, "entries", e->body.result);
    jw_end_object(&w);
    library_end(v, &w, e);

    library_begin(&w, out, "op_tree");
    field_tree(&w, "tree", e);
    library_end(v, &w, e);

    begin_payload(v, &w, e, "snapshot", out);
    jw_kv_str(&w, "reason", S("final"));
    jw_key(&w, "snapshot");
    jw_begin_object(&w);
    jw_kv_int(&w, "version", 1);
    field_tree(&w, "opTree", e);
    jw_end_object(&w);
    jw_end_object(&w);
    library_end(v, &w, e);
}

void library_event(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    switch (e->type) {
    case EVENT_RUN_BEGIN:
        write_agent_started(v, e, out);
        break;
    case EVENT_ATTEMPT_BEGIN:
        write_turn(v, e, out);
        break;
    case EVENT_DELTA:
        write_delta(v, e, out);
        break;
    case EVENT_TOOL_PROGRESS:
        write_update(v, e, out);
        break;
    case EVENT_TOOL_BEGIN:
    case EVENT_TOOL_RESULT:
        write_tool_progress(v, e, out);
        library_log(v, e, out);
        break;
    case EVENT_RUN_END:
        write_end(v, e, out);
        break;
    default:
        library_log(v, e, out);
    }
}
