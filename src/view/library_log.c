/* library_log.c - writes the library's log entries and accounting records. */
#include "view/library_line.h"

#include "port/mcp_name.h"

#include <inttypes.h>

/* --- accounting --- */

static void field_tokens(struct json_writer *w, const struct usage *u)
{
    jw_key(w, "tokens");
    jw_begin_object(w);
    jw_kv_int(w, "inputTokens", usage_fresh_input(u));
    jw_kv_int(w, "outputTokens", usage_completion(u));
    if (u->cache_read >= 0)
        jw_kv_int(w, "cachedTokens", u->cache_read);
    jw_kv_int(w, "totalTokens", usage_total(u));
    jw_end_object(w);
}

static void llm_fields(struct json_writer *w, const struct accounting_entry *a)
{
    jw_kv_str(w, "provider", a->provider);
    jw_kv_str(w, "model", a->model);
    if (a->usage.routed_provider.n)
        jw_kv_str(w, "actualProvider", a->usage.routed_provider);
    if (a->usage.routed_model.n)
        jw_kv_str(w, "actualModel", a->usage.routed_model);
    if (a->cost_microcents >= 0)
        field_usd(w, "costUsd", a->cost_microcents);
    if (a->usage.upstream_microcents > 0)
        field_usd(w, "upstreamInferenceCostUsd", a->usage.upstream_microcents);
    field_tokens(w, &a->usage);
}

static void tool_fields(struct json_writer *w, const struct accounting_entry *a)
{
    jw_kv_str(w, "mcpServer", a->server);
    jw_kv_str(w, "command", a->command);
    jw_kv_int(w, "charactersIn", (int64_t)a->n_chars_in);
    jw_kv_int(w, "charactersOut", (int64_t)a->n_chars_out);
}

void accounting_write(struct json_writer *w, const struct accounting_entry *a)
{
    bool is_llm = a->type == ACCOUNT_LLM;

    jw_begin_object(w);
    jw_kv_str(w, "type", is_llm ? S("llm") : S("tool"));
    jw_kv_int(w, "timestamp", a->unix_ms);
    jw_kv_str(w, "status", a->is_ok ? S("ok") : S("failed"));
    jw_kv_int(w, "latency", (int64_t)a->duration_ms);
    if (is_llm)
        llm_fields(w, a);
    else
        tool_fields(w, a);
    if (!a->is_ok)
        jw_kv_str(w, "error", a->error);
    if (a->details)
        field_json(w, "details", a->details);
    jw_end_object(w);
}

static void write_accounting(const struct library_view *v, const struct event *e,
                             const struct accounting_entry *a, struct strbuf *out)
{
    struct json_writer w;

    library_begin(&w, out, "accounting");
    jw_key(&w, "entry");
    accounting_write(&w, a);
    library_end(v, &w, e);
}

static void account_attempt(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct event_attempt *a = &e->body.attempt;
    AUTO_FREE char *error = a->error ? err_message(a->error) : NULL;
    struct accounting_entry entry = {
        .type = ACCOUNT_LLM,
        .unix_ms = e->unix_ms,
        .is_ok = !a->error,
        .duration_ms = a->duration_ms,
        .error = str_of(error),
        .provider = a->provider,
        .model = a->model,
        .usage = a->usage ? *a->usage : USAGE_UNKNOWN,
        .cost_microcents = a->cost_microcents,
    };

    write_accounting(v, e, &entry, out);
}

/* A call that failed before any tool got it has no server. */
static void account_tool(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct event_tool *t = &e->body.tool;
    bool is_over_budget = json_has(t->metadata, TOOL_BUDGET_CODE);
    bool is_lost = !t->is_ok && (!t->was_executed || t->server.n);
    struct accounting_entry entry = {
        .type = ACCOUNT_TOOL,
        .unix_ms = e->unix_ms,
        .is_ok = t->is_ok,
        .duration_ms = t->duration_ms,
        .error = is_over_budget ? S(CONTEXT_BUDGET_EXCEEDED) : str_of(t->error_code),
        .server = is_lost       ? S("unknown")
                  : t->server.n ? t->server
                                : S(ACCOUNT_OWN_SERVER),
        .command = t->name,
        .n_chars_in = t->n_chars_in,
        .n_chars_out = is_lost ? 0 : t->n_chars_out,
        .details = is_over_budget ? t->metadata : NULL,
    };

    write_accounting(v, e, &entry, out);
}

/* --- logs --- */

enum source { OF_LLM, OF_TOOL };

struct library_entry {
    const char *severity;
    bool is_request;
    enum source source;
    struct str remote; /* provider:model, protocol:namespace:tool, agent:EXIT-... */
};

static void write_log(const struct library_view *v, const struct event *e, struct library_entry log,
                      struct str message, struct strbuf *out)
{
    struct json_writer w;

    library_begin(&w, out, "log");
    jw_key(&w, "entry");
    jw_begin_object(&w);
    jw_kv_int(&w, "timestamp", e->unix_ms);
    jw_kv_str(&w, "severity", str_of(log.severity));
    jw_kv_int(&w, "turn", e->round);
    jw_kv_int(&w, "subturn", e->attempt);
    jw_kv_str(&w, "direction", log.is_request ? S("request") : S("response"));
    jw_kv_str(&w, "type", log.source == OF_LLM ? S("llm") : S("tool"));
    jw_kv_str(&w, "remoteIdentifier", log.remote);
    jw_kv_str(&w, "message", message);
    jw_kv_str(&w, "agentId", library_agent(e));
    if (v->headend_id)
        jw_kv_str(&w, "headendId", str_of(v->headend_id));
    jw_end_object(&w);
    library_end(v, &w, e);
}

/* "provider:model" */
static struct str remote_model(struct strbuf *b, struct str provider, struct str model)
{
    strbuf_clear(b);
    strbuf_addf(b, "%" STR_FMT ":%" STR_FMT, STR_ARG(provider), STR_ARG(model));
    return strbuf_str(b);
}

/* "agent:agent:Bash", "mcp:github:search" */
static struct str remote_tool(struct strbuf *b, const struct event_tool *t)
{
    struct str tool = t->server.n ? mcp_name_on_server(t->name, t->server) : t->name;

    strbuf_clear(b);
    if (t->server.n)
        strbuf_addf(b, "mcp:%" STR_FMT, STR_ARG(t->server));
    else
        strbuf_add_cstr(b, "agent:" ACCOUNT_OWN_SERVER);
    strbuf_addf(b, ":%" STR_FMT, STR_ARG(tool));
    return strbuf_str(b);
}

static void log_request(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct model_request *r = e->body.request.request;
    AUTO(strbuf) struct strbuf remote = {0}, text = {0};

    strbuf_addf(&text, "%zu messages, %zu tools", r->n_messages, r->n_tools);
    write_log(
        v, e,
        (struct library_entry){"VRB", true, OF_LLM, remote_model(&remote, r->provider, r->model)},
        strbuf_str(&text), out);
}

static void log_payload(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct native_payload *p = e->body.payload;

    if (v->trace_llm)
        write_log(v, e,
                  (struct library_entry){"TRC", p->kind == PAYLOAD_REQUEST, OF_LLM, p->provider},
                  p->bytes, out);
}

static void log_attempt(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct event_attempt *a = &e->body.attempt;
    AUTO(strbuf) struct strbuf remote = {0}, text = {0};
    AUTO_FREE char *error = a->error ? err_message(a->error) : NULL;
    const char *severity = "VRB";

    switch (e->type) {
    case EVENT_RETRY:
        severity = "WRN";
        strbuf_addf(&text, "trying again in %" PRIu64 " ms: ", a->delay_ms);
        break;
    case EVENT_FALLBACK:
        severity = "WRN";
        strbuf_addf(&text, "continuing with %" STR_FMT ":%" STR_FMT ": ", STR_ARG(a->next_provider),
                    STR_ARG(a->next_model));
        break;
    default:
        if (a->error)
            severity = "ERR";
        else
            strbuf_addf(&text, "%" PRId64 " tokens in %" PRIu64 " ms",
                        a->usage ? usage_total(a->usage) : 0, a->duration_ms);
    }
    strbuf_add(&text, str_of(error));
    write_log(v, e,
              (struct library_entry){severity, false, OF_LLM,
                                     remote_model(&remote, a->provider, a->model)},
              strbuf_str(&text), out);
}

static void log_tool(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct event_tool *t = &e->body.tool;
    AUTO(strbuf) struct strbuf remote = {0}, text = {0};
    struct library_entry log = {"VRB", e->type == EVENT_TOOL_BEGIN, OF_TOOL,
                                remote_tool(&remote, t)};

    if (log.is_request && t->args)
        json_write(&text, t->args);
    if (!log.is_request && !t->is_ok) {
        log.severity = "WRN";
        result_text(t->result, &text);
    } else if (!log.is_request) {
        strbuf_addf(&text, "%zu characters in %" PRIu64 " ms", t->n_chars_out, t->duration_ms);
    }
    write_log(v, e, log, strbuf_str(&text), out);
}

static void log_reasoning(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct message *m = e->body.message.message;
    AUTO(strbuf) struct strbuf remote = {0}, text = {0};

    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_REASONING)
            strbuf_add(&text, m->parts[i].text);
    if (text.n)
        write_log(
            v, e,
            (struct library_entry){"THK", false, OF_LLM,
                                   remote_model(&remote, m->origin.provider, m->origin.model)},
            strbuf_str(&text), out);
}

static void log_final_turn(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    bool is_full = e->body.final.reason == FINAL_TOKEN_LIMIT;

    write_log(v, e,
              (struct library_entry){is_full ? "WRN" : "VRB", true, OF_LLM,
                                     is_full ? S("agent:EXIT-TOKEN-LIMIT") : S("agent:final-turn")},
              str_of(final_reason_name(e->body.final.reason)), out);
}

static void log_compacted(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct event_compact *c = &e->body.compact;
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text, "%s: %" PRId64 " tokens became %" PRId64, c->trigger, c->before.used,
                c->after.used);
    if (c->n_results)
        strbuf_addf(&text, ", %zu tool result%s removed", c->n_results,
                    c->n_results == 1 ? "" : "s");
    write_log(v, e, (struct library_entry){"VRB", false, OF_LLM, S("agent:compaction")},
              strbuf_str(&text), out);
}

/* The callback has no level for notices below a warning. */
static const char *severity_of(const struct event_notice *n)
{
    return severity_name(n->severity == SEVERITY_INFO ? SEVERITY_VERBOSE : n->severity);
}

static void log_notice(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct event_notice *n = &e->body.notice;
    bool is_tool = n->source && (strcmp(n->source, "tool") == 0 || strstr(n->source, "tool_"));

    write_log(v, e,
              (struct library_entry){severity_of(n), false, is_tool ? OF_TOOL : OF_LLM,
                                     str_of(n->source)},
              n->text, out);
}

static void log_error(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    AUTO_FREE char *text = err_message(e->body.error);

    write_log(v, e, (struct library_entry){"ERR", false, OF_LLM, S("agent:error")}, str_of(text),
              out);
}

void library_log(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    switch (e->type) {
    case EVENT_COMPACTED:
        log_compacted(v, e, out);
        break;
    case EVENT_FINAL_TURN:
        log_final_turn(v, e, out);
        break;
    case EVENT_PROVIDER_REQUEST:
        log_request(v, e, out);
        break;
    case EVENT_NATIVE_PAYLOAD:
        log_payload(v, e, out);
        break;
    case EVENT_ATTEMPT_END:
        log_attempt(v, e, out);
        account_attempt(v, e, out);
        break;
    case EVENT_RETRY:
    case EVENT_FALLBACK:
        log_attempt(v, e, out);
        break;
    case EVENT_TEXT_DROPPED:
        write_log(v, e, (struct library_entry){"WRN", false, OF_LLM, S("agent:text-dropped")},
                  S("the text of the failed attempt is discarded"), out);
        break;
    case EVENT_RESPONSE_NORMALIZED:
        if (!e->body.message.is_aside)
            log_reasoning(v, e, out);
        break;
    case EVENT_TOOL_BEGIN:
        log_tool(v, e, out);
        break;
    case EVENT_TOOL_RESULT:
        log_tool(v, e, out);
        account_tool(v, e, out);
        break;
    case EVENT_NOTICE:
        log_notice(v, e, out);
        break;
    case EVENT_ERROR:
        log_error(v, e, out);
        break;
    default:
        break;
    }
}

/* --- the end of a run --- */

static struct str exit_marker(const struct run_result *r)
{
    if (r->outcome == RUN_DONE && !r->is_fallback)
        return r->forced == FINAL_ROUTER ? S("agent:EXIT-ROUTER-HANDOFF")
                                         : S("agent:EXIT-FINAL-ANSWER");
    if (r->outcome == RUN_DONE || err_is(r->error, ERR_TURN_LIMIT))
        return S("agent:EXIT-MAX-TURNS-NO-RESPONSE");
    if (err_is(r->error, ERR_CONTEXT_OVERFLOW))
        return S("agent:EXIT-TOKEN-LIMIT");
    if (r->outcome == RUN_INTERRUPTED)
        return S("agent:EXIT-CANCELLED");
    if (r->outcome == RUN_SUSPENDED)
        return S("agent:EXIT-SUSPENDED");
    if (err_is(r->error, ERR_INTERNAL))
        return S("agent:EXIT-UNCAUGHT-EXCEPTION");
    return S("agent:EXIT-ERROR");
}

struct sums {
    size_t n, n_failed;
    uint64_t duration_ms;
    size_t n_chars_in, n_chars_out;
};

static struct sums sum_up(const struct run_result *r, bool of_tools)
{
    struct sums s = {0};

    for (size_t i = 0; i < r->n_accounting; i++) {
        const struct accounting_entry *a = &r->accounting[i];

        if ((a->type == ACCOUNT_TOOL) != of_tools)
            continue;
        s.n++;
        s.n_failed += !a->is_ok;
        s.duration_ms += a->duration_ms;
        s.n_chars_in += a->n_chars_in;
        s.n_chars_out += a->n_chars_out;
    }
    return s;
}

static void log_llm_summary(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct run_result *r = e->body.result;
    struct sums s = sum_up(r, false);
    int64_t cost = run_result_microcents(r);
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text,
                "requests=%zu failed=%zu tokensIn=%" PRId64 " tokensOut=%" PRId64
                " cacheRead=%" PRId64 " cacheWrite=%" PRId64 " costUsd=%" PRId64 ".%08" PRId64
                " latencyMs=%" PRIu64,
                s.n, s.n_failed, usage_fresh_input(&r->usage), usage_completion(&r->usage),
                MAX(r->usage.cache_read, 0), MAX(r->usage.cache_write, 0),
                cost / MICROCENTS_PER_USD, cost % MICROCENTS_PER_USD, s.duration_ms);
    write_log(v, e, (struct library_entry){"FIN", false, OF_LLM, S("summary")}, strbuf_str(&text),
              out);
}

static void log_tool_summary(const struct library_view *v, const struct event *e,
                             struct strbuf *out)
{
    struct sums s = sum_up(e->body.result, true);
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text,
                "requests=%zu failed=%zu charactersIn=%zu charactersOut=%zu latencyMs=%" PRIu64,
                s.n, s.n_failed, s.n_chars_in, s.n_chars_out, s.duration_ms);
    write_log(v, e, (struct library_entry){"FIN", false, OF_TOOL, S("summary")}, strbuf_str(&text),
              out);
}

void library_end_logs(const struct library_view *v, const struct event *e, struct strbuf *out)
{
    const struct run_result *r = e->body.result;
    AUTO_FREE char *error = r->error ? err_message(r->error) : NULL;

    write_log(v, e, (struct library_entry){"VRB", false, OF_LLM, exit_marker(r)},
              error ? str_of(error) : str_of(run_outcome_name(r->outcome)), out);
    log_llm_summary(v, e, out);
    log_tool_summary(v, e, out);
}
