/* message_json.c - converts messages to JSON and back. */
#include "model/message_json.h"

#include "base/base64.h"

/* --- writing --- */

static void kv_text(struct json_writer *w, const char *key, struct str text)
{
    if (text.n)
        jw_kv_str(w, key, text);
}

static void kv_true(struct json_writer *w, const char *key, bool value)
{
    if (value)
        jw_kv_bool(w, key, true);
}

static void kv_count(struct json_writer *w, const char *key, int64_t n)
{
    if (n >= 0)
        jw_kv_int(w, key, n);
}

static const char *const source_names[] = {"base64", "url", "blob"};

static void write_media(struct json_writer *w, const struct media *m)
{
    AUTO(strbuf) struct strbuf encoded = {0};

    jw_key(w, "media");
    jw_begin_object(w);
    jw_kv_str(w, "mimeType", m->mime);
    jw_kv_str(w, "source", str_of(source_names[m->source]));
    if (m->source == MEDIA_BYTES)
        base64_add(&encoded, m->data);
    jw_kv_str(w, "data", m->source == MEDIA_BYTES ? strbuf_str(&encoded) : m->data);
    kv_text(w, "name", m->name);
    jw_end_object(w);
}

void part_write(struct json_writer *w, const struct part *p)
{
    jw_begin_object(w);
    jw_kv_str(w, "type", str_of(part_kind_name(p->kind)));
    kv_text(w, "text", p->text);
    kv_text(w, "id", p->id);
    kv_text(w, "name", p->name);
    kv_text(w, "args", p->args);
    kv_text(w, "badArgs", p->bad_args);
    kv_true(w, "isFreeText", p->is_free_text);
    kv_true(w, "isError", p->is_error);
    if (p->kind == PART_MEDIA)
        write_media(w, &p->media);
    if (p->n_content) {
        jw_key(w, "content");
        jw_begin_array(w);
        for (size_t i = 0; i < p->n_content; i++)
            part_write(w, &p->content[i]);
        jw_end_array(w);
    }
    kv_text(w, "signature", p->signature);
    kv_text(w, "data", p->data);
    kv_text(w, "url", p->url);
    kv_text(w, "title", p->title);
    kv_text(w, "native", p->native);
    jw_end_object(w);
}

void usage_write(struct json_writer *w, const struct usage *u)
{
    jw_begin_object(w);
    kv_count(w, "inputTokens", u->input);
    kv_count(w, "outputTokens", u->output);
    kv_count(w, "cacheReadTokens", u->cache_read);
    kv_count(w, "cacheWriteTokens", u->cache_write);
    kv_count(w, "reasoningTokens", u->reasoning);
    kv_count(w, "toolInputTokens", u->tool_input);
    if (u->web_searches > 0)
        jw_kv_int(w, "webSearches", u->web_searches);
    kv_true(w, "inputIncludesCache", u->input_includes_cache);
    kv_true(w, "outputLacksReasoning", u->output_lacks_reasoning);
    kv_count(w, "costMicrocents", u->cost_microcents);
    if (u->upstream_microcents > 0)
        jw_kv_int(w, "upstreamMicrocents", u->upstream_microcents);
    kv_text(w, "routedProvider", u->routed_provider);
    kv_text(w, "routedModel", u->routed_model);
    jw_end_object(w);
}

static void add_line(struct strbuf *out, struct str text)
{
    if (out->n && text.n && !str_ends(strbuf_str(out), S("\n")))
        strbuf_add_char(out, '\n');
    strbuf_add(out, text);
}

/* All text of a message, or of a tool's result. */
static void write_content(struct json_writer *w, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (m->n_parts == 1 && m->parts[0].kind == PART_TEXT && !m->parts[0].n_content) {
        jw_kv_str(w, "content", m->parts[0].text); /* it may be long */
        return;
    }
    message_text(m, &text);
    for (size_t i = 0; i < m->n_parts; i++)
        for (size_t k = 0; k < m->parts[i].n_content; k++)
            add_line(&text, m->parts[i].content[k].text);
    jw_kv_str(w, "content", strbuf_str(&text));
}

static void write_calls(struct json_writer *w, const struct message *m)
{
    bool is_open = false;

    for (size_t i = 0; i < m->n_parts; i++) {
        const struct part *p = &m->parts[i];

        if (p->kind != PART_TOOL_CALL)
            continue;
        if (!is_open) {
            jw_key(w, "toolCalls");
            jw_begin_array(w);
            is_open = true;
        }
        jw_begin_object(w);
        jw_kv_str(w, "id", p->id);
        jw_kv_str(w, "type", S("function"));
        jw_key(w, "function");
        jw_begin_object(w);
        jw_kv_str(w, "name", p->name);
        jw_kv_str(w, "arguments", p->args);
        jw_end_object(w);
        jw_end_object(w);
    }
    if (is_open)
        jw_end_array(w);
}

static void write_answered_call(struct json_writer *w, const struct message *m)
{
    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_RESULT) {
            jw_kv_str(w, "toolCallId", m->parts[i].id);
            return;
        }
}

static void write_identity(struct json_writer *w, const struct message *m)
{
    jw_kv_str(w, "id", m->id);
    jw_kv_str(w, "role", str_of(role_name(m->role)));
    /* Readers know these two words, and "interrupted" means by the user: the third is a mark. */
    jw_kv_str(w, "state", m->state == MESSAGE_INTERRUPTED ? S("interrupted") : S("complete"));
    kv_true(w, "isBroken", m->state == MESSAGE_BROKEN);
    kv_true(w, "isError", m->is_error);
}

static void write_parts(struct json_writer *w, const struct message *m)
{
    jw_key(w, "parts");
    jw_begin_array(w);
    for (size_t i = 0; i < m->n_parts; i++)
        part_write(w, &m->parts[i]);
    jw_end_array(w);
}

static void write_origin(struct json_writer *w, const struct message *m)
{
    kv_text(w, "provider", m->origin.provider);
    kv_text(w, "protocol", m->origin.protocol);
    kv_text(w, "model", m->origin.model);
    kv_text(w, "boundTo", m->origin.bound);
    kv_text(w, "stopReason", m->stop_reason);
    kv_text(w, "stop", str_of(stop_name(m->stop)));
    if (usage_is_known(&m->usage)) {
        jw_key(w, "usage");
        usage_write(w, &m->usage);
    }
}

/* The counts in the form of session logs: for the whole prompt and the whole answer. */
static void write_metadata(struct json_writer *w, const struct message *m)
{
    if (!usage_is_known(&m->usage))
        return;
    jw_key(w, "metadata");
    jw_begin_object(w);
    jw_kv_int(w, "inputTokens", usage_prompt(&m->usage));
    jw_kv_int(w, "outputTokens", usage_completion(&m->usage));
    jw_end_object(w);
}

void message_write(struct json_writer *w, const struct message *m)
{
    jw_begin_object(w);
    write_identity(w, m);
    write_content(w, m);
    write_calls(w, m);
    write_answered_call(w, m);
    write_parts(w, m);
    write_origin(w, m);
    write_metadata(w, m);
    jw_end_object(w);
}

void message_write_parts(struct json_writer *w, const struct message *m)
{
    jw_begin_object(w);
    write_identity(w, m);
    write_parts(w, m);
    write_origin(w, m);
    jw_end_object(w);
}

void message_write_fields(struct json_writer *w, const struct message *m)
{
    write_identity(w, m);
    write_origin(w, m);
}

/* --- how large --- */

#define MAX_GROWTH 12 /* for one byte: six as an escape, and most texts are written twice */

static size_t part_bytes(const struct part *p)
{
    size_t n = 256 + p->text.n + p->id.n + p->name.n + p->args.n + p->bad_args.n + p->media.mime.n +
               p->media.data.n + p->media.name.n + p->signature.n + p->data.n + p->url.n +
               p->title.n + p->native.n;

    for (size_t i = 0; i < p->n_content; i++)
        n += part_bytes(&p->content[i]);
    return n;
}

/* Almost all messages are obviously small enough, without writing them. */
static struct err *check_size(const struct message *m, const char *what, size_t max_bytes,
                              void (*write)(struct json_writer *w, const struct message *m))
{
    AUTO(strbuf) struct strbuf text = {0};
    struct json_writer w;
    size_t n = 4096 + m->id.n + m->stop_reason.n + m->origin.provider.n + m->origin.protocol.n +
               m->origin.model.n + m->usage.routed_provider.n + m->usage.routed_model.n;

    for (size_t i = 0; i < m->n_parts; i++)
        n += part_bytes(&m->parts[i]);
    if (n <= max_bytes / MAX_GROWTH)
        return NULL;
    strbuf_init(&text, max_bytes);
    jw_init(&w, &text);
    write(&w, m);
    if (!strbuf_is_over(&text))
        return NULL;
    return err_new(ERR_VALIDATION, "%s is larger than a message may be: %zu MiB as JSON", what,
                   max_bytes >> 20);
}

struct err *message_check(const struct message *m, const char *what)
{
    return check_size(m, what, MESSAGE_MAX_JSON_BYTES, message_write);
}

struct err *message_check_stored(const struct message *m, const char *what)
{
    return check_size(m, what, MESSAGE_MAX_STORED_BYTES, message_write_parts);
}

/* --- reading --- */

static bool find_name(struct str name, const char *const *names, size_t n, int *ret_index)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(name, names[i])) {
            *ret_index = (int)i;
            return true;
        }
    return false;
}

static struct err *read_media(const struct json *v, struct arena *a, struct media *ret)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    int source;

    if (!find_name(json_get_text(v, "source"), source_names, ARRAY_LEN(source_names), &source))
        return err_new(ERR_VALIDATION, "a media part needs the source base64, url or blob");
    *ret = (struct media){.mime = json_get_text(v, "mimeType"),
                          .source = (enum media_source)source,
                          .data = json_get_text(v, "data"),
                          .name = json_get_text(v, "name")};
    if (ret->source != MEDIA_BYTES)
        return NULL;
    TRY(base64_decode(&bytes, ret->data));
    ret->data = arena_str(a, strbuf_str(&bytes));
    return NULL;
}

struct err *part_read(const struct json *v, struct arena *a, struct part *ret)
{
    const char *names[N_PART_KINDS];
    int kind;

    for (int k = PART_TEXT; k < N_PART_KINDS; k++)
        names[k] = part_kind_name((enum part_kind)k);
    if (!find_name(json_get_text(v, "type"), names, ARRAY_LEN(names), &kind))
        return err_new(ERR_VALIDATION, "a message part has the unknown type \"%" STR_FMT "\"",
                       STR_ARG(json_get_text(v, "type")));
    *ret = (struct part){
        .kind = (enum part_kind)kind,
        .text = json_get_text(v, "text"),
        .id = json_get_text(v, "id"),
        .name = json_get_text(v, "name"),
        .args = json_get_text(v, "args"),
        .bad_args = json_get_text(v, "badArgs"),
        .is_free_text = json_bool(json_get(v, "isFreeText"), false),
        .is_error = json_bool(json_get(v, "isError"), false),
        .signature = json_get_text(v, "signature"),
        .data = json_get_text(v, "data"),
        .url = json_get_text(v, "url"),
        .title = json_get_text(v, "title"),
        .native = json_get_text(v, "native"),
    };
    if (ret->kind == PART_MEDIA)
        TRY(read_media(json_get(v, "media"), a, &ret->media));
    if (json_is(json_get(v, "content"), JSON_ARRAY)) {
        const struct json *content = json_get(v, "content");

        ret->content = ARENA_ARRAY(a, content->n, struct part);
        json_each (child, content)
            TRY(part_read(child, a, &ret->content[ret->n_content++]));
    }
    return NULL;
}

static struct err *read_parts(const struct json *list, struct message *m)
{
    AUTO(arena) struct arena scratch = {0};

    m->parts = ARENA_ARRAY(&m->arena, list->n, struct part);
    m->parts_room = list->n;
    json_each (v, list) {
        struct part p;

        TRY(part_read(v, &scratch, &p));
        message_add(m, &p);
    }
    return NULL;
}

/* A message without parts, as other programs write it. */
static void read_plain(const struct json *v, struct message *m)
{
    struct part text = {.kind = PART_TEXT, .text = json_get_text(v, "content")};

    if (m->role == ROLE_TOOL) {
        message_add(m, &(struct part){.kind = PART_TOOL_RESULT,
                                      .id = json_get_text(v, "toolCallId"),
                                      .name = json_get_text(v, "name"),
                                      .content = &text,
                                      .n_content = 1});
        return;
    }
    if (text.text.n)
        message_add(m, &text);
    json_each (call, json_get(v, "toolCalls")) {
        const struct json *function = json_get(call, "function");

        message_add(m, &(struct part){.kind = PART_TOOL_CALL,
                                      .id = json_get_text(call, "id"),
                                      .name = json_get_text(function, "name"),
                                      .args = json_get_text(function, "arguments")});
    }
}

struct usage usage_read(const struct json *v, struct arena *a)
{
    return (struct usage){
        .input = json_int_or(json_get(v, "inputTokens"), -1),
        .output = json_int_or(json_get(v, "outputTokens"), -1),
        .cache_read = json_int_or(json_get(v, "cacheReadTokens"), -1),
        .cache_write = json_int_or(json_get(v, "cacheWriteTokens"), -1),
        .reasoning = json_int_or(json_get(v, "reasoningTokens"), -1),
        .tool_input = json_int_or(json_get(v, "toolInputTokens"), -1),
        .web_searches = MAX(json_int_or(json_get(v, "webSearches"), 0), (int64_t)0),
        .input_includes_cache = json_bool(json_get(v, "inputIncludesCache"), false),
        .output_lacks_reasoning = json_bool(json_get(v, "outputLacksReasoning"), false),
        .cost_microcents = json_int_or(json_get(v, "costMicrocents"), -1),
        .upstream_microcents = MAX(json_int_or(json_get(v, "upstreamMicrocents"), 0), (int64_t)0),
        .routed_provider = arena_str(a, json_get_text(v, "routedProvider")),
        .routed_model = arena_str(a, json_get_text(v, "routedModel")),
    };
}

/* keel writes how it counted; other programs write only the sums. */
static struct usage read_counts(const struct json *v, struct arena *a)
{
    const struct json *metadata = json_get(v, "metadata");
    struct usage u = USAGE_UNKNOWN;

    if (json_is(json_get(v, "usage"), JSON_OBJECT))
        return usage_read(json_get(v, "usage"), a);
    usage_take_count(&u, &u.input, json_get(metadata, "inputTokens"));
    usage_take_count(&u, &u.output, json_get(metadata, "outputTokens"));
    u.input_includes_cache = u.input >= 0;
    return u;
}

/* The approximate memory of the message: all its texts, with names and quotes. One block of that
 * size is half of what it would take otherwise. */
static size_t estimate_bytes(const struct json *v)
{
    const struct json *parts = json_get(v, "parts");
    size_t n = 0;

    json_each (member, v)
        n += member->raw.n;
    json_each (part, parts) {
        const struct json *content = json_get(part, "content");

        n += sizeof(struct part) * (1 + (content ? content->n : 0));
    }
    return n;
}

struct err *message_read(const struct json *v, struct message **ret_message)
{
    static const char *const roles[] = {"system", "user", "assistant", "tool"};
    AUTO(message) struct message *m = NULL;
    int role;

    if (!find_name(json_get_text(v, "role"), roles, ARRAY_LEN(roles), &role))
        return err_new(ERR_VALIDATION, "a message needs the role system, user, assistant or tool");
    m = message_new((enum role)role, (struct str){0});
    arena_reserve(&m->arena, estimate_bytes(v));
    message_set_id(m, json_get_text(v, "id"));
    if (str_is(json_get_text(v, "state"), "interrupted"))
        m->state = MESSAGE_INTERRUPTED;
    else if (json_bool(json_get(v, "isBroken"), false))
        m->state = MESSAGE_BROKEN;
    m->is_error = json_bool(json_get(v, "isError"), false);
    message_set_origin(m, (struct origin){.provider = json_get_text(v, "provider"),
                                          .protocol = json_get_text(v, "protocol"),
                                          .model = json_get_text(v, "model"),
                                          .bound = json_get_text(v, "boundTo")});
    m->stop_reason = arena_str(&m->arena, json_get_text(v, "stopReason"));
    m->stop = stop_find(json_get_text(v, "stop"));
    m->usage = read_counts(v, &m->arena);
    if (json_is(json_get(v, "parts"), JSON_ARRAY))
        TRY(read_parts(json_get(v, "parts"), m));
    else
        read_plain(v, m);
    *ret_message = TAKE(m);
    return NULL;
}
