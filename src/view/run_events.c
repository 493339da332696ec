/* run_events.c - run:*, node:*, agent:*, cost:* and session:* events. */
#include "view/run_events.h"

#include "base/clip.h"
#include "view/field.h"

#define SUMMARY_MAX_CHARS 200

void run_events_done(struct run_events *v)
{
    strbuf_done(&v->id);
    strbuf_done(&v->model);
    *v = (struct run_events){0};
}

static void begin(struct run_events *v, struct json_writer *w, const struct event *e,
                  const char *type, struct strbuf *out)
{
    if (v->id.n == 0)
        strbuf_add(&v->id, v->of_session ? e->stream : e->run_id);
    jw_init(w, out);
    jw_begin_object(w);
    jw_kv_str(w, "type", str_of(type));
    jw_kv_str(w, v->of_session ? "sessionId" : "runId", strbuf_str(&v->id));
    field_time(w, "timestamp", e->unix_ms);
    jw_kv_int(w, "sequenceNumber", (int64_t)v->next_number++);
}

static void end(struct json_writer *w)
{
    jw_end_object(w);
    strbuf_add_char(w->out, '\n');
}

/* The node of the event or, without a workflow, the agent. */
static void field_node(struct json_writer *w, const struct event *e)
{
    const struct owner *node = owner_find(e->owner, "node");

    if (!node)
        node = owner_find(e->owner, "agent");
    jw_kv_str(w, "nodeId", node ? node->id : (struct str){0});
}

/* --- runs --- */

static bool has_nodes(const struct run_events *v, const struct event *e)
{
    return !v->of_session && (v->is_node || event_is_child(e));
}

static void write_begin(struct run_events *v, const struct event *e, struct strbuf *out)
{
    const struct event_run *r = &e->body.run;
    struct json_writer w;

    if (!event_is_child(e)) {
        if (!v->of_session)
            strbuf_clear(&v->id); /* another run */
        v->is_node = r->policy && strcmp(r->policy, "node") == 0;
        begin(v, &w, e, v->of_session ? "session:turn_started" : "run:started", out);
        jw_kv_str(&w, "input", r->input);
        jw_kv_str(&w, "model", r->model);
        end(&w);
    }
    if (has_nodes(v, e)) {
        begin(v, &w, e, "node:started", out);
        field_node(&w, e);
        jw_kv_str(&w, "model", r->model);
        end(&w);
    }
}

/* Its closed set of codes has no tool_unavailable. */
static void field_run_error(struct json_writer *w, const struct err *e)
{
    enum err_kind kind = e->kind == ERR_TOOL_UNAVAILABLE ? ERR_INTERNAL : e->kind;

    jw_key(w, "error");
    jw_begin_object(w);
    jw_kv_str(w, "code", str_of(err_code(kind)));
    field_error(w, "message", e);
    jw_kv_bool(w, "retryable", err_is_retryable(e));
    jw_end_object(w);
}

static void end_fields(struct run_events *v, struct json_writer *w, const struct run_result *r)
{
    if (r->value)
        field_json(w, "output", r->value);
    else
        jw_kv_str(w, "output", r->text);
    jw_key(w, "tokensUsed");
    jw_begin_object(w);
    jw_kv_int(w, "input", usage_prompt(&r->usage));
    jw_kv_int(w, "output", usage_completion(&r->usage));
    jw_kv_str(w, "model", strbuf_str(&v->model));
    jw_end_object(w);
    jw_kv_int(w, "costMicrocents", run_result_microcents(r));
    jw_kv_int(w, "durationMs", (int64_t)r->duration_ms);
    if (r->error)
        field_run_error(w, r->error);
}

static const char *run_end_name(const struct run_result *r)
{
    switch (r->outcome) {
    case RUN_DONE:
        return "run:completed";
    case RUN_SUSPENDED:
        return "run:paused";
    case RUN_INTERRUPTED:
        return "run:cancelled";
    case RUN_FAILED:
        return err_is(r->error, ERR_TIMEOUT) ? "run:timeout" : "run:failed";
    }
    return "run:failed";
}

static void write_end(struct run_events *v, const struct event *e, struct strbuf *out)
{
    const struct run_result *r = e->body.result;
    bool was_cancelled = r->outcome == RUN_INTERRUPTED;
    struct json_writer w;

    if (has_nodes(v, e) && r->outcome != RUN_SUSPENDED) {
        begin(v, &w, e, r->outcome == RUN_DONE ? "node:completed" : "node:failed", out);
        field_node(&w, e);
        end_fields(v, &w, r);
        end(&w);
    }
    if (event_is_child(e))
        return;
    begin(v, &w, e,
          !v->of_session  ? run_end_name(r)
          : was_cancelled ? "session:cancelled"
                          : "session:turn_completed",
          out);
    end_fields(v, &w, r);
    end(&w);
}

/* --- within runs --- */

static void write_delta(struct run_events *v, const struct event *e, struct strbuf *out)
{
    const struct delta *d = e->body.delta.delta;
    bool is_text = d->kind == DELTA_TEXT || d->kind == DELTA_REFUSAL;
    struct json_writer w;

    if ((!is_text && d->kind != DELTA_REASONING) || d->text.n == 0)
        return;
    begin(v, &w, e, is_text ? "agent:token" : "agent:reasoning", out);
    field_node(&w, e);
    jw_kv_str(&w, is_text ? "token" : "text", d->text);
    jw_kv_str(&w, "model", strbuf_str(&v->model));
    end(&w);
}

static void write_call(struct run_events *v, const struct event *e, struct strbuf *out)
{
    const struct event_tool *t = &e->body.tool;
    struct json_writer w;

    begin(v, &w, e, "agent:tool_call", out);
    field_node(&w, e);
    jw_kv_str(&w, "model", strbuf_str(&v->model));
    jw_kv_str(&w, "toolId", t->name);
    jw_kv_str(&w, "toolCallId", t->call_id);
    field_json(&w, "toolInput", t->args);
    if (e->attempt)
        jw_kv_int(&w, "attemptNumber", e->attempt);
    end(&w);
}

static void write_tool_result(struct run_events *v, const struct event *e, struct strbuf *out)
{
    const struct event_tool *t = &e->body.tool;
    AUTO(strbuf) struct strbuf text = {0}, summary = {0};
    struct json_writer w;

    result_text(t->result, &text);
    clip_middle(&summary, strbuf_str(&text), SUMMARY_MAX_CHARS);
    begin(v, &w, e, "agent:tool_result", out);
    field_node(&w, e);
    jw_kv_str(&w, "toolId", t->name);
    jw_kv_str(&w, "toolCallId", t->call_id);
    jw_kv_bool(&w, "success", t->is_ok);
    jw_kv_str(&w, "outputSummary", strbuf_str(&summary));
    if (e->attempt)
        jw_kv_int(&w, "attemptNumber", e->attempt);
    end(&w);
}

static void write_cost(struct run_events *v, const struct event *e, struct strbuf *out)
{
    const struct event_attempt *a = &e->body.attempt;
    struct json_writer w;

    begin(v, &w, e, "cost:updated", out);
    field_node(&w, e);
    jw_kv_str(&w, "model", a->model);
    jw_kv_int(&w, "inputTokens", a->usage ? usage_prompt(a->usage) : 0);
    jw_kv_int(&w, "outputTokens", a->usage ? usage_completion(a->usage) : 0);
    jw_kv_int(&w, "costMicrocents", MAX(a->cost_microcents, 0));
    jw_kv_int(&w, "cumulativeCostMicrocents", MAX(a->total_microcents, 0));
    jw_kv_int(&w, "attemptNumber", e->attempt);
    end(&w);
}

static void write_ask(struct run_events *v, const struct event *e, struct strbuf *out)
{
    static const char *const names[] = {[ASK_PERMISSION] = "agent:approval_requested",
                                        [ASK_QUESTION] = "human_gate:paused",
                                        [ASK_BUDGET] = "budget:paused",
                                        [ASK_PLAN] = "human_gate:paused"};
    const struct ask *ask = e->body.ask.ask;
    bool is_answer = e->type == EVENT_ANSWERED;
    struct json_writer w;

    _Static_assert(ARRAY_LEN(names) == N_ASK_KINDS, "one for each");
    begin(v, &w, e, is_answer ? "human_gate:resumed" : names[ask->kind], out);
    field_node(&w, e);
    jw_kv_str(&w, "kind", str_of(ask_kind_name(ask->kind)));
    jw_kv_str(&w, "toolId", ask->tool);
    jw_kv_str(&w, "toolCallId", ask->call_id);
    if (is_answer) {
        jw_kv_bool(&w, "approved", e->body.ask.answer->kind >= ANSWER_ONCE);
    } else {
        field_json(&w, "toolInput", ask->args);
        jw_kv_str(&w, "text", ask->text);
    }
    end(&w);
}

static void write_notice(struct run_events *v, const struct event *e, struct strbuf *out)
{
    const struct event_notice *n = &e->body.notice;
    struct json_writer w;

    if (!n->source || strcmp(n->source, "budget") != 0)
        return; /* other notices are for logs */
    begin(v, &w, e, "budget:warning", out);
    jw_kv_str(&w, "message", n->text);
    if (n->details)
        field_json(&w, "details", n->details);
    end(&w);
}

static void write_session(struct run_events *v, const struct event *e, struct strbuf *out)
{
    struct json_writer w;

    if (!v->of_session || event_is_child(e))
        return;
    if (e->type == EVENT_SESSION_BEGIN) {
        begin(v, &w, e, "session:started", out);
        jw_kv_str(&w, "model", e->body.session.model);
        jw_kv_str(&w, "cwd", e->body.session.cwd);
    } else {
        begin(v, &w, e, "session:compacted", out);
        jw_kv_str(&w, "trigger", str_of(e->body.compact.trigger));
        jw_kv_int(&w, "tokensBefore", e->body.compact.before.used);
        jw_kv_int(&w, "tokensAfter", e->body.compact.after.used);
    }
    end(&w);
}

void run_events_event(struct run_events *v, const struct event *e, struct strbuf *out)
{
    switch (e->type) {
    case EVENT_SESSION_BEGIN:
    case EVENT_COMPACTED:
        write_session(v, e, out);
        break;
    case EVENT_RUN_BEGIN:
        write_begin(v, e, out);
        break;
    case EVENT_ATTEMPT_BEGIN:
        strbuf_clear(&v->model);
        strbuf_add(&v->model, e->body.attempt.model);
        break;
    case EVENT_DELTA:
        write_delta(v, e, out);
        break;
    case EVENT_ATTEMPT_END:
        write_cost(v, e, out);
        break;
    case EVENT_TOOL_REQUEST:
        write_call(v, e, out);
        break;
    case EVENT_TOOL_RESULT:
        write_tool_result(v, e, out);
        break;
    case EVENT_ASKED:
    case EVENT_ANSWERED:
        write_ask(v, e, out);
        break;
    case EVENT_NOTICE:
        write_notice(v, e, out);
        break;
    case EVENT_RUN_END:
        write_end(v, e, out);
        break;
    default:
        break;
    }
}
