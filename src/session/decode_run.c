/* decode_run.c - sessions, runs, and what was told about them. */
#include "session/decode.h"

/* --- sessions and runs --- */

struct err *codec_decode_session(struct decoding *d)
{
    struct event_session *s = &d->event->body.session;

    TRY(codec_get_text(d, "cwd", &s->cwd));
    TRY(codec_get_text(d, "provider", &s->provider));
    TRY(codec_get_text(d, "model", &s->model));
    s->reason = codec_get_word(d, "reason");
    if (d->reader->leaves & CODEC_LEAVE_HEADS)
        return NULL;
    TRY(codec_get_text(d, "systemPrompt", &s->system));
    return codec_get_tool_set(d, &s->tools);
}

struct err *codec_decode_run(struct decoding *d)
{
    struct event_run *r = &d->event->body.run;

    r->policy = codec_get_word(d, "policy");
    r->capabilities.can_call_tools = codec_get_bool(d, "canCallTools");
    r->capabilities.web_search.is_supported = codec_get_bool(d, "webSearchSupported");
    r->capabilities.web_search.is_enabled = codec_get_bool(d, "webSearchEnabled");
    r->capabilities.web_fetch.is_supported = codec_get_bool(d, "webFetchSupported");
    r->capabilities.web_fetch.is_enabled = codec_get_bool(d, "webFetchEnabled");
    r->window = codec_get_int(d, "contextWindow");
    r->tool_response_bytes = (size_t)MAX(codec_get_int(d, "toolResponseBytes"), 0);
    r->retry_max_ms = (uint64_t)MAX(codec_get_int(d, "retryMaxMs"), 0);
    r->only_compacts = codec_get_bool(d, "onlyCompacts");
    r->head_tokens = codec_get_int(d, "headTokens");
    r->context_floor = codec_get_int(d, "contextFloor");
    TRY(codec_get_text(d, "provider", &r->provider));
    TRY(codec_get_text(d, "model", &r->model));
    if (!(d->reader->leaves & CODEC_LEAVE_HEADS))
        TRY(codec_get_text(d, "input", &r->input));
    codec_reader_end_compaction(d->reader);
    d->event->history = d->reader->leaves & CODEC_LEAVE_HISTORY ? NULL : &d->reader->history;
    return codec_check_history(d, "history");
}

static struct err *get_ask(struct decoding *d, struct ask *ret_ask)
{
    ret_ask->kind = (enum ask_kind)CODEC_GET_NAME(d, "kind", ask_kind_name, ASK_PLAN);
    TRY(codec_get_text(d, "toolCallId", &ret_ask->call_id));
    TRY(codec_get_text(d, "toolName", &ret_ask->tool));
    TRY(codec_get_text(d, "text", &ret_ask->text));
    TRY(codec_get_text(d, "rule", &ret_ask->rule));
    return codec_get_json(d, "parameters", &ret_ask->args);
}

static struct err *get_asks(struct decoding *d, struct run_result *r)
{
    const struct json *asks = json_get(d->body, "asks");
    struct decoding one = *d;

    r->asks = ARENA_ARRAY(d->arena, asks ? asks->n : 0, struct ask);
    json_each (v, asks) {
        one.body = v;
        TRY(get_ask(&one, &r->asks[r->n_asks++]));
    }
    return NULL;
}

static struct err *get_answer(struct decoding *d, struct str *ret_text)
{
    AUTO(strbuf) struct strbuf text = {0};
    const struct message *answer = d->reader->answer;

    if (!codec_get_bool(d, "contentIsLastMessage"))
        return codec_get_text(d, "content", ret_text);
    if (answer && answer->n_parts == 1 && answer->parts[0].kind == PART_TEXT) {
        *ret_text = answer->parts[0].text; /* which may be long */
        return NULL;
    }
    if (answer)
        message_text(answer, &text);
    *ret_text = arena_str(d->arena, strbuf_str(&text));
    return NULL;
}

struct err *codec_decode_result(struct decoding *d)
{
    struct run_result *r = ARENA_NEW(d->arena, struct run_result);

    d->event->body.result = r;
    d->event->history = d->reader->leaves & CODEC_LEAVE_HISTORY ? NULL : &d->reader->history;
    r->run_id = d->record->run_id;
    r->outcome = (enum run_outcome)CODEC_GET_NAME(d, "outcome", run_outcome_name, RUN_INTERRUPTED);
    r->forced =
        (enum final_reason)CODEC_GET_NAME(d, "forcedFinalReason", final_reason_name, FINAL_STOPPED);
    r->is_fallback = codec_get_bool(d, "isFallback");
    r->n_rounds = (unsigned)codec_get_int(d, "rounds");
    r->n_attempts = (unsigned)codec_get_int(d, "attempts");
    r->n_tools_executed = (unsigned)codec_get_int(d, "toolsExecuted");
    r->cost_microcents = codec_get_int(d, "costMicrocents");
    r->cost_is_known = codec_get_bool(d, "costIsKnown");
    r->duration_ms = (uint64_t)codec_get_int(d, "durationMs");
    r->api_duration_ms = (uint64_t)codec_get_int(d, "apiDurationMs");
    codec_get_usage(d, &r->usage);
    TRY(get_answer(d, &r->text));
    TRY(codec_get_json(d, "value", &r->value));
    TRY(codec_get_text(d, "stopReason", &r->stop_reason));
    r->error = codec_get_failure(d);
    TRY(get_asks(d, r));
    return codec_check_history(d, "history");
}

/* --- context --- */

static struct event_context context_of(const struct json *v)
{
    return (struct event_context){
        .used = json_int_or(json_get(v, "usedTokens"), 0),
        .window = json_int_or(json_get(v, "maxTokens"), 0),
        .serialized = json_int_or(json_get(v, "serializedTokens"), 0),
        .counted = json_int_or(json_get(v, "providerTokens"), 0),
        .is_exact = json_bool(json_get(v, "isExact"), false),
    };
}

struct err *codec_decode_context(struct decoding *d)
{
    d->event->body.context = context_of(d->body);
    return NULL;
}

struct err *codec_decode_compact(struct decoding *d)
{
    d->event->body.compact =
        (struct event_compact){.trigger = codec_get_word(d, "trigger"),
                               .n_results = (size_t)codec_get_int(d, "results"),
                               .before = context_of(json_get(d->body, "before")),
                               .after = context_of(json_get(d->body, "after"))};
    return NULL;
}

/* --- the rest --- */

struct err *codec_decode_tools(struct decoding *d)
{
    return codec_get_tool_set(d, &d->event->body.tools.tools);
}

struct err *codec_decode_final(struct decoding *d)
{
    struct event_final *f = &d->event->body.final;

    f->reason = (enum final_reason)CODEC_GET_NAME(d, "reason", final_reason_name, FINAL_STOPPED);
    return codec_get_text(d, "instruction", &f->instruction);
}

struct err *codec_decode_state(struct decoding *d)
{
    TRY(codec_get_text(d, "key", &d->event->body.state.key));
    return codec_get_json(d, "value", &d->event->body.state.value);
}

struct err *codec_decode_ask(struct decoding *d)
{
    struct ask *ask = ARENA_NEW(d->arena, struct ask);
    struct answer *answer = ARENA_NEW(d->arena, struct answer);

    d->event->body.ask.ask = ask;
    TRY(get_ask(d, ask));
    if (d->event->type != EVENT_ANSWERED)
        return NULL;
    d->event->body.ask.answer = answer;
    answer->kind = (enum answer_kind)MIN(MAX(codec_get_int(d, "answer"), 0), ANSWER_VALUE);
    TRY(codec_get_text(d, "reason", &answer->reason));
    TRY(codec_get_json(d, "value", &answer->value));
    return codec_get_json(d, "changed", &answer->args);
}

struct err *codec_decode_notice(struct decoding *d)
{
    struct event_notice *n = &d->event->body.notice;
    const char *source = codec_get_word(d, "source");

    n->severity = (enum severity)CODEC_GET_NAME(d, "severity", severity_name, SEVERITY_FINAL);
    n->source = source ? source : "";
    TRY(codec_get_text(d, "message", &n->text));
    return codec_get_json(d, "details", &n->details);
}

struct err *codec_decode_rewind(struct decoding *d)
{
    d->event->body.rewind =
        (struct event_rewind){.turn = (unsigned)codec_get_int(d, "toTurn"),
                              .seq = (uint64_t)codec_get_int(d, "toSeq"),
                              .takes_messages = codec_get_bool(d, "conversation"),
                              .n_files = (size_t)codec_get_int(d, "files")};
    return NULL;
}

struct err *codec_decode_checkpoint(struct decoding *d)
{
    struct event_checkpoint *x = &d->event->body.checkpoint;

    x->base_seq = (uint64_t)codec_get_int(d, "baseSeq");
    codec_get_usage(d, &x->usage);
    x->cost_microcents = codec_get_int(d, "costMicrocents");
    x->cost_is_known = codec_get_bool(d, "costIsKnown");
    x->is_estimated = codec_get_bool(d, "isEstimated");
    x->is_unpriced = codec_get_bool(d, "isUnpriced");
    x->n_rounds = (uint64_t)codec_get_int(d, "rounds");
    x->n_tool_calls = (uint64_t)codec_get_int(d, "toolCalls");
    x->active_ms = (uint64_t)codec_get_int(d, "activeMs");
    return codec_get_json(d, "state", &x->state);
}

struct err *codec_decode_error(struct decoding *d)
{
    d->event->body.error = codec_get_failure(d);
    return NULL;
}

struct err *codec_decode_nothing(struct decoding *d)
{
    return NULL;
}
