/* session_log.c - writes one line for each event. */
#include "view/session_log.h"

#include "model/message_json.h"
#include "view/event_fields.h"
#include "view/field.h"
#include "view/map.h"
#include "view/session_log_fields.h"

static void field_tool_set(struct json_writer *w, const char *key, const struct tool_set *set)
{
    jw_key(w, key);
    jw_begin_array(w);
    for (size_t i = 0; set && i < set->n; i++)
        session_log_schema(w, &set->entries[i].def);
    jw_end_array(w);
}

/* --- sessions and runs --- */

static void session_line(struct json_writer *w, const struct event_session *s)
{
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
                          const struct session_log_links *l)
{
    if (l)
        session_log_range(w, "history", l);
    if (l || !h)
        return;
    jw_key(w, "history");
    jw_begin_array(w);
    for (size_t i = 0; i < h->n_messages; i++)
        message_write(w, h->messages[i]);
    jw_end_array(w);
}

static void run_line(struct json_writer *w, const struct event *e,
                     const struct session_log_links *l)
{
    const struct provider_capabilities *can = &e->body.run.capabilities;

    jw_key(w, "nativeWebTools");
    jw_begin_object(w);
    field_native_tool(w, "webSearch", &can->web_search);
    field_native_tool(w, "webFetch", &can->web_fetch);
    jw_end_object(w);
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

void session_log_structure(struct json_writer *w, const struct message *m)
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
                            const struct session_log_links *l)
{
    struct str rest = l ? l->structure : (struct str){0}, line;

    if (!l && !h)
        return;
    jw_key(w, "historyStructure");
    jw_begin_array(w);
    if (l && l->structure_from)
        session_log_range_entry(w, l, l->structure_from);
    while (str_split(&rest, '\n', &line))
        if (line.n)
            jw_raw(w, line);
    for (size_t i = 0; !l && i < h->n_messages; i++)
        session_log_structure(w, h->messages[i]);
    jw_end_array(w);
}

static void result_line(struct json_writer *w, const struct event *e,
                        const struct session_log_links *l)
{
    jw_kv_str(w, "content", e->body.result->text);
    field_history(w, e->history, l);
    field_structure(w, e->history, l);
}

/* --- messages and tool calls --- */

static void history_line(struct json_writer *w, const struct event_message *b)
{
    jw_kv_str(w, "mutation", str_of(b->mutation));
    jw_kv_int(w, "index", (int64_t)b->index);
    if (b->n_of)
        jw_kv_int(w, "of", (int64_t)b->n_of);
    if (b->is_kept)
        jw_kv_bool(w, "kept", true);
    session_log_message(w, "message", b->message);
}

static void batch_line(struct json_writer *w, const struct event_batch *b)
{
    jw_key(w, "maxConcurrency");
    if (b->max_concurrency)
        jw_int(w, b->max_concurrency);
    else
        jw_null(w); /* no limit */
    jw_key(w, "tools");
    jw_begin_array(w);
    for (size_t i = 0; b->message && i < b->message->n_parts; i++)
        if (b->message->parts[i].kind == PART_TOOL_CALL)
            jw_str(w, b->message->parts[i].name);
    jw_end_array(w);
}

static void field_metadata(struct json_writer *w, const struct event_tool *t)
{
    if (t->metadata) {
        session_log_json(w, "metadata", t->metadata);
        return;
    }
    jw_key(w, "metadata");
    jw_begin_object(w);
    if (t->error_code)
        jw_kv_str(w, "errorCode", str_of(t->error_code));
    jw_end_object(w);
}

static void tool_result_line(struct json_writer *w, const struct event_tool *t)
{
    field_result_text(w, t->is_ok ? "result" : "error", t->result);
    field_metadata(w, t);
    field_owner_path(w, "ownerPath", t->owner);
}

static void answer_line(struct json_writer *w, enum event_type type, const struct answer *answer)
{
    static const char *const kinds[] = {"nobody",  "later",   "no",   "once",
                                        "session", "project", "value"};

    _Static_assert(ARRAY_LEN(kinds) == N_ANSWER_KINDS, "one for each");
    jw_kv_str(w, "answer", str_of(kinds[answer->kind]));
    event_fields_log(w, answer_fields, type, answer);
}

/* --- the line --- */

struct str session_log_name(const struct event *e)
{
    if (e->type == EVENT_DELTA && e->body.delta.delta->kind == DELTA_SERVER_TOOL)
        return S("server_tool");
    /* Text that people saw but no provider sent: separators of rounds, the text of a report. */
    if (e->type == EVENT_DELTA &&
        (e->body.delta.is_separator || e->body.delta.source == SOURCE_FINALIZE))
        return S("text_delta");
    if (e->type == EVENT_DELTA)
        return S("provider_stream_raw_delta");
    if (e->type == EVENT_RUN_END)
        return e->body.result->outcome == RUN_DONE ? S("assistant") : S("run_end");
    return str_of(view_names(VIEW_SESSION_LOG, e->type));
}

/* Writes what rows of fields cannot describe. */
static void rest_of_line(struct json_writer *w, const struct event *e,
                         const struct session_log_links *l)
{
    switch (e->type) {
    case EVENT_SESSION_BEGIN:
        session_line(w, &e->body.session);
        break;
    case EVENT_RUN_BEGIN:
    case EVENT_PRE_RUN:
        run_line(w, e, l);
        break;
    case EVENT_USER_INPUT:
    case EVENT_ASSISTANT_COMMITTED:
        session_log_message(w, "message", e->body.message.message);
        break;
    case EVENT_TOOLS_CHANGED:
        jw_kv_int(w, "toolsVersion", (int64_t)e->body.tools.tools->version);
        field_tool_set(w, "toolSchemas", e->body.tools.tools);
        break;
    case EVENT_CONTEXT:
        field_context(w, "contextState", e->body.context.used, e->body.context.window);
        break;
    case EVENT_COMPACTED:
        field_context(w, "before", e->body.compact.before.used, e->body.compact.before.window);
        field_context(w, "after", e->body.compact.after.used, e->body.compact.after.window);
        break;
    case EVENT_ATTEMPT_BEGIN:
    case EVENT_ATTEMPT_END:
    case EVENT_RETRY:
    case EVENT_FALLBACK:
        session_log_attempt(w, e);
        break;
    case EVENT_PROVIDER_REQUEST:
        session_log_request(w, &e->body.request, l);
        break;
    case EVENT_NATIVE_PAYLOAD:
        session_log_payload(w, e->body.payload);
        break;
    case EVENT_DELTA:
        if (e->body.delta.delta->kind == DELTA_SERVER_TOOL)
            session_log_server_tool(w, &e->body.delta);
        else
            session_log_delta(w, &e->body.delta);
        break;
    case EVENT_RESPONSE_RAW:
        session_log_reply(w, &e->body.reply);
        break;
    case EVENT_RESPONSE_NORMALIZED:
        session_log_normalized(w, &e->body.message);
        break;
    case EVENT_HISTORY:
        history_line(w, &e->body.message);
        break;
    case EVENT_BATCH_BEGIN:
        batch_line(w, &e->body.batch);
        break;
    case EVENT_TOOL_REQUEST:
    case EVENT_TOOL_EARLY:
        field_owner_path(w, "ownerPath", e->body.tool.owner);
        break;
    case EVENT_TOOL_PROGRESS:
        jw_kv_str(w, "text", e->body.tool.progress);
        break;
    case EVENT_TOOL_END:
    case EVENT_TOOL_RESULT:
        tool_result_line(w, &e->body.tool);
        break;
    case EVENT_TOOL_COMMITTED:
        session_log_message(w, "message", e->body.tool.message);
        break;
    case EVENT_SNAPSHOT:
        session_log_snapshot(w, &e->body.snapshot);
        break;
    case EVENT_PRE_IMAGE:
        session_log_pre_image(w, &e->body.image);
        break;
    case EVENT_ANSWERED:
        answer_line(w, e->type, e->body.ask.answer);
        break;
    case EVENT_ERROR:
        field_failure(w, "error", e->body.error);
        break;
    case EVENT_RUN_END:
        result_line(w, e, l);
        break;
    default:
        break;
    }
}

static void body_fields(struct json_writer *w, const struct event *e,
                        const struct session_log_links *l)
{
    event_fields_log(w, event_fields(e->type), e->type, event_body(e));
    rest_of_line(w, e, l);
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
    session_log_text(w, "parentSessionId", e->parent_stream);
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

void session_log_write_linked(const struct event *e, const struct session_log_links *l,
                              struct strbuf *out)
{
    struct json_writer w;

    begin_line(&w, e, session_log_name(e), out);
    body_fields(&w, e, l);
    end_line(&w, out);
}

bool session_log_write_shown(const struct event *e, struct strbuf *out)
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

void session_log_write_brief(const struct event *e, const struct json_long_texts *long_texts,
                             struct strbuf *out)
{
    struct json_writer w;

    begin_line(&w, e, session_log_name(e), out);
    w.long_texts = long_texts;
    body_fields(&w, e, NULL);
    end_line(&w, out);
}

void session_log_write(const struct event *e, struct strbuf *out)
{
    session_log_write_linked(e, NULL, out);
}
