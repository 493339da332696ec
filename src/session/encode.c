/* encode.c - events to records. */
#include "session/codec.h"

#include "model/message_json.h"
#include "view/field.h"
#include "view/journal_fields.h"

#define N_KNOWN 16 /* messages and results that the next records may refer to */

struct known_message {
    struct str id; /* on the heap */
    unsigned char hash[SHA256_SIZE];
};

struct known_result {
    uint64_t seq;
    unsigned char hash[SHA256_SIZE];
};

struct codec_writer {
    struct known_message messages[N_KNOWN];
    struct known_result results[N_KNOWN];
    unsigned next_message, next_result;
    struct known_result reply; /* the last answer's parts */
    /* the history */
    uint64_t base_seq;
    size_t n_messages;
    struct chain_hash chain;
    /* what was offered last */
    uint64_t tools_version;
    size_t n_tools;
    char tools[SHA256_HEX_SIZE];
};

/* One event on its way. */
struct encoding {
    struct codec_writer *writer;
    struct codec_record *out;
    struct json_writer json;
    const struct event *event;
};

struct codec_writer *codec_writer_new(void)
{
    return mem_alloc(sizeof(struct codec_writer));
}

void codec_writer_free(struct codec_writer *w)
{
    if (!w)
        return;
    for (size_t i = 0; i < N_KNOWN; i++)
        mem_free((char *)w->messages[i].id.p);
    mem_free(w);
}

void codec_record_done(struct codec_record *r)
{
    strbuf_done(&r->body);
    arena_done(&r->arena);
    *r = (struct codec_record){0};
}

/* --- blobs --- */

static void put_blob(struct encoding *c, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    struct codec_record *r = c->out;
    struct codec_blob *b;

    sha256_hex(bytes, handle);
    r->blobs = arena_grow(&r->arena, r->blobs, r->n_blobs, &r->blobs_room, sizeof *r->blobs);
    b = &r->blobs[r->n_blobs++];
    memcpy(b->handle, handle, SHA256_HEX_SIZE);
    b->bytes = arena_str(&r->arena, bytes);
}

static void write_reference(struct encoding *c, const char *kind, struct str value)
{
    jw_begin_object(&c->json);
    jw_kv_str(&c->json, kind, value);
    jw_end_object(&c->json);
}

static void write_blob(struct encoding *c, struct str bytes)
{
    char handle[SHA256_HEX_SIZE];

    put_blob(c, bytes, handle);
    write_reference(c, "$blob", str_of(handle));
}

static void put_text_over(struct encoding *c, const char *key, struct str text, size_t max)
{
    if (text.n == 0)
        return;
    jw_key(&c->json, key);
    if (text.n > max)
        write_blob(c, text);
    else
        jw_str(&c->json, text);
}

static void put_text(struct encoding *c, const char *key, struct str text)
{
    put_text_over(c, key, text, CODEC_INLINE_MAX);
}

/* One that many records share. */
static void put_shared(struct encoding *c, const char *key, struct str text)
{
    put_text_over(c, key, text, CODEC_SHARED_MIN);
}

static void put_json_text(struct encoding *c, const char *key, struct str text)
{
    jw_key(&c->json, key);
    if (text.n > CODEC_INLINE_MAX)
        write_blob(c, text);
    else
        jw_raw(&c->json, text);
}

static void put_json(struct encoding *c, const char *key, const struct json *v)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (!v)
        return;
    json_write(&text, v);
    put_json_text(c, key, strbuf_str(&text));
}

static void put_int(struct encoding *c, const char *key, int64_t value)
{
    if (value)
        jw_kv_int(&c->json, key, value);
}

static void put_true(struct encoding *c, const char *key, bool value)
{
    if (value)
        jw_kv_bool(&c->json, key, true);
}

static void put_name(struct encoding *c, const char *key, const char *name)
{
    if (name && *name)
        jw_kv_str(&c->json, key, str_of(name));
}

static void put_error(struct encoding *c, const struct err *e)
{
    if (e)
        field_failure(&c->json, "error", e);
}

/* --- messages --- */

static void hash_text(struct str text, unsigned char hash[SHA256_SIZE])
{
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, text);
    sha256_end(&h, hash);
}

static bool is_known(const struct codec_writer *w, struct str id,
                     const unsigned char hash[SHA256_SIZE])
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (id.n && str_eq(w->messages[i].id, id) &&
            memcmp(w->messages[i].hash, hash, SHA256_SIZE) == 0)
            return true;
    return false;
}

/* An id that comes again means the newer message, to the reader as well. */
static struct known_message *place_for(struct codec_writer *w, struct str id)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (id.n && str_eq(w->messages[i].id, id))
            return &w->messages[i];
    return &w->messages[w->next_message++ % N_KNOWN];
}

static void know_message(struct codec_writer *w, struct str id,
                         const unsigned char hash[SHA256_SIZE])
{
    struct known_message *k = place_for(w, id);

    mem_free((char *)k->id.p);
    k->id = str_make(str_dup(id), id.n);
    memcpy(k->hash, hash, SHA256_SIZE);
}

static void message_json(const struct message *m, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    message_write_parts(&w, m);
}

static void parts_json(const struct part *parts, size_t n, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_array(&w);
    for (size_t i = 0; i < n; i++)
        part_write(&w, &parts[i]);
    jw_end_array(&w);
}

/* An answer that was accepted as it came. */
static bool put_reply_message(struct encoding *c, const char *key, const struct message *m)
{
    const struct known_result *reply = &c->writer->reply;
    AUTO(strbuf) struct strbuf parts = {0};
    unsigned char hash[SHA256_SIZE];

    if (m->role != ROLE_ASSISTANT || !reply->seq)
        return false;
    parts_json(m->parts, m->n_parts, &parts);
    hash_text(strbuf_str(&parts), hash);
    if (memcmp(hash, reply->hash, SHA256_SIZE) != 0)
        return false;
    jw_key(&c->json, key);
    jw_begin_object(&c->json);
    jw_kv_int(&c->json, "$reply", (int64_t)reply->seq);
    message_write_fields(&c->json, m);
    jw_end_object(&c->json);
    return true;
}

static void put_message(struct encoding *c, const char *key, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0};
    unsigned char hash[SHA256_SIZE];

    if (!m)
        return;
    message_json(m, &text);
    hash_text(strbuf_str(&text), hash);
    if (is_known(c->writer, m->id, hash)) {
        jw_key(&c->json, key);
        write_reference(c, "$message", m->id);
        return;
    }
    if (!put_reply_message(c, key, m))
        put_json_text(c, key, strbuf_str(&text));
    know_message(c->writer, m->id, hash);
}

/* --- results of tools --- */

static void hash_part(const struct part *p, struct strbuf *text, unsigned char hash[SHA256_SIZE])
{
    struct json_writer w;

    jw_init(&w, text);
    part_write(&w, p);
    hash_text(strbuf_str(text), hash);
}

static uint64_t find_result(const struct codec_writer *w, const unsigned char hash[SHA256_SIZE])
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (w->results[i].seq && memcmp(w->results[i].hash, hash, SHA256_SIZE) == 0)
            return w->results[i].seq;
    return 0;
}

static void put_result_reference(struct encoding *c, uint64_t seq)
{
    jw_key(&c->json, "result");
    jw_begin_object(&c->json);
    jw_kv_int(&c->json, "$result", (int64_t)seq);
    jw_end_object(&c->json);
}

static void put_result(struct encoding *c, const struct part *p)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct known_result known = {.seq = c->event->seq};
    uint64_t seq;

    if (!p)
        return;
    hash_part(p, &text, known.hash);
    seq = find_result(c->writer, known.hash);
    if (seq) {
        put_result_reference(c, seq);
        return;
    }
    put_json_text(c, "result", strbuf_str(&text));
    c->writer->results[c->writer->next_result++ % N_KNOWN] = known;
}

/* --- the history --- */

static void add_to_chain(struct codec_writer *w, const struct message *m)
{
    chain_hash_add(&w->chain, m);
    w->n_messages++;
}

static void begin_chain(struct codec_writer *w, uint64_t base_seq)
{
    w->base_seq = base_seq;
    w->n_messages = 0;
    w->chain = (struct chain_hash){0};
}

/* Opening a session reads from the last base on: nothing after it refers to what came before. */
static void forget(struct codec_writer *w)
{
    for (size_t i = 0; i < N_KNOWN; i++) {
        mem_free((char *)w->messages[i].id.p);
        w->messages[i] = (struct known_message){0};
        w->results[i] = (struct known_result){0};
    }
    w->reply = (struct known_result){0};
}

void codec_writer_continue(struct codec_writer *w, uint64_t base_seq, const struct history *h)
{
    begin_chain(w, base_seq);
    for (size_t i = 0; i < h->n; i++)
        if (h->entries[i].message)
            add_to_chain(w, h->entries[i].message);
}

uint64_t codec_writer_base(const struct codec_writer *w)
{
    return w->base_seq;
}

static void put_history(struct encoding *c, const char *key)
{
    const struct codec_writer *w = c->writer;
    char hex[SHA256_HEX_SIZE];

    sha256_format_hex(w->chain.bytes, hex);
    jw_key(&c->json, key);
    jw_begin_object(&c->json);
    jw_key(&c->json, "$history");
    jw_begin_object(&c->json);
    jw_kv_int(&c->json, "base", (int64_t)w->base_seq);
    jw_kv_int(&c->json, "n", (int64_t)w->n_messages);
    jw_kv_str(&c->json, "sha256", str_of(hex));
    jw_end_object(&c->json);
    jw_end_object(&c->json);
}

/* A tool's message is its result, which stands in an earlier record. */
static bool put_tool_message(struct encoding *c, const struct message *m)
{
    AUTO(strbuf) struct strbuf part = {0}, whole = {0};
    unsigned char hash[SHA256_SIZE];
    uint64_t seq;

    if (m->role != ROLE_TOOL || m->n_parts != 1)
        return false;
    hash_part(&m->parts[0], &part, hash);
    seq = find_result(c->writer, hash);
    if (!seq)
        return false;
    jw_kv_str(&c->json, "messageId", m->id);
    put_result_reference(c, seq);
    message_json(m, &whole);
    hash_text(strbuf_str(&whole), hash);
    know_message(c->writer, m->id, hash);
    return true;
}

static void encode_history(struct encoding *c)
{
    const struct event_message *b = &c->event->body.message;
    bool is_base = strcmp(b->mutation, "append") != 0 && b->index == 0;

    if (is_base || !c->writer->base_seq) {
        begin_chain(c->writer, c->event->seq);
        forget(c->writer);
    }
    jw_kv_str(&c->json, "mutation", str_of(b->mutation));
    jw_kv_int(&c->json, "index", (int64_t)b->index);
    if (!b->message)
        return;
    if (!put_tool_message(c, b->message))
        put_message(c, "message", b->message);
    add_to_chain(c->writer, b->message);
}

/* --- tools that are offered --- */

static void write_schema(struct json_writer *w, const struct tool_def *d)
{
    jw_begin_object(w);
    jw_kv_str(w, "name", d->name);
    jw_kv_str(w, "description", d->description);
    if (d->input_schema)
        jw_kv_json(w, "parameters", d->input_schema);
    jw_end_object(w);
}

static void put_schemas(struct encoding *c, const struct tool_set *set)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct json_writer w;

    jw_init(&w, &text);
    jw_begin_array(&w);
    for (size_t i = 0; set && i < set->n; i++)
        write_schema(&w, &set->entries[i].def);
    jw_end_array(&w);
    put_json_text(c, "toolSchemas", strbuf_str(&text));
}

/* Written out when the set or the number of those offered has changed, else named again. */
static void put_tools(struct encoding *c, const struct event_request *b)
{
    struct codec_writer *writer = c->writer;
    AUTO(strbuf) struct strbuf text = {0};
    struct json_writer w;

    jw_key(&c->json, "tools");
    if (writer->tools[0] && writer->tools_version == b->tools_version &&
        writer->n_tools == b->request->n_tools) {
        write_reference(c, "$blob", str_of(writer->tools));
        return;
    }
    jw_init(&w, &text);
    jw_begin_array(&w);
    for (size_t i = 0; i < b->request->n_tools; i++)
        write_schema(&w, b->request->tools[i]);
    jw_end_array(&w);
    put_blob(c, strbuf_str(&text), writer->tools);
    write_reference(c, "$blob", str_of(writer->tools));
    writer->tools_version = b->tools_version;
    writer->n_tools = b->request->n_tools;
}

/* --- sessions and runs --- */

static void encode_session(struct encoding *c)
{
    const struct event_session *s = &c->event->body.session;

    put_text(c, "cwd", s->cwd);
    put_text(c, "provider", s->provider);
    put_text(c, "model", s->model);
    put_shared(c, "systemPrompt", s->system);
    if (s->tools)
        put_schemas(c, s->tools);
    put_name(c, "reason", s->reason);
}

static void encode_run(struct encoding *c)
{
    const struct event_run *r = &c->event->body.run;

    put_name(c, "policy", r->policy);
    put_text(c, "provider", r->provider);
    put_text(c, "model", r->model);
    put_true(c, "canCallTools", r->capabilities.can_call_tools);
    put_true(c, "webSearchSupported", r->capabilities.web_search.is_supported);
    put_true(c, "webSearchEnabled", r->capabilities.web_search.is_enabled);
    put_true(c, "webFetchSupported", r->capabilities.web_fetch.is_supported);
    put_true(c, "webFetchEnabled", r->capabilities.web_fetch.is_enabled);
    put_shared(c, "input", r->input);
    put_history(c, "history");
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
        put_true(c, "contentIsLastMessage", true);
    else
        put_text(c, "content", text);
}

static void put_usage(struct encoding *c, const struct usage *u)
{
    if (!u || !usage_is_known(u))
        return;
    jw_key(&c->json, "usage");
    usage_write(&c->json, u);
}

static void put_ask(struct encoding *c, const struct ask *a)
{
    jw_kv_str(&c->json, "kind", str_of(ask_kind_name(a->kind)));
    put_text(c, "toolCallId", a->call_id);
    put_text(c, "toolName", a->tool);
    put_json(c, "parameters", a->args);
    put_text(c, "text", a->text);
    put_text(c, "rule", a->rule);
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

static void encode_result(struct encoding *c)
{
    const struct run_result *r = c->event->body.result;

    jw_kv_str(&c->json, "outcome", str_of(run_outcome_name(r->outcome)));
    put_answer(c, r->text);
    put_json(c, "value", r->value);
    put_error(c, r->error);
    put_name(c, "forcedFinalReason", final_reason_name(r->forced));
    put_true(c, "isFallback", r->is_fallback);
    put_text(c, "stopReason", r->stop_reason);
    put_int(c, "rounds", r->n_rounds);
    put_int(c, "attempts", r->n_attempts);
    put_int(c, "toolsExecuted", r->n_tools_executed);
    put_usage(c, &r->usage);
    put_int(c, "costMicrocents", r->cost_microcents);
    put_true(c, "costIsKnown", r->cost_is_known);
    put_int(c, "durationMs", (int64_t)r->duration_ms);
    put_int(c, "apiDurationMs", (int64_t)r->api_duration_ms);
    put_asks(c, r);
    put_history(c, "history");
}

/* --- context --- */

static void put_context(struct encoding *c, const struct event_context *x)
{
    put_int(c, "usedTokens", x->used);
    put_int(c, "maxTokens", x->window);
    put_int(c, "serializedTokens", x->serialized);
    put_int(c, "providerTokens", x->counted);
    put_true(c, "isExact", x->is_exact);
}

static void encode_compact(struct encoding *c)
{
    const struct event_compact *x = &c->event->body.compact;

    put_name(c, "trigger", x->trigger);
    jw_key(&c->json, "before");
    jw_begin_object(&c->json);
    put_context(c, &x->before);
    jw_end_object(&c->json);
    jw_key(&c->json, "after");
    jw_begin_object(&c->json);
    put_context(c, &x->after);
    jw_end_object(&c->json);
}

/* --- attempts --- */

static void encode_attempt(struct encoding *c)
{
    const struct event_attempt *a = &c->event->body.attempt;

    put_text(c, "provider", a->provider);
    put_text(c, "model", a->model);
    put_int(c, "maxAttempts", a->max_attempts);
    put_true(c, "isRetry", a->is_retry);
    put_true(c, "isFinalTurn", a->is_final_turn);
    put_true(c, "isAside", a->is_aside);
    put_name(c, "forcedFinalReason", final_reason_name(a->forced));
    put_error(c, a->error);
    if (a->n_retry_slugs) {
        jw_key(&c->json, "retrySlugs");
        jw_begin_array(&c->json);
        for (size_t i = 0; i < a->n_retry_slugs; i++)
            jw_str(&c->json, str_of(a->retry_slugs[i]));
        jw_end_array(&c->json);
    }
    put_usage(c, a->usage);
    if (a->cost_microcents >= 0)
        jw_kv_int(&c->json, "costMicrocents", a->cost_microcents);
    put_int(c, "totalMicrocents", a->total_microcents);
    put_int(c, "durationMs", (int64_t)a->duration_ms);
    put_int(c, "delayMs", (int64_t)a->delay_ms);
    put_text(c, "nextProvider", a->next_provider);
    put_text(c, "nextModel", a->next_model);
}

static void put_maybe(struct encoding *c, const char *key, struct maybe_double d)
{
    if (d.is_set)
        jw_kv_double(&c->json, key, d.value);
}

static void put_cut(struct encoding *c, const struct history_cut *cut)
{
    if (!cut)
        return;
    jw_key(&c->json, "cut");
    jw_begin_object(&c->json);
    put_int(c, "skipped", (int64_t)cut->n_skipped);
    jw_key(&c->json, "clipped");
    jw_begin_array(&c->json);
    for (size_t i = 0; i < cut->n_clipped; i++)
        jw_int(&c->json, (int64_t)cut->clipped[i]);
    jw_end_array(&c->json);
    jw_end_object(&c->json);
}

static void encode_request(struct encoding *c)
{
    const struct event_request *b = &c->event->body.request;
    const struct model_request *r = b->request;

    put_text(c, "provider", r->provider);
    put_text(c, "protocol", r->protocol);
    put_text(c, "model", r->model);
    put_shared(c, "system", r->system);
    put_history(c, "messages");
    put_cut(c, b->cut);
    put_tools(c, b);
    put_true(c, "stream", r->stream);
    put_int(c, "maxOutputTokens", r->max_output);
    put_name(c, "effort", effort_name(r->effort));
    put_int(c, "reasoningBudget", r->reasoning_budget);
    put_maybe(c, "temperature", r->sampling.temperature);
    put_maybe(c, "topP", r->sampling.top_p);
    put_true(c, "webSearch", r->web_search);
    put_true(c, "webFetch", r->web_fetch);
    put_json(c, "outputSchema", r->output_schema);
    if (b->n_overlays) {
        jw_key(&c->json, "overlays");
        jw_begin_array(&c->json);
        for (size_t i = 0; i < b->n_overlays; i++)
            jw_str(&c->json, b->overlays[i]);
        jw_end_array(&c->json);
    }
    put_int(c, "toolsVersion", (int64_t)b->tools_version);
}

/* --- what streams in --- */

static bool is_json(struct str bytes)
{
    AUTO(arena) struct arena scratch = {0};
    struct json_where where;
    struct json *v;

    return json_parse_at(&scratch, bytes, 0, &v, &where);
}

/* As JSON where it is that, else as text. Line ends would break a line of the log. */
static void add_payload(struct encoding *c, struct str bytes)
{
    if (is_json(bytes) && memchr(bytes.p, '\n', bytes.n) == NULL)
        jw_raw(&c->json, bytes);
    else
        write_reference(c, "$text", bytes);
}

/* The list at the end of the body, for more of its kind. */
static void leave_open(struct encoding *c, bool is_open)
{
    c->out->is_open = is_open;
    if (!is_open)
        jw_end_array(&c->json);
}

static void encode_payload(struct encoding *c)
{
    const struct native_payload *p = c->event->body.payload;
    char hash[SHA256_HEX_SIZE];

    put_text(c, "provider", p->provider);
    put_text(c, "apiSurface", p->api_surface);
    jw_kv_str(&c->json, "payloadKind", str_of(payload_kind_name(p->kind)));
    jw_kv_int(&c->json, "sequence", (int64_t)p->sequence);
    put_int(c, "httpStatus", p->http_status);
    if (p->kind == PAYLOAD_REQUEST) {
        sha256_hex(p->bytes, hash);
        jw_kv_str(&c->json, "sha256", str_of(hash));
        jw_kv_int(&c->json, "byteLength", (int64_t)p->bytes.n);
        return;
    }
    jw_key(&c->json, "payloads");
    jw_begin_array(&c->json);
    if (p->bytes.n > CODEC_INLINE_MAX)
        write_blob(c, p->bytes);
    else
        add_payload(c, p->bytes);
    leave_open(c, p->kind == PAYLOAD_STREAM_EVENT);
}

/* [kind, part, text] or [kind, part, text, id, name] */
static void add_delta(struct encoding *c, const struct delta *d)
{
    jw_begin_array(&c->json);
    jw_int(&c->json, d->kind);
    jw_int(&c->json, (int64_t)d->part);
    jw_str(&c->json, d->text);
    if (d->id.n || d->name.n) {
        jw_str(&c->json, d->id);
        jw_str(&c->json, d->name);
    }
    jw_end_array(&c->json);
}

static void encode_delta(struct encoding *c)
{
    const struct event_delta *b = &c->event->body.delta;

    jw_kv_int(&c->json, "sequence", (int64_t)b->sequence);
    if (b->source != SOURCE_STREAM)
        put_name(c, "source", output_source_name(b->source));
    put_true(c, "isSeparator", b->is_separator);
    jw_key(&c->json, "deltas");
    jw_begin_array(&c->json);
    add_delta(c, b->delta);
    leave_open(c, b->source == SOURCE_STREAM && !b->is_separator);
}

static void encode_reply(struct encoding *c)
{
    const struct reply *r = c->event->body.reply.reply;
    AUTO(message)
    struct message *m = reply_to_message(r, r->id, MESSAGE_COMPLETE, (struct origin){0});
    AUTO(strbuf) struct strbuf parts = {0};

    put_name(c, "responseKind", c->event->body.reply.kind);
    put_text(c, "id", r->id);
    put_text(c, "model", r->model);
    put_text(c, "stopReason", r->stop_reason);
    put_text(c, "stopDetail", r->stop_detail);
    put_true(c, "isComplete", r->is_complete);
    put_usage(c, &r->usage);
    parts_json(m->parts, m->n_parts, &parts);
    put_json_text(c, "parts", strbuf_str(&parts));
    c->writer->reply.seq = c->event->seq;
    hash_text(strbuf_str(&parts), c->writer->reply.hash);
}

/* --- tool calls --- */

static void encode_batch(struct encoding *c)
{
    const struct event_batch *b = &c->event->body.batch;

    put_text(c, "batchId", b->id);
    put_name(c, "mode", b->mode);
    put_int(c, "maxConcurrency", b->max_concurrency);
    put_int(c, "requestCount", (int64_t)b->n_requests);
    put_message(c, "message", b->message);
}

static void put_outcome(struct encoding *c, const struct event_tool *t)
{
    put_true(c, "success", t->is_ok);
    put_true(c, "executed", t->was_executed);
    put_true(c, "denied", t->was_denied);
    put_name(c, "errorCode", t->error_code);
    put_json(c, "metadata", t->metadata);
    put_int(c, "durationMs", (int64_t)t->duration_ms);
    put_int(c, "charactersIn", (int64_t)t->n_chars_in);
    put_int(c, "charactersOut", (int64_t)t->n_chars_out);
    put_result(c, t->result);
}

static void encode_tool(struct encoding *c)
{
    const struct event_tool *t = &c->event->body.tool;
    enum event_type type = c->event->type;

    put_text(c, "batchId", t->batch_id);
    jw_kv_int(&c->json, "index", (int64_t)t->index);
    put_text(c, "toolName", t->name);
    put_text(c, "toolCallId", t->call_id);
    if (t->risk)
        put_name(c, "risk", risk_name(t->risk));
    if (type == EVENT_TOOL_REQUEST)
        put_json(c, "parameters", t->args);
    put_text(c, "progress", t->progress);
    if (type == EVENT_TOOL_END || type == EVENT_TOOL_RESULT)
        put_outcome(c, t);
    if (type == EVENT_TOOL_COMMITTED)
        put_message(c, "message", t->message);
}

/* --- the rest --- */

static void encode_state(struct encoding *c)
{
    put_text(c, "key", c->event->body.state.key);
    put_json(c, "value", c->event->body.state.value);
}

static void encode_snapshot(struct encoding *c)
{
    journal_snapshot(&c->json, &c->event->body.snapshot);
}

static void encode_pre_image(struct encoding *c)
{
    journal_pre_image(&c->json, &c->event->body.image);
}

static void encode_ask(struct encoding *c)
{
    const struct event_ask *b = &c->event->body.ask;

    put_ask(c, b->ask);
    if (!b->answer)
        return;
    jw_kv_int(&c->json, "answer", b->answer->kind);
    put_text(c, "reason", b->answer->reason);
    put_json(c, "value", b->answer->value);
    put_json(c, "changed", b->answer->args);
}

static void encode_notice(struct encoding *c)
{
    const struct event_notice *n = &c->event->body.notice;

    put_name(c, "severity", severity_name(n->severity));
    put_name(c, "source", n->source);
    put_text(c, "message", n->text);
    put_json(c, "details", n->details);
}

static void encode_rewind(struct encoding *c)
{
    const struct event_rewind *b = &c->event->body.rewind;

    put_int(c, "toTurn", b->turn);
    put_int(c, "toSeq", (int64_t)b->seq);
    put_true(c, "conversation", b->takes_messages);
    put_int(c, "files", (int64_t)b->n_files);
}

static void encode_checkpoint(struct encoding *c)
{
    const struct event_checkpoint *x = &c->event->body.checkpoint;

    put_int(c, "baseSeq", (int64_t)x->base_seq);
    put_json(c, "state", x->state);
    put_usage(c, &x->usage);
    put_int(c, "costMicrocents", x->cost_microcents);
    put_true(c, "costIsKnown", x->cost_is_known);
    put_int(c, "rounds", (int64_t)x->n_rounds);
    put_int(c, "toolCalls", (int64_t)x->n_tool_calls);
    put_int(c, "activeMs", (int64_t)x->active_ms);
}

static void encode_message(struct encoding *c)
{
    const struct event_message *b = &c->event->body.message;

    put_int(c, "toolCallsCount", (int64_t)b->n_tool_calls);
    put_message(c, "message", b->message);
}

static void encode_tools(struct encoding *c)
{
    const struct tool_set *set = c->event->body.tools.tools;

    jw_kv_int(&c->json, "toolsVersion", (int64_t)set->version);
    put_schemas(c, set);
}

static void encode_final(struct encoding *c)
{
    put_name(c, "reason", final_reason_name(c->event->body.final.reason));
    put_text(c, "instruction", c->event->body.final.instruction);
}

static void encode_context(struct encoding *c)
{
    put_context(c, &c->event->body.context);
}

static void encode_error(struct encoding *c)
{
    put_error(c, c->event->body.error);
}

static void encode_nothing(struct encoding *c)
{
}

static const struct {
    void (*encode)(struct encoding *c);
    bool is_core;
} types[EVENT_N_TYPES] = {
    [EVENT_SESSION_BEGIN] = {encode_session, true},
    [EVENT_RUN_BEGIN] = {encode_run, true},
    [EVENT_USER_INPUT] = {encode_message, true},
    [EVENT_TOOLS_CHANGED] = {encode_tools, false},
    [EVENT_CONTEXT] = {encode_context, false},
    [EVENT_COMPACTED] = {encode_compact, false},
    [EVENT_FINAL_TURN] = {encode_final, false},
    [EVENT_ATTEMPT_BEGIN] = {encode_attempt, true},
    [EVENT_PROVIDER_REQUEST] = {encode_request, false},
    [EVENT_NATIVE_PAYLOAD] = {encode_payload, false},
    [EVENT_DELTA] = {encode_delta, false},
    [EVENT_RESPONSE_RAW] = {encode_reply, true},
    [EVENT_ATTEMPT_END] = {encode_attempt, true},
    [EVENT_RETRY] = {encode_attempt, false},
    [EVENT_FALLBACK] = {encode_attempt, false},
    [EVENT_TEXT_DROPPED] = {encode_nothing, false},
    [EVENT_RESPONSE_NORMALIZED] = {encode_message, true},
    [EVENT_ASSISTANT_COMMITTED] = {encode_message, false},
    [EVENT_HISTORY] = {encode_history, true},
    [EVENT_BATCH_BEGIN] = {encode_batch, false},
    [EVENT_TOOL_REQUEST] = {encode_tool, true},
    [EVENT_TOOL_BEGIN] = {encode_tool, true},
    [EVENT_TOOL_PROGRESS] = {encode_tool, false},
    [EVENT_TOOL_END] = {encode_tool, true},
    [EVENT_TOOL_RESULT] = {encode_tool, true},
    [EVENT_TOOL_COMMITTED] = {encode_tool, false},
    [EVENT_STATE] = {encode_state, true},
    [EVENT_SNAPSHOT] = {encode_snapshot, false},
    [EVENT_PRE_IMAGE] = {encode_pre_image, false},
    [EVENT_ASKED] = {encode_ask, false},
    [EVENT_ANSWERED] = {encode_ask, false},
    [EVENT_NOTICE] = {encode_notice, false},
    [EVENT_ERROR] = {encode_error, false},
    [EVENT_RUN_END] = {encode_result, true},
    [EVENT_REWOUND] = {encode_rewind, true},
    [EVENT_CHECKPOINT] = {encode_checkpoint, true},
    [EVENT_SESSION_END] = {encode_session, false},
};

bool codec_is_core(enum event_type t)
{
    return types[t].is_core;
}

/* --- records --- */

/* A run's own events: main > run > call. Others say whose they are. */
static bool has_usual_owner(const struct event *e)
{
    const struct owner *o = e->owner;

    if (o && strcmp(o->type, "tool") == 0)
        o = o->parent;
    return o && strcmp(o->type, "execution") == 0 && str_eq(o->id, e->run_id) && o->parent &&
           strcmp(o->parent->type, "agent") == 0 && str_is(o->parent->id, "main") &&
           !o->parent->parent;
}

static bool joins(const struct codec_record *last, const struct event *e)
{
    if (!last || !last->is_open || last->type != e->type || last->body.n > CODEC_INLINE_MAX ||
        !str_eq(last->record.run_id, e->run_id) || last->record.round != e->round ||
        last->record.attempt != e->attempt)
        return false;
    if (e->type == EVENT_DELTA)
        return e->body.delta.source == SOURCE_STREAM && !e->body.delta.is_separator;
    return e->body.payload->kind == PAYLOAD_STREAM_EVENT &&
           e->body.payload->bytes.n <= CODEC_INLINE_MAX;
}

/* The array at the end of the body is still open. */
static void join(struct codec_writer *w, struct codec_record *last, const struct event *e)
{
    struct encoding c = {.writer = w, .out = last, .event = e};

    strbuf_add_char(&last->body, ',');
    jw_init(&c.json, &last->body);
    if (e->type == EVENT_DELTA)
        add_delta(&c, e->body.delta.delta);
    else
        add_payload(&c, e->body.payload->bytes);
    last->record.n_events++;
}

bool codec_write(struct codec_writer *w, const struct event *e, struct codec_record *last,
                 struct codec_record *ret_record)
{
    struct encoding c = {.writer = w, .out = ret_record, .event = e};

    if (joins(last, e)) {
        join(w, last, e);
        return true;
    }
    *ret_record = (struct codec_record){.type = e->type};
    ret_record->record = (struct store_record){
        .seq = e->seq,
        .n_events = 1,
        .unix_ms = e->unix_ms,
        .type = str_of(event_type_name(e->type)),
        .run_id = arena_str(&ret_record->arena, e->run_id),
        .turn = e->turn,
        .round = e->round,
        .attempt = e->attempt,
        .is_core = types[e->type].is_core,
    };
    jw_init(&c.json, &ret_record->body);
    jw_begin_object(&c.json);
    if (!has_usual_owner(e) && e->owner)
        field_owner_path(&c.json, "ownerPath", e->owner);
    types[e->type].encode(&c);
    if (!ret_record->is_open)
        jw_end_object(&c.json);
    return false;
}

void codec_record_end(struct codec_record *r)
{
    struct str *handles = ARENA_ARRAY(&r->arena, r->n_blobs, struct str);

    if (r->is_open)
        strbuf_add_cstr(&r->body, "]}");
    r->is_open = false;
    for (size_t i = 0; i < r->n_blobs; i++)
        handles[i] = str_of(r->blobs[i].handle);
    r->record.payloads = handles;
    r->record.n_payloads = r->n_blobs;
    r->record.body = strbuf_str(&r->body);
}
