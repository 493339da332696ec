/* encode_run.c - sessions, runs, and what is told about them. */
#include "session/encode.h"

#include "port/stored_result.h"

/* --- sessions and runs --- */

static void put_ask(struct encoding *c, const struct ask *a)
{
    jw_kv_str(&c->json, "kind", str_of(ask_kind_name(a->kind)));
    codec_put_text(c, "toolCallId", a->call_id);
    codec_put_text(c, "toolName", a->tool);
    codec_put_json(c, "parameters", a->args);
    codec_put_text(c, "text", a->text);
    codec_put_text(c, "rule", a->rule);
}

void codec_encode_session(struct encoding *c)
{
    const struct event_session *s = &c->event->body.session;

    if (c->event->type == EVENT_SESSION_BEGIN)
        codec_note_run(c->writer, c->writer->run_id, s->provider, s->model);
    codec_put_text(c, "cwd", s->cwd);
    codec_put_text(c, "provider", s->provider);
    codec_put_text(c, "model", s->model);
    codec_put_system(c, "systemPrompt", s->system);
    if (s->tools)
        codec_put_schemas(c, s->tools);
    codec_put_name(c, "reason", s->reason);
}

static void put_run(struct encoding *c, const struct event_run *r)
{
    codec_put_name(c, "policy", r->policy);
    codec_put_text(c, "provider", r->provider);
    codec_put_text(c, "model", r->model);
    codec_put_true(c, "canCallTools", r->capabilities.can_call_tools);
    codec_put_true(c, "webSearchSupported", r->capabilities.web_search.is_supported);
    codec_put_true(c, "webSearchEnabled", r->capabilities.web_search.is_enabled);
    codec_put_true(c, "webFetchSupported", r->capabilities.web_fetch.is_supported);
    codec_put_true(c, "webFetchEnabled", r->capabilities.web_fetch.is_enabled);
}

/* Its input is in one other record: a blob would cost more than it saves. */
void codec_encode_pre_run(struct encoding *c)
{
    const struct event_run *r = &c->event->body.run;

    put_run(c, r);
    codec_put_text(c, "input", r->input);
    codec_put_history(c, "history");
}

void codec_encode_run(struct encoding *c)
{
    const struct event_run *r = &c->event->body.run;

    codec_note_run(c->writer, c->event->run_id, r->provider, r->model);
    put_run(c, r);
    codec_put_int(c, "contextWindow", r->window);
    codec_put_int(c, "toolResponseBytes", (int64_t)r->tool_response_bytes);
    codec_put_int(c, "retryMaxMs", (int64_t)r->retry_max_ms);
    codec_put_true(c, "onlyCompacts", r->only_compacts);
    codec_put_int(c, "headTokens", r->head_tokens);
    codec_put_int(c, "contextFloor", r->context_floor);
    codec_put_shared(c, "input", r->input);
    codec_put_history(c, "history");
}

/* The answer stands in the history already. */
static void put_answer(struct encoding *c, struct str text)
{
    const struct history *h = c->event->history;
    AUTO(strbuf) struct strbuf last = {0};

    for (size_t i = h ? h->n : 0; i-- > 0;)
        if (h->entries[i].message && h->entries[i].message->role == ROLE_ASSISTANT) {
            message_text(h->entries[i].message, &last);
            break;
        }
    if (text.n && str_eq(strbuf_str(&last), text))
        codec_put_true(c, "contentIsLastMessage", true);
    else
        codec_put_text(c, "content", text);
}

static void put_asks(struct encoding *c, const struct run_result *r)
{
    if (!r->n_asks)
        return;
    jw_key(&c->json, "asks");
    jw_begin_array(&c->json);
    for (size_t i = 0; i < r->n_asks; i++) {
        jw_begin_object(&c->json);
        put_ask(c, &r->asks[i]);
        jw_end_object(&c->json);
    }
    jw_end_array(&c->json);
}

void codec_encode_result(struct encoding *c)
{
    const struct run_result *r = c->event->body.result;

    jw_kv_str(&c->json, "outcome", str_of(run_outcome_name(r->outcome)));
    put_answer(c, r->text);
    codec_put_json(c, "value", r->value);
    codec_put_error(c, r->error);
    codec_put_name(c, "forcedFinalReason", final_reason_name(r->forced));
    codec_put_true(c, "isFallback", r->is_fallback);
    codec_put_text(c, "stopReason", r->stop_reason);
    codec_put_int(c, "rounds", r->n_rounds);
    codec_put_int(c, "attempts", r->n_attempts);
    codec_put_int(c, "toolsExecuted", r->n_tools_executed);
    codec_put_usage(c, &r->usage);
    codec_put_int(c, "costMicrocents", r->cost_microcents);
    codec_put_true(c, "costIsKnown", r->cost_is_known);
    codec_put_int(c, "durationMs", (int64_t)r->duration_ms);
    codec_put_int(c, "apiDurationMs", (int64_t)r->api_duration_ms);
    put_asks(c, r);
    codec_put_history(c, "history");
}

/* --- context --- */

static void put_context(struct encoding *c, const struct event_context *x)
{
    codec_put_int(c, "usedTokens", x->used);
    codec_put_int(c, "maxTokens", x->window);
    codec_put_int(c, "serializedTokens", x->serialized);
    codec_put_int(c, "providerTokens", x->counted);
    codec_put_true(c, "isExact", x->is_exact);
}

void codec_encode_context(struct encoding *c)
{
    put_context(c, &c->event->body.context);
}

void codec_encode_compact(struct encoding *c)
{
    const struct event_compact *x = &c->event->body.compact;

    codec_put_name(c, "trigger", x->trigger);
    codec_put_int(c, "results", (int64_t)x->n_results);
    jw_key(&c->json, "before");
    jw_begin_object(&c->json);
    put_context(c, &x->before);
    jw_end_object(&c->json);
    jw_key(&c->json, "after");
    jw_begin_object(&c->json);
    put_context(c, &x->after);
    jw_end_object(&c->json);
}

/* --- the rest --- */

void codec_encode_tools(struct encoding *c)
{
    const struct tool_set *set = c->event->body.tools.tools;

    jw_kv_int(&c->json, "toolsVersion", (int64_t)set->version);
    codec_put_schemas(c, set);
}

void codec_encode_final(struct encoding *c)
{
    codec_put_name(c, "reason", final_reason_name(c->event->body.final.reason));
    codec_put_text(c, "instruction", c->event->body.final.instruction);
}

/* A result that was too long for the model: its state names the blob that holds it. */
static void add_stored_result(struct encoding *c, struct str key, const struct json *value)
{
    struct stored_result stored;

    if (stored_result_read(key, value, &stored))
        codec_add_handle(c, stored.sha256, 0);
}

void codec_encode_state(struct encoding *c)
{
    codec_put_text(c, "key", c->event->body.state.key);
    codec_put_json(c, "value", c->event->body.state.value);
    add_stored_result(c, c->event->body.state.key, c->event->body.state.value);
}

void codec_encode_ask(struct encoding *c)
{
    const struct event_ask *b = &c->event->body.ask;

    put_ask(c, b->ask);
    if (!b->answer)
        return;
    jw_kv_int(&c->json, "answer", b->answer->kind);
    codec_put_text(c, "reason", b->answer->reason);
    codec_put_json(c, "value", b->answer->value);
    codec_put_json(c, "changed", b->answer->args);
}

void codec_encode_notice(struct encoding *c)
{
    const struct event_notice *n = &c->event->body.notice;

    codec_put_name(c, "severity", severity_name(n->severity));
    codec_put_name(c, "source", n->source);
    codec_put_text(c, "message", n->text);
    codec_put_json(c, "details", n->details);
}

void codec_encode_rewind(struct encoding *c)
{
    const struct event_rewind *b = &c->event->body.rewind;

    codec_put_int(c, "toTurn", b->turn);
    codec_put_int(c, "toSeq", (int64_t)b->seq);
    codec_put_true(c, "conversation", b->takes_messages);
    codec_put_int(c, "files", (int64_t)b->n_files);
}

void codec_encode_checkpoint(struct encoding *c)
{
    const struct event_checkpoint *x = &c->event->body.checkpoint;

    codec_put_int(c, "baseSeq", (int64_t)x->base_seq);
    codec_put_json(c, "state", x->state);
    json_each (value, x->state)
        add_stored_result(c, value->key, value);
    codec_put_usage(c, &x->usage);
    codec_put_int(c, "costMicrocents", x->cost_microcents);
    codec_put_true(c, "costIsKnown", x->cost_is_known);
    codec_put_true(c, "isEstimated", x->is_estimated);
    codec_put_true(c, "isUnpriced", x->is_unpriced);
    codec_put_int(c, "rounds", (int64_t)x->n_rounds);
    codec_put_int(c, "toolCalls", (int64_t)x->n_tool_calls);
    codec_put_int(c, "activeMs", (int64_t)x->active_ms);
    codec_put_pack(c);
}

void codec_encode_error(struct encoding *c)
{
    codec_put_error(c, c->event->body.error);
}

void codec_encode_nothing(struct encoding *c)
{
}
