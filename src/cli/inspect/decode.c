/* decode.c - `keel inspect decode` and `keel inspect sse`: a recorded answer of a provider. */
#include "cli/inspect/inspect.h"

#include "base/json.h"
#include "net/sse.h"
#include "provider/decode.h"
#include "sys/fs.h"

/* --- decode --- */

static const struct option decode_options[] = {
    {"api", 0, "NAME", "anthropic-messages, openai-chat, openai-responses, gemini or ollama",
     .words = "anthropic-messages openai-chat openai-responses gemini ollama"},
    {"status", 0, "N", "the response's HTTP status (200)"},
    {"headers", 0, "FILE", "its headers: one JSON object of strings"},
    {"chunk", 0, "N", "feed N bytes at a time; the result is the same"},
    {0},
};

static struct err *read_headers(struct arena *a, const char *path, struct http_headers *out)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct json *root;
    struct err *e;

    if (!path)
        return NULL;
    TRY(cli_read_file(path, &text));
    e = json_parse(a, arena_str(a, strbuf_str(&text)), 0, &root);
    if (e)
        return err_wrap(e, "%s", path);
    if (root->type != JSON_OBJECT)
        return err_new(ERR_VALIDATION, "%s: must be one JSON object of strings", path);
    json_each (header, root)
        if (header->type == JSON_STRING)
            http_headers_add(a, out, header->key, header->text);
        else
            return err_new(ERR_VALIDATION, "%s: the value of \"%" STR_FMT "\" must be a string",
                           path, STR_ARG(header->key));
    return NULL;
}

static void concat(const struct reply *r, enum part_kind kind, struct strbuf *out)
{
    for (size_t i = 0; i < r->n_parts; i++)
        if (r->parts[i].part.kind == kind)
            strbuf_add(out, reply_part_text(r, i));
}

static void write_texts(struct json_writer *w, const struct reply *r)
{
    AUTO(strbuf) struct strbuf text = {0}, reasoning = {0}, refusal = {0};

    strbuf_init(&text, REPLY_MAX_BYTES);
    strbuf_init(&reasoning, REPLY_MAX_BYTES);
    concat(r, PART_TEXT, &text);
    concat(r, PART_REASONING, &reasoning);
    concat(r, PART_REFUSAL, &refusal);
    jw_kv_str(w, "text", strbuf_str(&text));
    jw_kv_str(w, "reasoning_text", strbuf_str(&reasoning));
    if (refusal.n)
        jw_kv_str(w, "refusal", strbuf_str(&refusal));
}

static void write_calls(struct json_writer *w, const struct reply *r)
{
    jw_key(w, "tool_calls");
    jw_begin_array(w);
    for (size_t i = 0; i < r->n_parts; i++) {
        const struct part *p = &r->parts[i].part;

        if (p->kind != PART_TOOL_CALL)
            continue;
        jw_begin_object(w);
        jw_kv_str(w, "id", p->id);
        jw_kv_str(w, "name", p->name);
        if (p->is_free_text)
            jw_kv_str(w, "args", p->args);
        else
            jw_kv_raw(w, "args", p->args.n ? p->args : S("{}"));
        if (p->bad_args.n)
            jw_kv_str(w, "bad_args", p->bad_args);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static void write_count(struct json_writer *w, const char *key, int64_t n)
{
    jw_key(w, key);
    if (n < 0)
        jw_null(w);
    else
        jw_int(w, n);
}

static void write_usage(struct json_writer *w, const struct usage *u)
{
    jw_key(w, "usage");
    jw_begin_object(w);
    write_count(w, "input", u->input);
    write_count(w, "output", u->output);
    write_count(w, "cached", u->cache_read);
    write_count(w, "cache_write", u->cache_write);
    write_count(w, "reasoning", u->reasoning);
    if (u->cost_microcents >= 0)
        jw_kv_int(w, "cost_microcents", u->cost_microcents);
    if (u->upstream_microcents > 0)
        jw_kv_int(w, "upstream_microcents", u->upstream_microcents);
    if (u->routed_provider.n)
        jw_kv_str(w, "routed_provider", u->routed_provider);
    if (u->routed_model.n)
        jw_kv_str(w, "routed_model", u->routed_model);
    jw_end_object(w);
}

static void write_error(struct json_writer *w, const struct err *e)
{
    AUTO_FREE char *message = e ? err_message(e) : NULL;

    jw_key(w, "error");
    if (!e) {
        jw_null(w);
        return;
    }
    jw_begin_object(w);
    jw_kv_str(w, "code", str_of(err_code(e->kind)));
    jw_kv_str(w, "message", str_of(message));
    jw_kv_bool(w, "retryable", err_is_retryable(e));
    write_count(w, "retry_after_ms", e->retry_after_ms);
    jw_end_object(w);
}

static struct err *print_reply(const struct reply *r, const struct err *e)
{
    AUTO(strbuf) struct strbuf out = {0};
    struct json_writer w;

    strbuf_init(&out, REPLY_MAX_BYTES * 6);
    jw_init(&w, &out);
    jw_begin_object(&w);
    write_texts(&w, r);
    write_calls(&w, r);
    jw_key(&w, "stop_reason");
    if (r->stop_reason.n)
        jw_str(&w, r->stop_reason);
    else
        jw_null(&w);
    if (r->stop_detail.n)
        jw_kv_str(&w, "stop_detail", r->stop_detail);
    write_usage(&w, &r->usage);
    write_error(&w, e);
    jw_end_object(&w);
    strbuf_add_char(&out, '\n');
    TRY(strbuf_check(&out, "the output"));
    return cli_print(strbuf_str(&out));
}

static struct err *decode(struct decoder *d, struct str bytes, size_t chunk)
{
    for (size_t at = 0; at < bytes.n; at += chunk) {
        struct err *e = decoder_feed(d, str_slice(bytes, at, chunk));
        if (e) {
            reply_finish(d->decode.reply);
            return e;
        }
    }
    return decoder_end(d);
}

static struct err *inspect_decode_run(const struct args *args, int *ret_status)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(err) struct err *outcome = NULL;
    AUTO(reply) struct reply reply;
    AUTO(decoder) struct decoder decoder = {0};
    struct http_headers headers = {0};
    const struct protocol *protocol = protocol_find(str_of(args_get(args, "api")));
    int64_t status, chunk;

    reply_init(&reply, (struct delta_sink){0});
    TRY(args_count(args, 1, 1, "one FILE"));
    if (!protocol && args_has(args, "api"))
        return err_hint(
            err_new(ERR_VALIDATION, "--api: unknown protocol \"%s\"", args_get(args, "api")),
            "one of: %s", decode_options[0].help);
    if (!protocol)
        return err_hint(err_new(ERR_VALIDATION, "inspect decode needs --api with a protocol"),
                        "one of: %s", decode_options[0].help);
    TRY(args_int(args, "status", 100, 599, 200, &status));
    TRY(args_int(args, "chunk", 1, INT32_MAX, INT32_MAX, &chunk));
    TRY(read_headers(&a, args_get(args, "headers"), &headers));
    TRY(cli_read_file(args->operands[0], &bytes));

    decoder_init(&decoder, protocol, (int)status, &headers, /* unix_now_ms= */ 0, &reply);
    outcome = decode(&decoder, strbuf_str(&bytes), (size_t)chunk);
    return print_reply(&reply, outcome);
}

const struct command command_inspect_decode = {
    .name = "inspect decode",
    .usage = "--api NAME [--status N] [--headers FILE.json] [--chunk N] FILE",
    .summary = "decode a recorded provider response",
    .details = "Reads an event stream, NDJSON or JSON, recognized by its content, and prints one\n"
               "JSON object: text, tool_calls, reasoning_text, stop_reason, usage, error.\n\n"
               "  curl -sN ... > answer.sse && keel inspect decode --api openai-chat answer.sse\n",
    .options = decode_options,
    .run = inspect_decode_run,
};

/* --- sse --- */

#define FLUSH_BYTES ((size_t)1 << 16)

static void add_event(struct strbuf *out, const struct sse_event *event)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_str(&w, "type", event->type);
    jw_kv_str(&w, "data", event->data);
    jw_kv_str(&w, "lastEventId", event->last_event_id);
    jw_end_object(&w);
    strbuf_add_char(out, '\n');
}

static struct err *flush(struct strbuf *out)
{
    TRY(strbuf_check(out, "the output"));
    TRY(cli_print(strbuf_str(out)));
    strbuf_clear(out);
    return NULL;
}

static struct err *drain(struct sse_reader *reader, struct str bytes, struct strbuf *out)
{
    struct sse_event event;
    bool has_event;

    sse_feed(reader, bytes);
    for (;;) {
        TRY(sse_next(reader, &event, &has_event));
        if (!has_event)
            return NULL;
        add_event(out, &event);
        if (out->n > FLUSH_BYTES) /* an event of six bytes makes a line of fifty */
            TRY(flush(out));
    }
}

static struct err *inspect_sse_run(const struct args *args, int *ret_status)
{
    AUTO(strbuf) struct strbuf text = {0}, out = {0};
    AUTO(sse_reader) struct sse_reader reader;
    int64_t chunk;

    sse_init(&reader, FS_READ_MAX_BYTES);
    TRY(args_count(args, 1, 1, "one FILE"));
    TRY(args_int(args, "chunk", 1, INT32_MAX, INT32_MAX, &chunk));
    TRY(cli_read_file(args->operands[0], &text));
    for (size_t at = 0; at < text.n; at += (size_t)chunk)
        TRY(drain(&reader, str_slice(strbuf_str(&text), at, (size_t)chunk), &out));
    return flush(&out);
}

static const struct option sse_options[] = {
    {"chunk", 0, "N", "feed N bytes at a time; the result is the same"},
    {0},
};

const struct command command_inspect_sse = {
    .name = "inspect sse",
    .usage = "[--chunk N] FILE",
    .summary = "print the events of a text/event-stream, one JSON object per line",
    .details = "  keel inspect sse answer.sse\n",
    .options = sse_options,
    .run = inspect_sse_run,
};
