/* operator_log.c - writes lines for the events that an operator needs. */
#include "view/operator_log.h"

#include "port/kept_shell.h"
#include "view/field.h"

/* --- shared members --- */

static void put_place(struct json_writer *w, const struct event *e)
{
    jw_kv_str(w, "session", e->stream);
    if (e->parent_stream.n)
        jw_kv_str(w, "parent", e->parent_stream);
    if (e->run_id.n)
        jw_kv_str(w, "run", e->run_id);
    if (e->turn)
        jw_kv_int(w, "turn", e->turn);
    if (e->round)
        jw_kv_int(w, "round", e->round);
    if (e->attempt)
        jw_kv_int(w, "attempt", e->attempt);
}

/* NULL: this level is off. */
static struct json_writer *begin(struct log *l, enum log_level level, const char *name,
                                 const struct event *e)
{
    struct json_writer *w = log_begin(l, level, name);

    if (w)
        put_place(w, e);
    return w;
}

static void put_text(struct json_writer *w, const char *key, struct str text)
{
    if (text.n)
        jw_kv_str(w, key, text);
}

static void put_word(struct json_writer *w, const char *key, const char *word)
{
    if (word)
        jw_kv_str(w, key, str_of(word));
}

static void put_count(struct json_writer *w, const char *key, int64_t n)
{
    if (n > 0)
        jw_kv_int(w, key, n);
}

static void put_target(struct json_writer *w, struct str provider, struct str model)
{
    put_text(w, "provider", provider);
    put_text(w, "model", model);
}

static void put_usage(struct json_writer *w, const struct usage *u)
{
    if (!u || !usage_is_known(u))
        return;
    jw_kv_int(w, "inputTokens", usage_prompt(u));
    put_count(w, "cacheReadTokens", u->cache_read);
    put_count(w, "cacheWriteTokens", u->cache_write);
    jw_kv_int(w, "outputTokens", usage_completion(u));
}

void operator_log_error(struct json_writer *w, const struct err *e)
{
    AUTO_FREE char *text = e ? err_message(e) : NULL;

    if (!e)
        return;
    put_word(w, "code", err_code(e->kind));
    put_word(w, "message", text);
    put_word(w, "hint", err_find_hint(e));
}

/* --- lines --- */

static void log_session(struct log *l, const struct event *e)
{
    const struct event_session *s = &e->body.session;
    struct json_writer *w = begin(l, LOG_DEBUG, "session_begin", e);

    if (!w)
        return;
    put_text(w, "cwd", s->cwd);
    put_target(w, s->provider, s->model);
    log_end(l);
}

static void log_session_end(struct log *l, const struct event *e)
{
    struct json_writer *w = begin(l, LOG_DEBUG, "session_end", e);

    if (!w)
        return;
    put_word(w, "reason", e->body.session.reason);
    log_end(l);
}

static void log_change(struct log *l, const struct event *e)
{
    struct json_writer *w = begin(l, LOG_INFO, "session_changed", e);

    if (!w)
        return;
    if (e->body.change.name.n)
        jw_kv_bool(w, "renamed", true); /* the name is the text of a person */
    put_target(w, e->body.change.provider, e->body.change.model);
    log_end(l);
}

static void log_run_begin(struct log *l, const struct event *e)
{
    const struct event_run *r = &e->body.run;
    struct json_writer *w = begin(l, LOG_INFO, "run_begin", e);

    if (!w)
        return;
    put_word(w, "policy", r->policy);
    put_target(w, r->provider, r->model);
    put_count(w, "inputBytes", (int64_t)r->input.n);
    log_end(l);
}

static void log_run_end(struct log *l, const struct event *e)
{
    const struct run_result *r = e->body.result;
    struct json_writer *w = begin(l, r->outcome == RUN_FAILED ? LOG_ERROR : LOG_INFO, "run_end", e);

    if (!w)
        return;
    put_word(w, "outcome", run_outcome_name(r->outcome));
    put_text(w, "stopReason", r->stop_reason);
    put_word(w, "forced", r->forced ? final_reason_name(r->forced) : NULL);
    jw_kv_int(w, "durationMs", (int64_t)r->duration_ms);
    jw_kv_int(w, "rounds", r->n_rounds);
    jw_kv_int(w, "attempts", r->n_attempts);
    jw_kv_int(w, "toolCalls", r->n_tools_executed);
    put_count(w, "denied", (int64_t)r->n_denials);
    put_count(w, "questions", (int64_t)r->n_asks);
    put_usage(w, &r->usage);
    field_usd(w, "costUsd", run_result_microcents(r));
    if (!run_result_cost_is_known(r))
        jw_kv_bool(w, "costIsKnown", false);
    operator_log_error(w, r->error);
    log_end(l);
}

static void log_attempt_begin(struct log *l, const struct event *e)
{
    const struct event_attempt *a = &e->body.attempt;
    struct json_writer *w = begin(l, LOG_DEBUG, "attempt_begin", e);

    if (!w)
        return;
    put_target(w, a->provider, a->model);
    if (a->is_aside)
        jw_kv_bool(w, "aside", true);
    log_end(l);
}

static enum log_level attempt_level(const struct event_attempt *a)
{
    return a->error && !err_is(a->error, ERR_CANCELLED) ? LOG_WARNING : LOG_INFO;
}

static void log_attempt_end(struct log *l, const struct event *e)
{
    const struct event_attempt *a = &e->body.attempt;
    int status = a->error && a->error->peer_status ? a->error->peer_status : a->http_status;
    struct json_writer *w = begin(l, attempt_level(a), "attempt_end", e);

    if (!w)
        return;
    put_target(w, a->provider, a->model);
    if (a->usage && a->usage->routed_model.n)
        jw_kv_str(w, "answeredBy", a->usage->routed_model);
    if (a->is_aside)
        jw_kv_bool(w, "aside", true);
    if (a->is_lost)
        jw_kv_bool(w, "lost", true);
    put_count(w, "status", status);
    put_text(w, "requestId", a->request_id);
    jw_kv_int(w, "durationMs", (int64_t)a->duration_ms);
    put_usage(w, a->usage);
    if (a->cost_microcents >= 0)
        field_usd(w, "costUsd", a->cost_microcents);
    operator_log_error(w, a->error);
    log_end(l);
}

static void log_retry(struct log *l, const struct event *e)
{
    const struct event_attempt *a = &e->body.attempt;
    struct json_writer *w = begin(l, LOG_WARNING, "retry", e);

    if (!w)
        return;
    put_target(w, a->provider, a->model);
    jw_kv_int(w, "ofTarget", a->at_target);
    jw_kv_int(w, "maxAttempts", a->max_attempts);
    jw_kv_int(w, "delayMs", (int64_t)a->delay_ms);
    put_word(w, "code", a->error ? err_code(a->error->kind) : NULL);
    log_end(l);
}

static void log_fallback(struct log *l, const struct event *e)
{
    const struct event_attempt *a = &e->body.attempt;
    struct json_writer *w = begin(l, LOG_WARNING, "fallback", e);

    if (!w)
        return;
    put_target(w, a->provider, a->model);
    jw_kv_str(w, "nextProvider", a->next_provider);
    jw_kv_str(w, "nextModel", a->next_model);
    put_word(w, "code", a->error ? err_code(a->error->kind) : NULL);
    log_end(l);
}

static void log_tool_begin(struct log *l, const struct event *e)
{
    struct json_writer *w = begin(l, LOG_DEBUG, "tool_begin", e);

    if (!w)
        return;
    jw_kv_str(w, "tool", e->body.tool.name);
    jw_kv_str(w, "call", e->body.tool.call_id);
    log_end(l);
}

/* Also for denied calls, which never began. */
static void log_tool(struct log *l, const struct event *e)
{
    const struct event_tool *t = &e->body.tool;
    struct json_writer *w = begin(l, LOG_INFO, "tool", e);

    if (!w)
        return;
    jw_kv_str(w, "tool", t->name);
    jw_kv_str(w, "call", t->call_id);
    jw_kv_bool(w, "ok", t->is_ok);
    if (t->was_denied)
        jw_kv_bool(w, "denied", true);
    if (t->was_executed)
        jw_kv_int(w, "durationMs", (int64_t)t->duration_ms);
    put_count(w, "charsIn", (int64_t)t->n_chars_in);
    put_count(w, "charsOut", (int64_t)t->n_chars_out);
    put_word(w, "code", t->error_code);
    log_end(l);
}

static void log_child(struct log *l, const struct event *e)
{
    const struct event_child *c = &e->body.child;
    bool is_end = e->type == EVENT_CHILD_END;
    struct json_writer *w = begin(l, LOG_INFO, is_end ? "child_end" : "child_begin", e);

    if (!w)
        return;
    jw_kv_str(w, "child", c->id);
    put_text(w, "agent", c->agent);
    if (is_end) {
        put_word(w, "outcome", c->outcome);
        put_usage(w, &c->usage);
        field_usd(w, "costUsd", c->cost_microcents);
    }
    log_end(l);
}

static void log_shell(struct log *l, const struct event *e, const struct kept_shell *k)
{
    struct json_writer *w = begin(l, LOG_INFO, "background_command", e);

    if (!w)
        return;
    jw_kv_str(w, "id", k->id);
    put_text(w, "call", k->call_id);
    put_word(w, "state", shell_state_name(k->state));
    if (k->has_exit_code)
        jw_kv_int(w, "exitCode", k->exit_code);
    put_count(w, "signal", k->signal);
    log_end(l);
}

static void log_mode(struct log *l, const struct event *e)
{
    struct json_writer *w = begin(l, LOG_INFO, "mode", e);

    if (!w)
        return;
    jw_kv_str(w, "mode", json_str(e->body.state.value));
    log_end(l);
}

/* Only these states of tools; others contain texts of people and models. */
static void log_state(struct log *l, const struct event *e)
{
    struct kept_shell shell;

    if (kept_shell_read(e->body.state.key, e->body.state.value, &shell))
        log_shell(l, e, &shell);
    else if (state_key_is(e->body.state.key, STATE_MODE, NULL))
        log_mode(l, e);
}

static void log_ask(struct log *l, const struct event *e)
{
    const struct ask *ask = e->body.ask.ask;
    bool is_answer = e->type == EVENT_ANSWERED;
    struct json_writer *w = begin(l, LOG_INFO, is_answer ? "answered" : "asked", e);

    if (!w)
        return;
    put_word(w, "kind", ask_kind_name(ask->kind));
    put_text(w, "tool", ask->tool);
    put_text(w, "call", ask->call_id);
    if (is_answer)
        jw_kv_bool(w, "yes", e->body.ask.answer->kind >= ANSWER_ONCE);
    log_end(l);
}

static enum log_level notice_level(enum severity s)
{
    switch (s) {
    case SEVERITY_ERROR:
        return LOG_ERROR;
    case SEVERITY_WARNING:
        return LOG_WARNING;
    case SEVERITY_INFO:
        return LOG_INFO;
    case SEVERITY_VERBOSE:
    case SEVERITY_FINAL:
        break;
    }
    return LOG_DEBUG;
}

static void log_notice(struct log *l, const struct event *e)
{
    const struct event_notice *n = &e->body.notice;
    struct json_writer *w = begin(l, notice_level(n->severity), "notice", e);

    if (!w)
        return;
    put_word(w, "source", n->source);
    jw_kv_str(w, "message", n->text);
    log_end(l);
}

static void log_compacted(struct log *l, const struct event *e)
{
    const struct event_compact *c = &e->body.compact;
    struct json_writer *w = begin(l, LOG_INFO, "compacted", e);

    if (!w)
        return;
    put_word(w, "trigger", c->trigger);
    jw_kv_int(w, "tokensBefore", c->before.used);
    jw_kv_int(w, "tokensAfter", c->after.used);
    put_count(w, "resultsRemoved", (int64_t)c->n_results);
    log_end(l);
}

static void log_rewound(struct log *l, const struct event *e)
{
    const struct event_rewind *r = &e->body.rewind;
    struct json_writer *w = begin(l, LOG_INFO, "rewound", e);

    if (!w)
        return;
    jw_kv_int(w, "toTurn", r->turn);
    jw_kv_bool(w, "conversation", r->takes_messages);
    jw_kv_int(w, "files", (int64_t)r->n_files);
    log_end(l);
}

/* --- events --- */

void operator_log_event(void *log, const struct event *e)
{
    switch (e->type) {
    case EVENT_SESSION_BEGIN:
        log_session(log, e);
        break;
    case EVENT_SESSION_CHANGED:
        log_change(log, e);
        break;
    case EVENT_SESSION_END:
        log_session_end(log, e);
        break;
    case EVENT_RUN_BEGIN:
        log_run_begin(log, e);
        break;
    case EVENT_RUN_END:
        log_run_end(log, e);
        break;
    case EVENT_ATTEMPT_BEGIN:
        log_attempt_begin(log, e);
        break;
    case EVENT_ATTEMPT_END:
        log_attempt_end(log, e);
        break;
    case EVENT_RETRY:
        log_retry(log, e);
        break;
    case EVENT_FALLBACK:
        log_fallback(log, e);
        break;
    case EVENT_TOOL_BEGIN:
        log_tool_begin(log, e);
        break;
    case EVENT_TOOL_RESULT:
        log_tool(log, e);
        break;
    case EVENT_CHILD_BEGIN:
    case EVENT_CHILD_END:
        log_child(log, e);
        break;
    case EVENT_STATE:
        log_state(log, e);
        break;
    case EVENT_ASKED:
    case EVENT_ANSWERED:
        log_ask(log, e);
        break;
    case EVENT_NOTICE:
        log_notice(log, e);
        break;
    case EVENT_COMPACTED:
        log_compacted(log, e);
        break;
    case EVENT_REWOUND:
        log_rewound(log, e);
        break;
    default:
        break;
    }
}
