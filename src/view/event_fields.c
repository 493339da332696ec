/* event_fields.c - the rows of all bodies. */
#include "view/event_fields.h"

#include "model/message_json.h"
#include "view/field.h"
#include "view/session_log_fields.h"

#include <stddef.h>

_Static_assert(EVENT_N_TYPES <= 64, "the types of events are bits of a number");

#define FIELD(tag, member, key_, kind_, log_, ...)                                                 \
    {.key = (key_),                                                                                \
     .kind = FIELD_##kind_,                                                                        \
     .offset = offsetof(struct tag, member),                                                       \
     .size = sizeof((struct tag *)NULL)->member,                                                   \
     .log = LOG_##log_,                                                                            \
     ##__VA_ARGS__}
/* A value of an enum, by its name. */
#define NAMED(tag, member, key_, kind_, log_, ...)                                                 \
    FIELD(tag, member, key_, ENUM, log_, .name = name_of_##kind_, ##__VA_ARGS__)
#define END {.key = NULL}

#define NAMES(tag)                                                                                 \
    static const char *name_of_##tag(int value)                                                    \
    {                                                                                              \
        return tag##_name((enum tag)value);                                                        \
    }
NAMES(final_reason)
NAMES(run_outcome)
NAMES(ask_kind)
NAMES(severity)
NAMES(risk)

static const struct event_field no_fields[] = {END};

/* --- sessions and runs --- */

#define SESSION_BEGIN EVENT_BIT(SESSION_BEGIN)
#define RUN_BEGIN EVENT_BIT(RUN_BEGIN)
static const struct event_field session_fields[] = {
    FIELD(event_session, cwd, "cwd", TEXT, ALWAYS, .types = SESSION_BEGIN),
    FIELD(event_session, provider, "provider", TEXT, ALWAYS, .types = SESSION_BEGIN),
    FIELD(event_session, model, "model", TEXT, ALWAYS, .types = SESSION_BEGIN),
    FIELD(event_session, reason, "reason", WORD, ALWAYS, .types = EVENT_BIT(SESSION_END)),
    END,
};

static const struct event_field change_fields[] = {
    FIELD(event_change, name, "name", TEXT, SET),
    FIELD(event_change, provider, "provider", TEXT, SET),
    FIELD(event_change, model, "model", TEXT, SET),
    END,
};

/* Another record has the input of PRE_RUN: a blob would cost more than it saves. */
static const struct event_field run_fields[] = {
    FIELD(event_run, policy, "policy", WORD, ALWAYS),
    FIELD(event_run, provider, "provider", TEXT, ALWAYS),
    FIELD(event_run, model, "model", TEXT, ALWAYS),
    FIELD(event_run, capabilities.can_call_tools, "canCallTools", BOOL, NEVER),
    FIELD(event_run, capabilities.web_search.is_supported, "webSearchSupported", BOOL, NEVER),
    FIELD(event_run, capabilities.web_search.is_enabled, "webSearchEnabled", BOOL, NEVER),
    FIELD(event_run, capabilities.web_fetch.is_supported, "webFetchSupported", BOOL, NEVER),
    FIELD(event_run, capabilities.web_fetch.is_enabled, "webFetchEnabled", BOOL, NEVER),
    FIELD(event_run, window, "contextWindow", INT, NEVER, .types = RUN_BEGIN),
    FIELD(event_run, tool_response_bytes, "toolResponseBytes", COUNT, NEVER, .types = RUN_BEGIN),
    FIELD(event_run, retry_max_ms, "retryMaxMs", COUNT, NEVER, .types = RUN_BEGIN),
    FIELD(event_run, only_compacts, "onlyCompacts", BOOL, NEVER, .types = RUN_BEGIN),
    FIELD(event_run, head_tokens, "headTokens", INT, NEVER, .types = RUN_BEGIN),
    FIELD(event_run, context_floor, "contextFloor", INT, NEVER, .types = RUN_BEGIN),
    FIELD(event_run, input, "input", SHARED, ALWAYS, .types = RUN_BEGIN, .is_head = true),
    FIELD(event_run, input, "input", TEXT, ALWAYS, .types = EVENT_BIT(PRE_RUN), .is_head = true),
    END,
};

static const struct event_field result_fields[] = {
    NAMED(run_result, outcome, "outcome", run_outcome, ALWAYS, .is_kept = true),
    FIELD(run_result, value, "value", GIVEN, SET),
    FIELD(run_result, error, "error", ERROR, SET),
    NAMED(run_result, forced, "forcedFinalReason", final_reason, SET),
    FIELD(run_result, is_fallback, "isFallback", BOOL, NEVER),
    FIELD(run_result, stop_reason, "stopReason", TEXT, SET),
    FIELD(run_result, n_rounds, "rounds", COUNT, ALWAYS),
    FIELD(run_result, n_attempts, "attempts", COUNT, ALWAYS),
    FIELD(run_result, n_tools_executed, "toolsExecuted", COUNT, ALWAYS),
    FIELD(run_result, usage, "usage", USAGE, ALWAYS),
    FIELD(run_result, cost_microcents, "costMicrocents", INT, ALWAYS),
    FIELD(run_result, cost_is_known, "costIsKnown", BOOL, ALWAYS),
    FIELD(run_result, child_microcents, "childMicrocents", INT, NEVER),
    FIELD(run_result, child_cost_is_unknown, "childCostIsUnknown", BOOL, NEVER),
    FIELD(run_result, duration_ms, "durationMs", COUNT, ALWAYS),
    FIELD(run_result, api_duration_ms, "apiDurationMs", COUNT, ALWAYS),
    END,
};

static const struct event_field rewind_fields[] = {
    FIELD(event_rewind, turn, "toTurn", COUNT, ALWAYS),
    FIELD(event_rewind, seq, "toSeq", COUNT, ALWAYS),
    FIELD(event_rewind, takes_messages, "conversation", BOOL, ALWAYS),
    FIELD(event_rewind, n_files, "files", COUNT, ALWAYS),
    END,
};

static const struct event_field checkpoint_fields[] = {
    FIELD(event_checkpoint, base_seq, "baseSeq", COUNT, ALWAYS),
    FIELD(event_checkpoint, state, "state", JSON, ALWAYS),
    FIELD(event_checkpoint, usage, "usage", USAGE, ALWAYS),
    FIELD(event_checkpoint, cost_microcents, "costMicrocents", INT, ALWAYS),
    FIELD(event_checkpoint, cost_is_known, "costIsKnown", BOOL, ALWAYS),
    FIELD(event_checkpoint, is_estimated, "isEstimated", BOOL, SET),
    FIELD(event_checkpoint, is_unpriced, "isUnpriced", BOOL, SET),
    FIELD(event_checkpoint, n_rounds, "rounds", COUNT, ALWAYS),
    FIELD(event_checkpoint, n_tool_calls, "toolCalls", COUNT, ALWAYS),
    FIELD(event_checkpoint, active_ms, "activeMs", COUNT, ALWAYS),
    END,
};

/* --- context --- */

const struct event_field context_fields[] = {
    FIELD(event_context, used, "usedTokens", INT, NEVER),
    FIELD(event_context, window, "maxTokens", INT, NEVER),
    FIELD(event_context, serialized, "serializedTokens", INT, ALWAYS),
    FIELD(event_context, counted, "providerTokens", INT, ALWAYS),
    FIELD(event_context, is_exact, "isExact", BOOL, ALWAYS),
    END,
};

static const struct event_field compact_fields[] = {
    FIELD(event_compact, trigger, "trigger", WORD, ALWAYS),
    FIELD(event_compact, n_results, "results", COUNT, SET),
    END,
};

static const struct event_field final_fields[] = {
    NAMED(event_final, reason, "reason", final_reason, ALWAYS),
    FIELD(event_final, instruction, "instruction", TEXT, ALWAYS),
    END,
};

/* --- attempts --- */

#define ATTEMPT_END EVENT_BIT(ATTEMPT_END)
static const struct event_field attempt_fields[] = {
    FIELD(event_attempt, provider, "provider", TEXT, ALWAYS),
    FIELD(event_attempt, model, "model", TEXT, ALWAYS),
    FIELD(event_attempt, max_attempts, "maxAttempts", COUNT, NEVER),
    FIELD(event_attempt, is_retry, "isRetry", BOOL, ALWAYS),
    FIELD(event_attempt, is_final_turn, "isFinalTurn", BOOL, ALWAYS),
    FIELD(event_attempt, is_aside, "isAside", BOOL, ALWAYS),
    FIELD(event_attempt, call_id, "toolCallId", TEXT, SET),
    NAMED(event_attempt, forced, "forcedFinalReason", final_reason, SET),
    FIELD(event_attempt, error, "error", ERROR, SET),
    FIELD(event_attempt, is_lost, "isLost", BOOL, SET, .log_types = ATTEMPT_END),
    FIELD(event_attempt, window, "contextWindow", INT, NEVER),
    FIELD(event_attempt, total_microcents, "totalMicrocents", INT, ALWAYS,
          .log_types = ATTEMPT_END),
    FIELD(event_attempt, duration_ms, "durationMs", COUNT, ALWAYS, .log_types = ATTEMPT_END),
    FIELD(event_attempt, delay_ms, "delayMs", COUNT, ALWAYS, .log_types = EVENT_BIT(RETRY)),
    FIELD(event_attempt, next_provider, "nextProvider", TEXT, ALWAYS, .types = EVENT_BIT(FALLBACK)),
    FIELD(event_attempt, next_model, "nextModel", TEXT, ALWAYS, .types = EVENT_BIT(FALLBACK)),
    END,
};

/* --- calls of tools --- */

static const struct event_field batch_fields[] = {
    FIELD(event_batch, id, "batchId", TEXT, ALWAYS),
    FIELD(event_batch, mode, "mode", WORD, ALWAYS),
    FIELD(event_batch, max_concurrency, "maxConcurrency", COUNT, NEVER),
    FIELD(event_batch, n_requests, "requestCount", COUNT, ALWAYS),
    END,
};

#define TOOL_RESULT EVENT_BIT(TOOL_RESULT)
#define TOOL_DROPPED EVENT_BIT(TOOL_DROPPED)
#define OUTCOMES (EVENT_BIT(TOOL_END) | TOOL_RESULT)
#define REQUESTS (EVENT_BIT(TOOL_REQUEST) | EVENT_BIT(TOOL_EARLY))
static const struct event_field tool_fields[] = {
    FIELD(event_tool, batch_id, "batchId", TEXT, ALWAYS),
    FIELD(event_tool, index, "index", COUNT, ALWAYS, .is_kept = true),
    FIELD(event_tool, name, "toolName", TEXT, ALWAYS),
    FIELD(event_tool, call_id, "toolCallId", TEXT, ALWAYS),
    FIELD(event_tool, server, "server", TEXT, SET),
    NAMED(event_tool, risk, "risk", risk, ALWAYS, .log_types = REQUESTS),
    FIELD(event_tool, args, "parameters", GIVEN, ALWAYS, .types = REQUESTS),
    FIELD(event_tool, progress, "progress", TEXT, NEVER),
    FIELD(event_tool, is_ok, "success", BOOL, ALWAYS, .types = OUTCOMES),
    FIELD(event_tool, was_executed, "executed", BOOL, ALWAYS, .types = OUTCOMES),
    FIELD(event_tool, was_denied, "denied", BOOL, ALWAYS, .types = OUTCOMES),
    FIELD(event_tool, error_code, "errorCode", WORD, ALWAYS, .types = OUTCOMES | TOOL_DROPPED,
          .log_types = TOOL_DROPPED),
    FIELD(event_tool, metadata, "metadata", JSON, NEVER, .types = OUTCOMES),
    FIELD(event_tool, duration_ms, "durationMs", COUNT, ALWAYS, .types = OUTCOMES),
    FIELD(event_tool, n_chars_in, "charactersIn", COUNT, ALWAYS, .types = OUTCOMES),
    FIELD(event_tool, n_chars_out, "charactersOut", COUNT, ALWAYS, .types = OUTCOMES),
    FIELD(event_tool, hook_text, "hookText", TEXT, NEVER, .types = TOOL_RESULT),
    FIELD(event_tool, refusal, "refusal", TEXT, NEVER, .types = TOOL_RESULT),
    FIELD(event_tool, refusal_code, "refusalCode", WORD, NEVER, .types = TOOL_RESULT),
    FIELD(event_tool, stops_run, "stopsRun", BOOL, NEVER, .types = TOOL_RESULT),
    FIELD(event_tool, delegates, "delegates", BOOL, NEVER, .types = EVENT_BIT(TOOL_BEGIN)),
    END,
};

#define CHILD_END EVENT_BIT(CHILD_END)
static const struct event_field child_fields[] = {
    FIELD(event_child, id, "childId", TEXT, ALWAYS),
    FIELD(event_child, call_id, "toolCallId", TEXT, ALWAYS),
    FIELD(event_child, index, "index", COUNT, ALWAYS),
    FIELD(event_child, agent, "agent", TEXT, ALWAYS),
    FIELD(event_child, outcome, "outcome", WORD, ALWAYS, .types = CHILD_END),
    FIELD(event_child, usage, "usage", USAGE, ALWAYS, .types = CHILD_END),
    FIELD(event_child, cost_microcents, "costMicrocents", INT, ALWAYS, .types = CHILD_END),
    FIELD(event_child, is_estimated, "isEstimated", BOOL, SET, .types = CHILD_END),
    FIELD(event_child, is_unpriced, "isUnpriced", BOOL, SET, .types = CHILD_END),
    FIELD(event_child, n_rounds, "rounds", COUNT, ALWAYS, .types = CHILD_END),
    FIELD(event_child, n_tool_calls, "toolCalls", COUNT, ALWAYS, .types = CHILD_END),
    END,
};

static const struct event_field state_fields[] = {
    FIELD(event_state, key, "key", TEXT, ALWAYS),
    FIELD(event_state, value, "value", JSON, ALWAYS),
    END,
};

/* --- questions, notices --- */

const struct event_field ask_fields[] = {
    NAMED(ask, kind, "kind", ask_kind, ALWAYS, .is_kept = true),
    FIELD(ask, call_id, "toolCallId", TEXT, SET),
    FIELD(ask, tool, "toolName", TEXT, SET),
    FIELD(ask, args, "parameters", GIVEN, ALWAYS),
    FIELD(ask, text, "text", TEXT, ALWAYS),
    FIELD(ask, rule, "rule", TEXT, NEVER),
    END,
};

const struct event_field answer_fields[] = {
    FIELD(answer, reason, "reason", TEXT, SET),
    FIELD(answer, value, "value", GIVEN, SET),
    FIELD(answer, args, "changed", JSON, NEVER),
    END,
};

static const struct event_field notice_fields[] = {
    NAMED(event_notice, severity, "severity", severity, ALWAYS, .is_kept = true),
    FIELD(event_notice, source, "source", WORD, ALWAYS),
    FIELD(event_notice, text, "message", TEXT, ALWAYS),
    FIELD(event_notice, details, "details", GIVEN, SET),
    END,
};

/* --- events --- */

/* Bodies without rows, which have code: EVENT_TABLE names them. */
#define error_fields no_fields
#define delta_fields no_fields
#define image_fields no_fields
#define message_fields no_fields
#define none_fields no_fields
#define payload_fields no_fields
#define reply_fields no_fields
#define request_fields no_fields
#define snapshot_fields no_fields
#define tools_fields no_fields

const struct event_field *event_fields(enum event_type t)
{
    static const struct event_field *const of[EVENT_N_TYPES] = {
#define X(name, text, body, traits) [EVENT_##name] = body##_fields,
        EVENT_TABLE(X)
#undef X
    };

    return of[t];
}

/* The question and the result are behind a pointer. */
const void *event_body(const struct event *e)
{
    if (e->type == EVENT_ASKED || e->type == EVENT_ANSWERED)
        return e->body.ask.ask;
    return e->type == EVENT_RUN_END ? (const void *)e->body.result : &e->body;
}

/* --- fields --- */

static bool is_in(uint64_t types, enum event_type t)
{
    return !types || types >> t & 1;
}

bool event_field_is_of(const struct event_field *f, enum event_type t)
{
    return is_in(f->types, t);
}

uint64_t field_count(const struct event_field *f, const void *body)
{
    return f->size == sizeof(unsigned) ? FIELD_OF(body, f, unsigned) : FIELD_OF(body, f, uint64_t);
}

bool field_is_set(const struct event_field *f, const void *body)
{
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_SHARED:
        return FIELD_OF(body, f, struct str).n > 0;
    case FIELD_WORD:
        return FIELD_OF(body, f, const char *) && *FIELD_OF(body, f, const char *);
    case FIELD_BOOL:
        return FIELD_OF(body, f, bool);
    case FIELD_INT:
        return FIELD_OF(body, f, int64_t) != 0;
    case FIELD_COUNT:
        return field_count(f, body) != 0;
    case FIELD_ENUM:
        return FIELD_OF(body, f, int) != 0;
    case FIELD_JSON:
    case FIELD_GIVEN:
    case FIELD_ERROR:
        return FIELD_OF(body, f, const void *) != NULL;
    case FIELD_USAGE:
        return usage_is_known(&FIELD_OF(body, f, struct usage));
    }
    BUG("a field of no known kind");
}

/* --- lines of the log --- */

static void log_field(struct json_writer *w, const struct event_field *f, const void *body)
{
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_SHARED:
        jw_kv_str(w, f->key, FIELD_OF(body, f, struct str));
        break;
    case FIELD_WORD:
        jw_kv_str(w, f->key, str_of(FIELD_OF(body, f, const char *)));
        break;
    case FIELD_BOOL:
        jw_kv_bool(w, f->key, FIELD_OF(body, f, bool));
        break;
    case FIELD_INT:
        jw_kv_int(w, f->key, FIELD_OF(body, f, int64_t));
        break;
    case FIELD_COUNT:
        jw_kv_int(w, f->key, (int64_t)field_count(f, body));
        break;
    case FIELD_ENUM:
        jw_kv_str(w, f->key, str_of(f->name(FIELD_OF(body, f, int))));
        break;
    case FIELD_JSON:
        field_json(w, f->key, FIELD_OF(body, f, const struct json *));
        break;
    case FIELD_GIVEN:
        session_log_json(w, f->key, FIELD_OF(body, f, const struct json *));
        break;
    case FIELD_ERROR:
        field_failure(w, f->key, FIELD_OF(body, f, const struct err *));
        break;
    case FIELD_USAGE:
        jw_key(w, f->key);
        usage_write(w, &FIELD_OF(body, f, struct usage));
        break;
    }
}

void event_fields_log(struct json_writer *w, const struct event_field *fields, enum event_type t,
                      const void *body)
{
    for (const struct event_field *f = fields; f->key; f++)
        if (is_in(f->types, t) && is_in(f->log_types, t) &&
            (f->log == LOG_ALWAYS || (f->log == LOG_SET && field_is_set(f, body))))
            log_field(w, f, body);
}
