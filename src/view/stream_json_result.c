/* stream_json_result.c - writes the last line of a run: its outcome and usage. */
#include "view/stream_json_line.h"

/* The reference's words for an outcome. */
struct ending {
    struct str subtype;
    struct str terminal_reason; /* empty: no such word */
};

/* The last attempt; NULL: none. */
static const struct accounting_entry *last_attempt(const struct run_result *r)
{
    for (size_t i = r->n_accounting; i > 0; i--)
        if (r->accounting[i - 1].type == ACCOUNT_LLM)
            return &r->accounting[i - 1];
    return NULL;
}

/* The input of the run is not valid, or no answer fitted its schema. */
static struct ending invalid_ending(const struct accounting_entry *attempt)
{
    if (!attempt)
        return (struct ending){S("error_during_execution"), S("turn_setup_failed")};
    if (!attempt->is_ok)
        return (struct ending){S("error_during_execution"), S("api_error")};
    return (struct ending){S("error_max_structured_output_retries"),
                           S("structured_output_retry_exhausted")};
}

static struct ending failed_ending(const struct run_result *r)
{
    switch (r->error ? r->error->kind : ERR_INTERNAL) {
    case ERR_TURN_LIMIT:
        return (struct ending){S("error_max_turns"), S("max_turns")};
    case ERR_BUDGET_EXCEEDED:
        return (struct ending){S("error_max_budget_usd"), S("budget_exhausted")};
    case ERR_VALIDATION:
        return invalid_ending(last_attempt(r));
    case ERR_CONTEXT_OVERFLOW:
        return (struct ending){S("error_during_execution"), S("prompt_too_long")};
    case ERR_MODEL_NOT_AVAILABLE:
        return (struct ending){S("error_during_execution"), S("model_error")};
    case ERR_PROVIDER_AUTH:
    case ERR_PROVIDER_RATE_LIMIT:
    case ERR_PROVIDER_UNAVAILABLE:
    case ERR_PROVIDER_ERROR:
    case ERR_BAD_RESPONSE:
    case ERR_CONTENT_FILTER:
    case ERR_NETWORK:
    case ERR_TIMEOUT:
    case ERR_CIRCUIT_OPEN:
        return (struct ending){S("error_during_execution"), S("api_error")};
    case ERR_CONFIGURATION:
        return (struct ending){S("error_during_execution"), S("turn_setup_failed")};
    default:
        return (struct ending){S("error_during_execution"), S("")};
    }
}

static bool asks_for_budget(const struct run_result *r)
{
    return r->outcome == RUN_SUSPENDED && r->n_asks && r->asks[0].kind == ASK_BUDGET;
}

static struct ending ending_of(const struct stream_json *s, const struct run_result *r)
{
    switch (r->outcome) {
    case RUN_DONE:
        if (r->is_fallback && r->forced != FINAL_TURN_LIMIT)
            return (struct ending){S("error_during_execution"), S("")};
        if (r->is_fallback)
            return (struct ending){S("error_max_turns"), S("max_turns")};
        return (struct ending){S("success"),
                               r->forced == FINAL_TURN_LIMIT ? S("max_turns") : S("completed")};
    case RUN_SUSPENDED:
        if (asks_for_budget(r))
            return (struct ending){S("error_max_budget_usd"), S("budget_exhausted")};
        return (struct ending){S("success"), S("tool_deferred")};
    case RUN_INTERRUPTED:
        return (struct ending){S("error_during_execution"),
                               s->in_tools ? S("aborted_tools") : S("aborted_streaming")};
    case RUN_FAILED:
        return failed_ending(r);
    }
    return failed_ending(r);
}

static void field_models(struct json_writer *w, const struct stream_json *s)
{
    jw_key(w, "modelUsage");
    jw_begin_object(w);
    for (size_t i = 0; i < s->n_models; i++) {
        const struct model_total *m = &s->models[i];

        if (!m->has_answered)
            continue;
        jw_key_str(w, m->name);
        jw_begin_object(w);
        jw_kv_int(w, "inputTokens", m->input);
        jw_kv_int(w, "outputTokens", m->output);
        jw_kv_int(w, "thinkingTokens", m->reasoning);
        jw_kv_int(w, "cacheReadInputTokens", m->cache_read);
        jw_kv_int(w, "cacheCreationInputTokens", m->cache_write);
        jw_kv_int(w, "webSearchRequests", 0);
        field_usd(w, "costUSD", m->microcents);
        jw_kv_int(w, "contextWindow", m->window);
        jw_kv_int(w, "maxOutputTokens", m->max_output);
        jw_end_object(w);
    }
    jw_end_object(w);
}

static void field_args(struct json_writer *w, const char *key, const struct json *args)
{
    jw_key(w, key);
    if (args)
        jw_json(w, args);
    else
        jw_raw(w, S("{}"));
}

static void field_denials(struct json_writer *w, const struct run_result *r)
{
    jw_key(w, "permission_denials");
    jw_begin_array(w);
    for (size_t i = 0; i < r->n_denials; i++) {
        const struct denial *d = &r->denials[i];

        jw_begin_object(w);
        jw_kv_str(w, "tool_name", d->tool);
        jw_kv_str(w, "tool_use_id", d->call_id);
        field_args(w, "tool_input", d->args);
        jw_end_object(w);
    }
    jw_end_array(w);
}

/* In the reference's form: the first waiting call. */
static void field_deferred(struct json_writer *w, const struct run_result *r)
{
    if (r->outcome != RUN_SUSPENDED || r->n_asks == 0 || asks_for_budget(r))
        return;
    jw_key(w, "deferred_tool_use");
    jw_begin_object(w);
    jw_kv_str(w, "id", r->asks[0].call_id);
    jw_kv_str(w, "name", r->asks[0].tool);
    field_args(w, "input", r->asks[0].args);
    jw_end_object(w);
}

/* In keel's form: all questions, in words. */
static void field_asks(struct json_writer *w, const struct run_result *r)
{
    if (r->outcome != RUN_SUSPENDED)
        return;
    jw_key(w, "asks");
    jw_begin_array(w);
    for (size_t i = 0; i < r->n_asks; i++) {
        const struct ask *ask = &r->asks[i];

        jw_begin_object(w);
        jw_kv_str(w, "kind", str_of(ask_kind_name(ask->kind)));
        jw_kv_str(w, "text", ask->text);
        if (ask->call_id.n) {
            jw_kv_str(w, "tool_use_id", ask->call_id);
            jw_kv_str(w, "tool_name", ask->tool);
            field_args(w, "tool_input", ask->args);
        }
        jw_end_object(w);
    }
    jw_end_array(w);
}

/* null unless the provider refused with a status. */
static void field_api_status(struct json_writer *w, const struct run_result *r)
{
    jw_key(w, "api_error_status");
    if (r->error && r->error->peer_status)
        jw_int(w, r->error->peer_status);
    else
        jw_null(w);
}

/* The answer, or the failure, because scripts show this text. */
static void field_answer(struct json_writer *w, const struct run_result *r, bool is_error)
{
    if (asks_for_budget(r))
        jw_kv_str(w, "result", r->asks[0].text);
    else if (r->text.n || !is_error)
        jw_kv_str(w, "result", r->text);
    else
        field_error(w, "result", r->error);
}

static void field_errors(struct json_writer *w, const struct run_result *r)
{
    const char *hint = r->error ? err_find_hint(r->error) : NULL;
    AUTO_FREE char *text = r->error ? err_message(r->error) : NULL;
    struct str own = asks_for_budget(r) ? r->asks[0].text : r->text;
    enum err_kind kind = asks_for_budget(r) ? ERR_BUDGET_EXCEEDED : final_reason_kind(r->forced);

    jw_key(w, "errors");
    jw_begin_array(w);
    jw_str(w, text ? str_of(text) : own);
    jw_end_array(w);
    jw_kv_str(w, "error_code", str_of(err_code(r->error ? r->error->kind : kind)));
    if (hint)
        jw_kv_str(w, "hint", str_of(hint));
}

static void field_costs(struct json_writer *w, struct stream_json *s, const struct run_result *r)
{
    s->earlier_microcents += run_result_microcents(r);
    field_usd(w, "total_cost_usd", s->earlier_microcents);
    jw_key(w, "usage");
    usage_block(w, &r->usage);
    field_models(w, s);
}

void write_result(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct run_result *r = e->body.result;
    struct ending ending = ending_of(s, r);
    bool is_error = !str_is(ending.subtype, "success");
    struct json_writer w;

    line_begin(&w, out, "result");
    jw_kv_str(&w, "subtype", ending.subtype);
    jw_kv_bool(&w, "is_error", is_error);
    field_api_status(&w, r);
    jw_kv_int(&w, "duration_ms", (int64_t)r->duration_ms);
    jw_kv_int(&w, "duration_api_ms", (int64_t)r->api_duration_ms);
    jw_kv_int(&w, "num_turns", r->n_rounds);
    field_answer(&w, r, is_error);
    field_stop(&w, r->stop_reason, s->stop);
    field_costs(&w, s, r);
    field_denials(&w, r);
    if (r->value)
        field_json(&w, "structured_output", r->value);
    field_deferred(&w, r);
    if (ending.terminal_reason.n)
        jw_kv_str(&w, "terminal_reason", ending.terminal_reason);
    if (r->forced != FINAL_NONE)
        jw_kv_str(&w, "forced_final_reason", str_of(final_reason_name(r->forced)));
    field_asks(&w, r);
    if (is_error)
        field_errors(&w, r);
    line_end(s, &w, e);
}
