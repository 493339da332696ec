/* decode.c - records back to events. */
#include "session/decode.h"

#include "engine/shorten.h"
#include "model/message_json.h"
#include "view/journal_fields.h"

#include <stdlib.h>

/* One record on its way back. */
struct decoding {
    struct codec_reader *reader;
    const struct store_record *record;
    const struct json *body;
    size_t index; /* of the event in it */
    struct arena *arena;
    struct event *event;
};

static struct err *broken(const struct decoding *d, const char *what)
{
    return err_new(ERR_STORAGE, "record %llu of session %" STR_FMT " (%" STR_FMT ") %s",
                   (unsigned long long)d->record->seq, STR_ARG(d->reader->stream),
                   STR_ARG(d->record->type), what);
}

/* --- values --- */

static int64_t get_int(const struct decoding *d, const char *key)
{
    return json_int_or(json_get(d->body, key), 0);
}

static bool get_bool(const struct decoding *d, const char *key)
{
    return json_bool(json_get(d->body, key), false);
}

static struct err *load_blob(struct decoding *d, struct str handle, struct str *ret_bytes)
{
    AUTO(strbuf) struct strbuf bytes = {0};

    TRY(blob_get(store_blobs(d->reader->store, d->reader->stream), handle, &bytes));
    *ret_bytes = arena_str(d->arena, strbuf_str(&bytes));
    return NULL;
}

static struct err *text_of(struct decoding *d, const struct json *v, struct str *ret_text)
{
    struct str handle = json_get_text(v, "$blob");

    *ret_text = json_str(v);
    return handle.n ? load_blob(d, handle, ret_text) : NULL;
}

static struct err *get_text(struct decoding *d, const char *key, struct str *ret_text)
{
    return text_of(d, json_get(d->body, key), ret_text);
}

/* NULL: there is none. */
static struct err *get_json(struct decoding *d, const char *key, const struct json **ret_value)
{
    const struct json *v = json_get(d->body, key);
    struct str handle = json_get_text(v, "$blob"), bytes;
    struct json *loaded;

    *ret_value = v;
    if (!handle.n)
        return NULL;
    TRY(load_blob(d, handle, &bytes));
    TRY(json_parse(d->arena, bytes, 0, &loaded));
    *ret_value = loaded;
    return NULL;
}

/* Names of a table: those of `name` from `first` to `last`. */
static int find_name(struct str text, const char *(*name)(int), int last)
{
    for (int i = 0; i <= last; i++)
        if (str_is(text, name(i)))
            return i;
    return 0;
}

#define NAMES(function, type)                                                                      \
    static const char *function##_at(int i)                                                        \
    {                                                                                              \
        return function((type)i);                                                                  \
    }
NAMES(final_reason_name, enum final_reason)
NAMES(run_outcome_name, enum run_outcome)
NAMES(ask_kind_name, enum ask_kind)
NAMES(severity_name, enum severity)
NAMES(risk_name, enum risk)
NAMES(output_source_name, enum output_source)
NAMES(payload_kind_name, enum payload_kind)
NAMES(effort_name, enum effort)
#undef NAMES

#define GET_NAME(d, key, function, last)                                                           \
    find_name(json_get_text((d)->body, key), function##_at, (int)(last))

/* A text of the program's own, as events hold them: in the arena here. */
static const char *get_word(struct decoding *d, const char *key)
{
    struct str text = json_get_text(d->body, key);

    return text.n ? arena_cstr(d->arena, text) : NULL;
}

static struct err *get_failure(struct decoding *d, struct err **ret_error)
{
    const struct json *v = json_get(d->body, "error");
    enum err_kind kind = ERR_INTERNAL;
    struct err *e;

    *ret_error = NULL;
    if (!json_is(v, JSON_OBJECT))
        return NULL;
    err_kind_find(json_get_text(v, "code"), &kind);
    e = err_new(kind, "%" STR_FMT, STR_ARG(json_get_text(v, "message")));
    if (json_get_text(v, "hint").n)
        e = err_hint(e, "%" STR_FMT, STR_ARG(json_get_text(v, "hint")));
    err_free(d->reader->error);
    *ret_error = d->reader->error = e;
    return NULL;
}

static bool get_usage(struct decoding *d, struct usage *ret_usage)
{
    const struct json *v = json_get(d->body, "usage");

    *ret_usage = json_is(v, JSON_OBJECT) ? usage_read(v, d->arena) : USAGE_UNKNOWN;
    return v != NULL;
}

/* --- messages and results --- */

static struct message *find_message(const struct codec_reader *r, struct str id)
{
    for (size_t i = r->n_messages; i-- > 0;)
        if (str_eq(r->messages[i]->id, id))
            return r->messages[i];
    return NULL;
}

static void keep_message(struct codec_reader *r, struct message *m)
{
    r->messages =
        arena_grow(&r->arena, r->messages, r->n_messages, &r->messages_room, sizeof *r->messages);
    r->messages[r->n_messages++] = message_ref(m);
}

static struct err *add_reply_parts(struct decoding *d, const struct json *v, struct message *m)
{
    const struct codec_reader *r = d->reader;

    if (!r->has_reply || (uint64_t)json_int_or(json_get(v, "$reply"), 0) != r->reply_seq)
        return broken(d, "refers to an answer that is not there");
    for (size_t i = 0; i < r->reply.n_parts; i++)
        message_add(m, &r->reply.parts[i].part);
    return NULL;
}

/* Borrowed from the reader. */
static struct err *get_message(struct decoding *d, const char *key, struct message **ret_message)
{
    AUTO(message) struct message *m = NULL;
    const struct json *v;
    struct str id;

    *ret_message = NULL;
    TRY(get_json(d, key, &v));
    id = json_get_text(v, "$message");
    if (!v)
        return NULL;
    if (id.n) {
        *ret_message = find_message(d->reader, id);
        return *ret_message ? NULL : broken(d, "refers to a message that is not there");
    }
    TRY(message_read(v, &m));
    if (json_has(v, "$reply"))
        TRY(add_reply_parts(d, v, m));
    keep_message(d->reader, m);
    *ret_message = m;
    return NULL;
}

static const struct part *find_result(const struct codec_reader *r, uint64_t seq)
{
    for (size_t i = r->n_results; i-- > 0;)
        if (r->results[i].seq == seq)
            return &r->results[i].part;
    return NULL;
}

static struct err *get_result(struct decoding *d, const struct part **ret_part)
{
    struct codec_reader *r = d->reader;
    const struct json *v;
    struct part part;

    *ret_part = NULL;
    TRY(get_json(d, "result", &v));
    if (!v)
        return NULL;
    if (json_has(v, "$result")) {
        *ret_part = find_result(r, (uint64_t)json_int_or(json_get(v, "$result"), 0));
        return *ret_part ? NULL : broken(d, "refers to a result that is not there");
    }
    TRY(part_read(v, d->arena, &part));
    r->results =
        arena_grow(&r->arena, r->results, r->n_results, &r->results_room, sizeof *r->results);
    r->results[r->n_results] = (struct seen_result){d->record->seq, part_copy(&r->arena, &part)};
    *ret_part = &r->results[r->n_results++].part;
    return NULL;
}

/* --- the history --- */

static void begin_history(struct codec_reader *r, uint64_t seq)
{
    history_done(&r->history);
    r->base_seq = seq;
    r->chain = (struct chain_hash){0};
}

static struct err *check_history(struct decoding *d, const char *key)
{
    const struct codec_reader *r = d->reader;
    const struct json *v = json_get(json_get(d->body, key), "$history");
    char hex[SHA256_HEX_SIZE];

    if (r->core_only)
        return NULL; /* what is there is used, whatever is missing before it */
    sha256_format_hex(r->chain.bytes, hex);
    if (!v || ((uint64_t)json_int_or(json_get(v, "n"), -1) == r->history.n_messages &&
               str_is(json_get_text(v, "sha256"), hex)))
        return NULL;
    return broken(d, "was made with another history than the records before it");
}

static struct err *make_tool_message(struct decoding *d, struct message **ret_message)
{
    const struct part *part;

    TRY(get_result(d, &part));
    *ret_message = message_new(ROLE_TOOL, json_get_text(d->body, "messageId"));
    message_add(*ret_message, part);
    keep_message(d->reader, *ret_message);
    message_unref(*ret_message);
    return NULL;
}

static struct err *decode_history(struct decoding *d)
{
    struct event_message *b = &d->event->body.message;
    struct codec_reader *r = d->reader;
    struct message *m = NULL;

    b->mutation = get_word(d, "mutation");
    b->index = (size_t)get_int(d, "index");
    if (!b->mutation)
        return broken(d, "does not say what it changes");
    if (!r->base_seq || (strcmp(b->mutation, "append") != 0 && b->index == 0))
        begin_history(r, d->record->seq);
    if (json_has(d->body, "result"))
        TRY(make_tool_message(d, &m));
    else
        TRY(get_message(d, "message", &m));
    b->message = m;
    if (!m)
        return NULL;
    history_add_message(&r->history, m, d->record->unix_ms);
    chain_hash_add(&r->chain, m);
    return NULL;
}

/* --- tools that are offered --- */

static void read_def(const struct json *v, struct tool_def *ret)
{
    *ret = (struct tool_def){.name = json_get_text(v, "name"),
                             .description = json_get_text(v, "description"),
                             .input_schema = json_get(v, "parameters")};
}

static struct err *get_tool_set(struct decoding *d, const struct tool_set **ret_set)
{
    struct tool_set *set = ARENA_NEW(d->arena, struct tool_set);
    const struct json *list;

    TRY(get_json(d, "toolSchemas", &list));
    set->version = (uint64_t)get_int(d, "toolsVersion");
    set->entries = ARENA_ARRAY(d->arena, list ? list->n : 0, struct tool_entry);
    json_each (v, list)
        read_def(v, &set->entries[set->n++].def);
    *ret_set = set;
    return NULL;
}

/* --- sessions and runs --- */

static struct err *decode_session(struct decoding *d)
{
    struct event_session *s = &d->event->body.session;

    TRY(get_text(d, "cwd", &s->cwd));
    TRY(get_text(d, "provider", &s->provider));
    TRY(get_text(d, "model", &s->model));
    TRY(get_text(d, "systemPrompt", &s->system));
    s->reason = get_word(d, "reason");
    return get_tool_set(d, &s->tools);
}

static struct err *decode_run(struct decoding *d)
{
    struct event_run *r = &d->event->body.run;

    r->policy = get_word(d, "policy");
    r->capabilities.can_call_tools = get_bool(d, "canCallTools");
    r->capabilities.web_search.is_supported = get_bool(d, "webSearchSupported");
    r->capabilities.web_search.is_enabled = get_bool(d, "webSearchEnabled");
    r->capabilities.web_fetch.is_supported = get_bool(d, "webFetchSupported");
    r->capabilities.web_fetch.is_enabled = get_bool(d, "webFetchEnabled");
    TRY(get_text(d, "provider", &r->provider));
    TRY(get_text(d, "model", &r->model));
    TRY(get_text(d, "input", &r->input));
    d->event->history = &d->reader->history;
    return check_history(d, "history");
}

static struct err *get_ask(struct decoding *d, struct ask *ret_ask)
{
    ret_ask->kind = (enum ask_kind)GET_NAME(d, "kind", ask_kind_name, ASK_BUDGET);
    TRY(get_text(d, "toolCallId", &ret_ask->call_id));
    TRY(get_text(d, "toolName", &ret_ask->tool));
    TRY(get_text(d, "text", &ret_ask->text));
    TRY(get_text(d, "rule", &ret_ask->rule));
    return get_json(d, "parameters", &ret_ask->args);
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
    const struct history *h = &d->reader->history;
    AUTO(strbuf) struct strbuf text = {0};

    if (!get_bool(d, "contentIsLastMessage"))
        return get_text(d, "content", ret_text);
    for (size_t i = h->n; i-- > 0;)
        if (h->entries[i].message && h->entries[i].message->role == ROLE_ASSISTANT) {
            message_text(h->entries[i].message, &text);
            break;
        }
    *ret_text = arena_str(d->arena, strbuf_str(&text));
    return NULL;
}

static struct err *decode_result(struct decoding *d)
{
    struct run_result *r = ARENA_NEW(d->arena, struct run_result);

    d->event->body.result = r;
    d->event->history = &d->reader->history;
    r->run_id = d->record->run_id;
    r->outcome = (enum run_outcome)GET_NAME(d, "outcome", run_outcome_name, RUN_INTERRUPTED);
    r->forced =
        (enum final_reason)GET_NAME(d, "forcedFinalReason", final_reason_name, FINAL_STOPPED);
    r->is_fallback = get_bool(d, "isFallback");
    r->n_rounds = (unsigned)get_int(d, "rounds");
    r->n_attempts = (unsigned)get_int(d, "attempts");
    r->n_tools_executed = (unsigned)get_int(d, "toolsExecuted");
    r->cost_microcents = get_int(d, "costMicrocents");
    r->cost_is_known = get_bool(d, "costIsKnown");
    r->duration_ms = (uint64_t)get_int(d, "durationMs");
    r->api_duration_ms = (uint64_t)get_int(d, "apiDurationMs");
    get_usage(d, &r->usage);
    TRY(get_answer(d, &r->text));
    TRY(get_json(d, "value", &r->value));
    TRY(get_text(d, "stopReason", &r->stop_reason));
    TRY(get_failure(d, &r->error));
    TRY(get_asks(d, r));
    return check_history(d, "history");
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

static struct err *decode_context(struct decoding *d)
{
    d->event->body.context = context_of(d->body);
    return NULL;
}

static struct err *decode_compact(struct decoding *d)
{
    d->event->body.compact =
        (struct event_compact){.trigger = get_word(d, "trigger"),
                               .before = context_of(json_get(d->body, "before")),
                               .after = context_of(json_get(d->body, "after"))};
    return NULL;
}

/* --- attempts --- */

static struct err *decode_attempt(struct decoding *d)
{
    struct event_attempt *a = &d->event->body.attempt;
    const struct json *slugs = json_get(d->body, "retrySlugs");
    const char **list = ARENA_ARRAY(d->arena, slugs ? slugs->n : 0, const char *);
    struct usage *usage = ARENA_NEW(d->arena, struct usage);
    struct err *e;

    a->max_attempts = (unsigned)get_int(d, "maxAttempts");
    a->is_retry = get_bool(d, "isRetry");
    a->is_final_turn = get_bool(d, "isFinalTurn");
    a->is_aside = get_bool(d, "isAside");
    a->forced =
        (enum final_reason)GET_NAME(d, "forcedFinalReason", final_reason_name, FINAL_STOPPED);
    json_each (v, slugs)
        list[a->n_retry_slugs++] = arena_cstr(d->arena, json_str(v));
    a->retry_slugs = list;
    a->usage = get_usage(d, usage) || d->event->type == EVENT_ATTEMPT_END ? usage : NULL;
    a->cost_microcents = json_int_or(json_get(d->body, "costMicrocents"), -1);
    a->total_microcents = get_int(d, "totalMicrocents");
    a->duration_ms = (uint64_t)get_int(d, "durationMs");
    a->delay_ms = (uint64_t)get_int(d, "delayMs");
    TRY(get_text(d, "provider", &a->provider));
    TRY(get_text(d, "model", &a->model));
    TRY(get_text(d, "nextProvider", &a->next_provider));
    TRY(get_text(d, "nextModel", &a->next_model));
    TRY(get_failure(d, &e));
    a->error = e;
    return NULL;
}

static struct maybe_double get_maybe(const struct decoding *d, const char *key)
{
    struct maybe_double m = {0};

    m.is_set = json_double(json_get(d->body, key), &m.value);
    return m;
}

static struct err *get_offered(struct decoding *d, struct model_request *request)
{
    const struct json *list;
    struct tool_def *defs;
    const struct tool_def **tools;

    TRY(get_json(d, "tools", &list));
    defs = ARENA_ARRAY(d->arena, list ? list->n : 0, struct tool_def);
    tools = ARENA_ARRAY(d->arena, list ? list->n : 0, const struct tool_def *);
    json_each (v, list) {
        read_def(v, &defs[request->n_tools]);
        tools[request->n_tools] = &defs[request->n_tools];
        request->n_tools++;
    }
    request->tools = tools;
    return NULL;
}

static const struct history_cut *get_cut(struct decoding *d)
{
    const struct json *v = json_get(d->body, "cut"), *clipped = json_get(v, "clipped");
    struct history_cut *cut = ARENA_NEW(d->arena, struct history_cut);
    size_t *indices = ARENA_ARRAY(d->arena, clipped ? clipped->n : 0, size_t);

    if (!json_is(v, JSON_OBJECT))
        return NULL;
    cut->n_skipped = (size_t)json_int_or(json_get(v, "skipped"), 0);
    json_each (index, clipped)
        indices[cut->n_clipped++] = (size_t)json_int_or(index, 0);
    cut->clipped = indices;
    return cut;
}

/* The messages as they were sent are made anew: the same history gives the same. */
static void build_messages(struct decoding *d, struct model_request *request,
                           const struct event_request *b)
{
    AUTO(arena) struct arena scratch = {0};
    struct codec_reader *r = d->reader;
    struct request_target target = {.provider = request->provider, .protocol = request->protocol};
    AUTO(shortened) struct shortened shortened = {0};
    size_t n;
    const struct message *const *messages = history_messages(&r->history, &scratch, &n);

    if (b->cut) {
        shorten(messages, n, b->cut, &shortened);
        messages = (const struct message *const *)shortened.items;
        n = shortened.n;
    }
    built_messages_done(&r->built);
    request_build(messages, n, &target, b->overlays, b->n_overlays, &r->built);
    request->messages = (const struct message *const *)r->built.items;
    request->n_messages = r->built.n;
}

static struct err *decode_request(struct decoding *d)
{
    struct event_request *b = &d->event->body.request;
    struct model_request *r = ARENA_NEW(d->arena, struct model_request);
    const struct json *overlays = json_get(d->body, "overlays");
    struct str *texts = ARENA_ARRAY(d->arena, overlays ? overlays->n : 0, struct str);

    b->request = r;
    b->tools_version = (uint64_t)get_int(d, "toolsVersion");
    json_each (v, overlays)
        texts[b->n_overlays++] = json_str(v);
    b->overlays = texts;
    b->cut = get_cut(d);
    r->stream = get_bool(d, "stream");
    r->max_output = get_int(d, "maxOutputTokens");
    r->effort = (enum effort)GET_NAME(d, "effort", effort_name, EFFORT_MAX);
    r->reasoning_budget = get_int(d, "reasoningBudget");
    r->sampling.temperature = get_maybe(d, "temperature");
    r->sampling.top_p = get_maybe(d, "topP");
    r->web_search = get_bool(d, "webSearch");
    r->web_fetch = get_bool(d, "webFetch");
    TRY(get_text(d, "provider", &r->provider));
    TRY(get_text(d, "protocol", &r->protocol));
    TRY(get_text(d, "model", &r->model));
    TRY(get_text(d, "system", &r->system));
    TRY(get_json(d, "outputSchema", &r->output_schema));
    TRY(get_offered(d, r));
    build_messages(d, r, b);
    return check_history(d, "messages");
}

/* --- what streamed in --- */

static struct err *get_payload_bytes(struct decoding *d, const struct json *v, struct str *ret)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (json_has(v, "$text")) {
        *ret = json_get_text(v, "$text");
        return NULL;
    }
    if (json_has(v, "$blob"))
        return text_of(d, v, ret);
    json_write(&text, v);
    *ret = v && v->raw.n ? v->raw : arena_str(d->arena, strbuf_str(&text));
    return NULL;
}

static struct err *decode_payload(struct decoding *d)
{
    struct native_payload *p = ARENA_NEW(d->arena, struct native_payload);

    d->event->body.payload = p;
    p->kind =
        (enum payload_kind)GET_NAME(d, "payloadKind", payload_kind_name, PAYLOAD_STREAM_EVENT);
    p->sequence = (uint64_t)get_int(d, "sequence") + d->index;
    p->http_status = (int)get_int(d, "httpStatus");
    p->sha256 = json_get_text(d->body, "sha256");
    p->n_bytes = (uint64_t)get_int(d, "byteLength");
    TRY(get_text(d, "provider", &p->provider));
    TRY(get_text(d, "apiSurface", &p->api_surface));
    if (p->kind == PAYLOAD_REQUEST)
        return NULL;
    return get_payload_bytes(d, json_at(json_get(d->body, "payloads"), d->index), &p->bytes);
}

static struct err *decode_delta(struct decoding *d)
{
    const struct json *v = json_at(json_get(d->body, "deltas"), d->index);
    struct event_delta *b = &d->event->body.delta;
    struct delta *delta = ARENA_NEW(d->arena, struct delta);
    int64_t kind = json_int_or(json_at(v, 0), -1);

    if (kind < 0 || kind > DELTA_SERVER_TOOL)
        return broken(d, "holds a piece of an unknown kind");
    *delta = (struct delta){.kind = (enum delta_kind)kind,
                            .part = (size_t)json_int_or(json_at(v, 1), 0),
                            .text = json_str(json_at(v, 2)),
                            .id = json_str(json_at(v, 3)),
                            .name = json_str(json_at(v, 4))};
    *b = (struct event_delta){
        .delta = delta,
        .sequence = (uint64_t)get_int(d, "sequence") + d->index,
        .source = (enum output_source)GET_NAME(d, "source", output_source_name, SOURCE_FINALIZE),
        .is_separator = get_bool(d, "isSeparator")};
    return NULL;
}

static void begin_reply(struct codec_reader *r)
{
    if (r->has_reply)
        reply_done(&r->reply);
    reply_init(&r->reply, (struct delta_sink){0});
    r->has_reply = true;
}

/* Its parts are as they were when the answer had come: nothing streams any more. */
static struct err *add_reply_part(struct decoding *d, const struct json *v)
{
    struct reply *r = &d->reader->reply;
    struct part part;
    size_t index;

    TRY(part_read(v, d->arena, &part));
    TRY(reply_begin(r, part.kind, part.id, part.name, &index));
    *reply_part(r, index) = part_copy(&r->arena, &part);
    TRY(reply_set_text(r, index, part.text));
    return part.kind == PART_TOOL_CALL || part.kind == PART_SERVER_TOOL_USE
               ? reply_set_args(r, index, part.args)
               : NULL;
}

static struct err *decode_reply(struct decoding *d)
{
    struct codec_reader *reader = d->reader;
    struct reply *r = &reader->reply;
    const struct json *parts;
    struct str text;

    begin_reply(reader);
    reader->reply_seq = d->record->seq;
    d->event->body.reply = (struct event_reply){r, get_word(d, "responseKind")};
    TRY(get_text(d, "id", &text));
    r->id = reply_str(r, text);
    TRY(get_text(d, "model", &text));
    r->model = reply_str(r, text);
    TRY(get_text(d, "stopReason", &text));
    r->stop_reason = reply_str(r, text);
    TRY(get_text(d, "stopDetail", &text));
    r->stop_detail = reply_str(r, text);
    r->is_complete = get_bool(d, "isComplete");
    get_usage(d, &r->usage);
    r->usage.routed_provider = reply_str(r, r->usage.routed_provider);
    r->usage.routed_model = reply_str(r, r->usage.routed_model);
    TRY(get_json(d, "parts", &parts));
    json_each (v, parts)
        TRY(add_reply_part(d, v));
    return NULL;
}

/* --- tool calls --- */

static struct err *decode_batch(struct decoding *d)
{
    struct event_batch *b = &d->event->body.batch;
    struct message *m;

    b->mode = get_word(d, "mode");
    b->max_concurrency = (unsigned)get_int(d, "maxConcurrency");
    b->n_requests = (size_t)get_int(d, "requestCount");
    TRY(get_text(d, "batchId", &b->id));
    TRY(get_message(d, "message", &m));
    b->message = m;
    return NULL;
}

static struct err *decode_tool(struct decoding *d)
{
    struct event_tool *t = &d->event->body.tool;
    struct message *m;

    t->index = (size_t)get_int(d, "index");
    t->risk = (enum risk)GET_NAME(d, "risk", risk_name, RISK_EXECUTE);
    t->is_ok = get_bool(d, "success");
    t->was_executed = get_bool(d, "executed");
    t->was_denied = get_bool(d, "denied");
    t->error_code = get_word(d, "errorCode");
    t->duration_ms = (uint64_t)get_int(d, "durationMs");
    t->n_chars_in = (size_t)get_int(d, "charactersIn");
    t->n_chars_out = (size_t)get_int(d, "charactersOut");
    TRY(get_text(d, "batchId", &t->batch_id));
    TRY(get_text(d, "toolName", &t->name));
    TRY(get_text(d, "toolCallId", &t->call_id));
    TRY(get_text(d, "progress", &t->progress));
    TRY(get_json(d, "parameters", &t->args));
    TRY(get_json(d, "metadata", &t->metadata));
    TRY(get_result(d, &t->result));
    TRY(get_message(d, "message", &m));
    t->message = m;
    return NULL;
}

/* --- the rest --- */

static struct err *decode_message(struct decoding *d)
{
    struct message *m;

    d->event->body.message.n_tool_calls = (size_t)get_int(d, "toolCallsCount");
    TRY(get_message(d, "message", &m));
    d->event->body.message.message = m;
    return m ? NULL : broken(d, "holds no message");
}

static struct err *decode_tools(struct decoding *d)
{
    return get_tool_set(d, &d->event->body.tools.tools);
}

static struct err *decode_final(struct decoding *d)
{
    struct event_final *f = &d->event->body.final;

    f->reason = (enum final_reason)GET_NAME(d, "reason", final_reason_name, FINAL_STOPPED);
    return get_text(d, "instruction", &f->instruction);
}

static struct err *decode_state(struct decoding *d)
{
    TRY(get_text(d, "key", &d->event->body.state.key));
    return get_json(d, "value", &d->event->body.state.value);
}

static struct err *decode_snapshot(struct decoding *d)
{
    d->event->body.snapshot = (struct event_snapshot){
        .call_id = json_get_text(d->body, "toolCallId"),
        .record = snapshot_record_parse(d->body, d->arena),
    };
    return NULL;
}

static struct err *decode_pre_image(struct decoding *d)
{
    d->event->body.image = (struct event_image){
        .call_id = json_get_text(d->body, "toolCallId"),
        .image = pre_image_parse(d->body, d->arena),
    };
    return NULL;
}

static struct err *decode_ask(struct decoding *d)
{
    struct ask *ask = ARENA_NEW(d->arena, struct ask);
    struct answer *answer = ARENA_NEW(d->arena, struct answer);

    d->event->body.ask.ask = ask;
    TRY(get_ask(d, ask));
    if (d->event->type != EVENT_ANSWERED)
        return NULL;
    d->event->body.ask.answer = answer;
    answer->kind = (enum answer_kind)MIN(MAX(get_int(d, "answer"), 0), ANSWER_VALUE);
    TRY(get_text(d, "reason", &answer->reason));
    TRY(get_json(d, "value", &answer->value));
    return get_json(d, "changed", &answer->args);
}

static struct err *decode_notice(struct decoding *d)
{
    struct event_notice *n = &d->event->body.notice;
    const char *source = get_word(d, "source");

    n->severity = (enum severity)GET_NAME(d, "severity", severity_name, SEVERITY_FINAL);
    n->source = source ? source : "";
    TRY(get_text(d, "message", &n->text));
    return get_json(d, "details", &n->details);
}

static struct err *decode_rewind(struct decoding *d)
{
    d->event->body.rewind = (struct event_rewind){.turn = (unsigned)get_int(d, "toTurn"),
                                                  .seq = (uint64_t)get_int(d, "toSeq"),
                                                  .takes_messages = get_bool(d, "conversation"),
                                                  .n_files = (size_t)get_int(d, "files")};
    return NULL;
}

static struct err *decode_checkpoint(struct decoding *d)
{
    struct event_checkpoint *x = &d->event->body.checkpoint;

    x->base_seq = (uint64_t)get_int(d, "baseSeq");
    get_usage(d, &x->usage);
    x->cost_microcents = get_int(d, "costMicrocents");
    x->cost_is_known = get_bool(d, "costIsKnown");
    x->n_rounds = (uint64_t)get_int(d, "rounds");
    x->n_tool_calls = (uint64_t)get_int(d, "toolCalls");
    x->active_ms = (uint64_t)get_int(d, "activeMs");
    return get_json(d, "state", &x->state);
}

static struct err *decode_error(struct decoding *d)
{
    struct err *e;

    TRY(get_failure(d, &e));
    d->event->body.error = e;
    return NULL;
}

static struct err *decode_nothing(struct decoding *d)
{
    return NULL;
}

static struct err *(*const decoders[EVENT_N_TYPES])(struct decoding *d) = {
    [EVENT_SESSION_BEGIN] = decode_session,
    [EVENT_RUN_BEGIN] = decode_run,
    [EVENT_USER_INPUT] = decode_message,
    [EVENT_TOOLS_CHANGED] = decode_tools,
    [EVENT_CONTEXT] = decode_context,
    [EVENT_COMPACTED] = decode_compact,
    [EVENT_FINAL_TURN] = decode_final,
    [EVENT_ATTEMPT_BEGIN] = decode_attempt,
    [EVENT_PROVIDER_REQUEST] = decode_request,
    [EVENT_NATIVE_PAYLOAD] = decode_payload,
    [EVENT_DELTA] = decode_delta,
    [EVENT_RESPONSE_RAW] = decode_reply,
    [EVENT_ATTEMPT_END] = decode_attempt,
    [EVENT_RETRY] = decode_attempt,
    [EVENT_FALLBACK] = decode_attempt,
    [EVENT_TEXT_DROPPED] = decode_nothing,
    [EVENT_RESPONSE_NORMALIZED] = decode_message,
    [EVENT_ASSISTANT_COMMITTED] = decode_message,
    [EVENT_HISTORY] = decode_history,
    [EVENT_BATCH_BEGIN] = decode_batch,
    [EVENT_TOOL_REQUEST] = decode_tool,
    [EVENT_TOOL_BEGIN] = decode_tool,
    [EVENT_TOOL_PROGRESS] = decode_tool,
    [EVENT_TOOL_END] = decode_tool,
    [EVENT_TOOL_RESULT] = decode_tool,
    [EVENT_TOOL_COMMITTED] = decode_tool,
    [EVENT_STATE] = decode_state,
    [EVENT_SNAPSHOT] = decode_snapshot,
    [EVENT_PRE_IMAGE] = decode_pre_image,
    [EVENT_ASKED] = decode_ask,
    [EVENT_ANSWERED] = decode_ask,
    [EVENT_NOTICE] = decode_notice,
    [EVENT_ERROR] = decode_error,
    [EVENT_RUN_END] = decode_result,
    [EVENT_REWOUND] = decode_rewind,
    [EVENT_CHECKPOINT] = decode_checkpoint,
    [EVENT_SESSION_END] = decode_session,
};

/* --- owners --- */

static const struct owner *add_owner(struct arena *a, const char *type, struct str id,
                                     const struct owner *parent)
{
    struct owner *o = ARENA_NEW(a, struct owner);

    *o = (struct owner){type, id, parent};
    return o;
}

static bool is_about_call(enum event_type t)
{
    return t >= EVENT_TOOL_REQUEST && t <= EVENT_TOOL_COMMITTED;
}

static void set_owner(struct decoding *d)
{
    const struct json *path = json_get(d->body, "ownerPath");
    const struct owner *o = NULL;

    json_each (v, path)
        o = add_owner(d->arena, arena_cstr(d->arena, json_get_text(v, "ownerType")),
                      json_get_text(v, "ownerId"), o);
    if (!path) {
        o = add_owner(d->arena, "agent", S("main"), NULL);
        o = add_owner(d->arena, "execution", d->record->run_id, o);
        if (is_about_call(d->event->type))
            o = add_owner(d->arena, "tool", d->event->body.tool.call_id, o);
    }
    d->event->owner = o;
    if (is_about_call(d->event->type))
        d->event->body.tool.owner = o;
}

static bool find_type(struct str name, enum event_type *ret_type)
{
    for (int t = 0; t < EVENT_N_TYPES; t++)
        if (str_is(name, event_type_name((enum event_type)t))) {
            *ret_type = (enum event_type)t;
            return true;
        }
    return false;
}

struct err *codec_decode(struct codec_reader *r, const struct store_record *record, size_t index)
{
    struct decoding d = {.reader = r,
                         .record = record,
                         .body = r->body,
                         .index = index,
                         .arena = &r->scratch,
                         .event = &r->event};
    enum event_type type;

    if (!find_type(record->type, &type))
        return broken(&d, "is of a type that this keel does not know");
    r->event = (struct event){.type = type,
                              .seq = record->seq + index,
                              .unix_ms = record->unix_ms,
                              .stream = r->stream,
                              .parent_stream = r->parent,
                              .run_id = record->run_id,
                              .turn = record->turn,
                              .round = record->round,
                              .attempt = record->attempt};
    TRY(decoders[type](&d));
    set_owner(&d);
    return NULL;
}
