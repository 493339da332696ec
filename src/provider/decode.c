/* decode.c - turns response bytes into protocol events, whatever the framing. */
#include "provider/decode.h"

#include "base/base64.h"
#include "base/quoted.h"
#include "base/utf8.h"
#include "provider/provider_error.h"
#include "provider/vendor.h"

#define BLANKS " \t\n\v\f\r"
#define BOM "\xEF\xBB\xBF"

static bool announces(const struct http_headers *headers, struct str type)
{
    return headers && str_find(http_headers_get(headers, "content-type"), type) != STR_NONE;
}

void decoder_init(struct decoder *d, const struct protocol *protocol, int status,
                  const struct http_headers *headers, int64_t unix_now_ms, struct reply *reply)
{
    *d = (struct decoder){.protocol = protocol,
                          .status = status,
                          .headers = headers,
                          .unix_now_ms = unix_now_ms,
                          .framing = status >= 400 ? FRAMING_ERROR : FRAMING_UNKNOWN};
    d->decode.reply = reply;
    if (status < 400 && announces(headers, S("vnd.amazon.eventstream")))
        d->framing = FRAMING_AWS;
    decoder_limit(d, DECODE_MAX_EVENT, DECODE_MAX_EVENTS);
    if (protocol->begin)
        protocol->begin(&d->decode);
}

void decoder_set_vendor(struct decoder *d, const struct vendor *v)
{
    d->overflow_words = v ? v->overflow_words : NULL;
    d->delay_words = v ? v->delay_words : NULL;
    d->media_words = v ? v->media_words : NULL;
    d->decode.dialect = v ? &v->dialect : NULL;
}

void decoder_limit(struct decoder *d, size_t max_event_bytes, size_t max_events)
{
    bool is_error = d->framing == FRAMING_ERROR;

    sse_init(&d->sse, max_event_bytes);
    lines_init(&d->lines, max_event_bytes);
    event_frames_init(&d->frames, max_event_bytes);
    strbuf_init(&d->whole,
                is_error ? MIN(max_event_bytes, DECODE_MAX_ERROR_BODY) : max_event_bytes);
    d->max_events = max_events;
}

void decoder_done(struct decoder *d)
{
    sse_done(&d->sse);
    lines_done(&d->lines);
    event_frames_done(&d->frames);
    json_series_done(&d->events);
    strbuf_done(&d->whole);
    arena_done(&d->decode.scratch);
}

/* --- errors --- */

struct str decoder_compression(const struct http_headers *headers)
{
    static const char *const names[] = {"gzip", "x-gzip", "deflate", "br", "zstd", "compress"};
    struct str encoding = str_trim(http_headers_get(headers, "content-encoding"));

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(encoding, str_of(names[i])))
            return str_of(names[i]);
    return (struct str){0};
}

static bool starts_web_page(struct str bytes)
{
    return str_starts(str_trim(bytes), S("<"));
}

static bool is_web_page(const struct decoder *d)
{
    struct str type = d->headers ? http_headers_get(d->headers, "content-type") : (struct str){0};

    return d->is_web_page || str_starts(type, S("text/html")) ||
           starts_web_page(strbuf_str(&d->whole));
}

/* A busy or broken server may send a page, too; then the address is not to blame. */
static struct err *web_page_error(int status)
{
    enum err_kind kind = status >= 400 ? provider_error_kind(status) : ERR_MODEL_NOT_AVAILABLE;
    struct err *e =
        provider_error_new(kind, status, S("the server sent a web page instead of an answer"));

    if (kind == ERR_PROVIDER_RATE_LIMIT || kind == ERR_PROVIDER_UNAVAILABLE)
        return e;
    return err_hint(e, "check the base URL: it must be the API's; a proxy may be in the way");
}

static struct err *classify(struct decoder *d)
{
    struct json *body = NULL;
    struct json_where where;
    struct err *e;

    if (!json_parse_at(&d->decode.scratch, strbuf_str(&d->whole), JSON_REPAIR_UTF8, &body, &where))
        body = NULL;
    if (d->headers && decoder_compression(d->headers).n)
        e = provider_error_new(provider_error_kind(d->status), d->status,
                               S("the error message is compressed, which keel did not ask for"));
    else if (body)
        e = d->protocol->classify(d->status, body);
    else if (is_web_page(d))
        e = web_page_error(d->status);
    else
        e = provider_error_new(provider_error_kind(d->status), d->status, strbuf_str(&d->whole));
    if (e->retry_after_ms < 0 && d->headers)
        e->retry_after_ms = http_retry_after_ms(d->headers, d->unix_now_ms);
    e->peer_status = d->status;
    return e;
}

/* Refusals may say in words what no field says. Kinds that typed fields have set stay: the text of
 * a rate limit mentions tokens, too. */
static struct err *read_words(const struct decoder *d, struct err *e)
{
    bool is_vague = err_is(e, ERR_PROVIDER_ERROR) || err_is(e, ERR_PROVIDER_UNAVAILABLE);
    bool may_wait = err_is(e, ERR_PROVIDER_RATE_LIMIT) || err_is(e, ERR_PROVIDER_UNAVAILABLE);
    bool may_refuse = is_vague || err_is(e, ERR_MODEL_NOT_AVAILABLE);

    if (is_vague && error_text_has(str_of(e->text), d->overflow_words))
        e->kind = ERR_CONTEXT_OVERFLOW;
    else if (may_refuse && !e->refused_media && error_text_has(str_of(e->text), d->media_words))
        e = err_refuse_media(e, "");
    else if (may_wait && e->retry_after_ms < 0)
        e->retry_after_ms = error_text_delay_ms(str_of(e->text), d->delay_words);
    return e;
}

/* An answer that breaks keel's limits is the provider's failure. */
static struct err *blame_provider(struct err *e)
{
    if (e)
        e->kind = ERR_BAD_RESPONSE;
    return e;
}

/* --- events --- */

/* Source bytes of values are kept and sent back, so they must be UTF-8: invalid text is repaired
 * before it is parsed. */
static struct str repair(struct arena *scratch, struct str text)
{
    AUTO(strbuf) struct strbuf repaired = {0};

    if (utf8_is_valid(text))
        return text;
    strbuf_init(&repaired, 3 * DECODE_MAX_EVENT);
    utf8_add_repaired(&repaired, text);
    return arena_str(scratch, strbuf_str(&repaired));
}

static struct err *parse_event(struct decoder *d, struct str data, struct json **ret_event)
{
    struct err *e;

    *ret_event = json_series_next(&d->events, data);
    if (*ret_event)
        return NULL;
    e = json_series_parse(&d->events, repair(&d->decode.scratch, data), ret_event);
    return e ? err_wrap(blame_provider(e), "cannot parse an event of the provider") : NULL;
}

static struct err *take_event(struct decoder *d, struct str type, struct str data)
{
    struct json *event = NULL;

    if (d->n_events++ == d->max_events)
        return err_new(ERR_BAD_RESPONSE, "the answer exceeds the limit of %zu events",
                       d->max_events);
    arena_clear(&d->decode.scratch);
    if (d->on_event)
        d->on_event(d->self, type, data);
    if (!str_eq(str_trim(data), S("[DONE]")))
        TRY(parse_event(d, data, &event));
    d->has_spoken = d->has_spoken || (event && d->protocol->is_event(type, event));
    return d->protocol->event(&d->decode, type, event);
}

static struct err *drain_sse(struct decoder *d, struct str bytes)
{
    struct sse_event event;
    bool has_event;

    sse_feed(&d->sse, bytes);
    for (;;) {
        TRY(blame_provider(sse_next(&d->sse, &event, &has_event)));
        if (!has_event)
            return NULL;
        TRY(take_event(d, event.type, event.data));
    }
}

static struct err *take_line(struct decoder *d, struct str line)
{
    return str_trim(line).n ? take_event(d, DECODE_PLAIN_TYPE, line) : NULL;
}

static struct err *drain_lines(struct decoder *d, struct str bytes)
{
    struct str line;
    bool has_line;

    lines_feed(&d->lines, bytes);
    for (;;) {
        TRY(blame_provider(lines_next(&d->lines, &line, &has_line)));
        if (!has_line)
            return NULL;
        TRY(take_line(d, line));
    }
}

/* --- frames of AWS --- */

/* Exceptions of the service, with Anthropic's names for them:
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ResponseStream.html */
static const struct {
    const char *exception, *type;
} aws_exceptions[] = {
    {"throttlingException", "rate_limit_error"},
    {"internalServerException", "api_error"},
    {"serviceUnavailableException", "overloaded_error"},
    {"modelStreamErrorException", "api_error"},
    {"modelTimeoutException", "timeout_error"},
    {"validationException", "invalid_request_error"},
};

static void write_exception(const struct event_frame *frame, const struct json *body,
                            struct strbuf *event)
{
    struct str exception = event_frame_get(frame, ":exception-type");
    struct str message = error_body_message(body), type;
    struct json_writer w;

    if (!exception.n)
        exception = event_frame_get(frame, ":error-code");
    if (!message.n)
        message = event_frame_get(frame, ":error-message");
    type = exception;
    for (size_t i = 0; i < ARRAY_LEN(aws_exceptions); i++)
        if (str_is(exception, aws_exceptions[i].exception))
            type = str_of(aws_exceptions[i].type);
    jw_init(&w, event);
    jw_begin_object(&w);
    jw_kv_str(&w, "type", S("error"));
    jw_key(&w, "error");
    jw_begin_object(&w);
    jw_kv_str(&w, "type", type);
    jw_kv_str(&w, "message", message.n ? message : exception);
    jw_end_object(&w);
    jw_end_object(&w);
}

/* Appends the model's own event, which is in the frame in base64; nothing if the frame has none. An
 * exception becomes an "error" event of the Messages API, the only protocol in such frames, so that
 * recordings of events hold it too. */
static struct err *read_frame(const struct event_frame *frame, struct arena *scratch,
                              struct strbuf *event)
{
    struct str kind = event_frame_get(frame, ":message-type");
    struct json *body = NULL;
    struct json_where where;
    struct err *e;

    if (!json_parse_at(scratch, frame->payload, JSON_REPAIR_UTF8, &body, &where))
        body = NULL;
    if (str_is(kind, "exception") || str_is(kind, "error")) {
        write_exception(frame, body, event);
        return NULL;
    }
    if (!str_is(event_frame_get(frame, ":event-type"), "chunk"))
        return NULL;
    e = body ? base64_decode(event, json_get_text(body, "bytes"))
             : err_new(ERR_BAD_RESPONSE, "%s", where.reason);
    if (!e)
        return NULL;
    e->kind = ERR_BAD_RESPONSE;
    return err_wrap(e, "cannot parse an event of the provider");
}

/* A frame may be only a sign of life. */
static struct err *drain_frames(struct decoder *d, struct str bytes)
{
    event_frames_feed(&d->frames, bytes);
    for (;;) {
        AUTO(strbuf) struct strbuf event = {0};
        struct event_frame frame;
        bool has_frame;

        TRY(blame_provider(event_frames_next(&d->frames, &frame, &has_frame)));
        if (!has_frame)
            return NULL;
        arena_clear(&d->decode.scratch);
        strbuf_init(&event, d->frames.pending.max_bytes);
        TRY(read_frame(&frame, &d->decode.scratch, &event));
        if (event.n)
            TRY(take_event(d, DECODE_PLAIN_TYPE, strbuf_str(&event)));
    }
}

/* --- framing --- */

static void skip_blanks(struct decoder *d, struct str text)
{
    while (d->n_sniffed < text.n && str_find_char(S(BLANKS), text.p[d->n_sniffed]) != STR_NONE)
        d->n_sniffed++;
}

/* A '{' may open one JSON value, or the first of many lines. The byte after a first line that is
 * complete by itself decides. */
static void sniff_object(struct decoder *d, struct str text)
{
    struct json *value;
    struct json_where where;

    if (announces(d->headers, S("ndjson"))) {
        d->framing = FRAMING_NDJSON;
        return;
    }
    if (!d->line_end) {
        size_t newline = str_find_char(str_skip(text, d->n_sniffed), '\n');

        d->n_sniffed = newline == STR_NONE ? text.n : d->n_sniffed + newline;
        if (newline == STR_NONE)
            return;
        d->line_end = d->n_sniffed;
    }
    skip_blanks(d, text);
    if (d->n_sniffed == text.n)
        return;
    arena_clear(&d->decode.scratch);
    d->framing = json_parse_at(&d->decode.scratch,
                               str_slice(text, d->line_start, d->line_end - d->line_start),
                               JSON_REPAIR_UTF8, &value, &where)
                     ? FRAMING_NDJSON
                     : FRAMING_JSON;
}

/* Looks at every byte once, however small the pieces are. */
static void sniff(struct decoder *d)
{
    struct str text = strbuf_str(&d->whole);

    if (d->is_object) {
        sniff_object(d, text);
        return;
    }
    if (d->n_sniffed == 0 && str_starts(text, S(BOM)))
        d->n_sniffed = 3;
    skip_blanks(d, text);
    if (d->n_sniffed == text.n)
        return;
    d->line_start = d->n_sniffed;
    d->is_object = text.p[d->line_start] == '{';
    if (d->is_object)
        sniff_object(d, text);
    else if (text.p[d->line_start] == '[')
        d->framing = FRAMING_JSON;
    else if (text.n >= 3 || (unsigned char)text.p[0] < 0x80) /* else it may be part of a BOM */
        d->framing = FRAMING_SSE;
}

static void keep_beginning(struct decoder *d, struct str bytes)
{
    size_t n = MIN(bytes.n, sizeof d->beginning - d->n_beginning);

    memcpy(d->beginning + d->n_beginning, bytes.p, n);
    d->n_beginning += n;
}

static struct err *feed_known(struct decoder *d, struct str bytes)
{
    switch (d->framing) {
    case FRAMING_SSE:
        keep_beginning(d, bytes);
        return drain_sse(d, bytes);
    case FRAMING_NDJSON:
        return drain_lines(d, bytes);
    case FRAMING_AWS:
        return drain_frames(d, bytes);
    case FRAMING_ERROR:
        /* the rest is not needed for the message */
        strbuf_add(&d->whole, str_slice(bytes, 0, d->whole.max_bytes - d->whole.n));
        return NULL;
    case FRAMING_JSON:
    case FRAMING_UNKNOWN:
        strbuf_add(&d->whole, bytes);
        return blame_provider(strbuf_check(&d->whole, "the provider's answer"));
    }
    BUG("framing");
}

/* Feeds the bytes that were held back for sniffing. A stream may stay open for long: the buffer is
 * freed. */
static struct err *feed_first(struct decoder *d)
{
    AUTO(strbuf) struct strbuf first = d->whole;
    struct str bytes = strbuf_str(&first);

    strbuf_init(&d->whole, first.max_bytes);
    d->is_web_page = starts_web_page(bytes);
    if (d->framing == FRAMING_NDJSON && str_starts(bytes, S(BOM)))
        bytes = str_skip(bytes, strlen(BOM));
    return feed_known(d, bytes);
}

static struct err *feed(struct decoder *d, struct str bytes)
{
    if (d->framing != FRAMING_UNKNOWN)
        return feed_known(d, bytes);
    TRY(feed_known(d, bytes));
    sniff(d);
    if (d->framing == FRAMING_SSE || d->framing == FRAMING_NDJSON)
        return feed_first(d);
    return NULL;
}

/* Nonsense after the end of an answer does not make it worse. */
static struct err *end_feed(struct decoder *d, struct err *e)
{
    e = read_words(d, e);
    if (!d->decode.is_over && !(err_is(e, ERR_BAD_RESPONSE) && d->decode.reply->is_complete))
        return e;
    d->is_spoilt = e != NULL;
    err_free(e);
    return NULL;
}

struct err *decoder_feed(struct decoder *d, struct str bytes)
{
    return d->is_spoilt ? NULL : end_feed(d, feed(d, bytes));
}

struct err *decoder_feed_event(struct decoder *d, struct str type, struct str bytes)
{
    if (d->is_spoilt)
        return NULL;
    if (d->framing == FRAMING_UNKNOWN)
        d->framing = type.n ? FRAMING_SSE : FRAMING_JSON;
    return end_feed(d, type.n ? take_event(d, type, bytes) : feed_known(d, bytes));
}

bool decoder_is_over(const struct decoder *d)
{
    return d->decode.is_over || d->is_spoilt ||
           (d->framing == FRAMING_ERROR && d->whole.n == d->whole.max_bytes);
}

size_t decoder_progress(const struct decoder *d)
{
    const struct reply *r = d->decode.reply;

    return r->n_parts + r->n_bytes + r->arena.used_bytes +
           (d->framing == FRAMING_JSON ? d->whole.n : 0);
}

/* --- the end --- */

/* Is the first line, as far as it has come, one of a stream of events? */
static bool begins_as_stream(struct str text)
{
    static const char *const fields[] = {":", "data:", "event:", "id:", "retry:"};

    if (str_starts(text, S(BOM)))
        text = str_skip(text, 3);
    text = str_trim(text);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++)
        if (str_starts(text, str_of(fields[i])) || str_starts(str_of(fields[i]), text))
            return true;
    return false;
}

/* The answer is complete, but nothing in it is of this protocol: another attempt would get the
 * same. */
static struct err *foreign_error(const struct decoder *d)
{
    AUTO(arena) struct arena a = {0};
    struct str text = utf8_truncate(str_trim(str_make(d->beginning, d->n_beginning)), 40);

    if (d->n_events || d->framing != FRAMING_SSE)
        return err_hint(err_new(ERR_BAD_RESPONSE, "the answer does not follow the protocol %s",
                                d->protocol->name),
                        "check the base URL and \"type\" of the profile");
    return err_hint(err_new(ERR_BAD_RESPONSE,
                            "the answer is neither JSON nor a stream of events: %" STR_FMT,
                            STR_ARG(quoted(&a, text))),
                    "check the base URL: it must be the API's");
}

static bool is_foreign(const struct decoder *d)
{
    if (d->n_events)
        return !d->has_spoken;
    return d->framing == FRAMING_SSE && !begins_as_stream(str_make(d->beginning, d->n_beginning));
}

static struct err *end_json(struct decoder *d)
{
    struct str text = strbuf_str(&d->whole);
    struct json *body = NULL;
    struct json_where where;

    arena_clear(&d->decode.scratch);
    if (str_starts(text, S(BOM)))
        text = str_skip(text, 3);
    if (str_trim(text).n == 0)
        return err_new(ERR_NETWORK, "the provider sent an empty answer");
    if (d->on_event)
        d->on_event(d->self, (struct str){0}, text);
    text = repair(&d->decode.scratch, text);
    if (!json_parse_at(&d->decode.scratch, text, 0, &body, &where))
        return err_new(where.offset >= text.n ? ERR_NETWORK : ERR_BAD_RESPONSE,
                       "cannot parse the provider's answer: line %zu, column %zu: %s", where.line,
                       where.column, where.reason);
    if (body->type != JSON_ARRAY)
        return d->protocol->body(&d->decode, body);
    json_each (event, body) {
        d->has_spoken = d->has_spoken || d->protocol->is_event(DECODE_PLAIN_TYPE, event);
        TRY(d->protocol->event(&d->decode, DECODE_PLAIN_TYPE, event));
    }
    if (!d->has_spoken)
        return foreign_error(d);
    return d->protocol->end ? d->protocol->end(&d->decode) : NULL;
}

static bool is_json(struct decoder *d, struct str text)
{
    struct json_where where;
    struct json *value;

    arena_clear(&d->decode.scratch);
    return json_parse_at(&d->decode.scratch, text, JSON_REPAIR_UTF8, &value, &where);
}

/* An event that only lacks its empty line. Half an event is dropped. */
static struct err *end_sse(struct decoder *d)
{
    struct sse_event event;
    bool has_event;

    sse_feed(&d->sse, S("\n\n"));
    TRY(blame_provider(sse_next(&d->sse, &event, &has_event)));
    if (!has_event || !str_starts(str_trim(event.data), S("{")) || !is_json(d, event.data))
        return NULL;
    return take_event(d, event.type, event.data);
}

/* A last line without its end may be half an object: then the stream broke off. */
static struct err *end_lines(struct decoder *d)
{
    struct str line;

    if (!lines_end(&d->lines, &line))
        return NULL;
    if (str_starts(str_trim(line), S("{\"")) && !is_json(d, line))
        return NULL;
    return take_line(d, line);
}

static struct err *end_stream(struct decoder *d)
{
    if (d->framing == FRAMING_NDJSON && !d->decode.is_over)
        TRY(end_lines(d));
    if (d->framing == FRAMING_SSE && !d->decode.is_over && !d->is_spoilt)
        TRY(end_sse(d));
    return d->protocol->end ? d->protocol->end(&d->decode) : NULL;
}

static struct err *end(struct decoder *d)
{
    switch (d->framing) {
    case FRAMING_ERROR:
        return classify(d);
    case FRAMING_SSE:
    case FRAMING_NDJSON:
    case FRAMING_AWS:
        TRY(end_stream(d));
        break;
    case FRAMING_JSON:
    case FRAMING_UNKNOWN:
        TRY(end_json(d));
        break;
    }
    if (d->decode.reply->is_complete)
        return NULL;
    if (d->framing == FRAMING_SSE && d->decode.reply->n_parts == 0 && is_web_page(d))
        return web_page_error(d->status);
    if (is_foreign(d))
        return foreign_error(d);
    return err_new(ERR_NETWORK, "the stream ended before the answer was complete");
}

struct err *decoder_end(struct decoder *d)
{
    struct err *e = read_words(d, end(d));

    reply_finish(d->decode.reply);
    return e;
}

/* Is the answer whole? A last line may lack its end, and a JSON value may be complete although more
 * bytes were announced. Halves of either are not shown to on_event(). */
static bool is_whole(struct decoder *d)
{
    AUTO(err) struct err *unread = NULL;
    bool is_value = d->framing == FRAMING_JSON || d->framing == FRAMING_UNKNOWN;
    struct str line;

    if (is_value)
        unread = is_json(d, strbuf_str(&d->whole)) ? end_json(d) : NULL;
    else if (d->framing == FRAMING_NDJSON && !d->decode.reply->is_complete &&
             lines_end(&d->lines, &line) && is_json(d, line))
        unread = take_line(d, line);
    else if (d->framing == FRAMING_SSE && !d->decode.reply->is_complete && !d->is_spoilt)
        unread = end_sse(d);
    if (!unread && !is_value && d->protocol->end)
        unread = d->protocol->end(&d->decode);
    return !unread && d->decode.reply->is_complete;
}

struct err *decoder_break(struct decoder *d, struct err *take_why)
{
    bool is_cancelled = err_is(take_why, ERR_CANCELLED);

    if (!is_cancelled && (d->framing == FRAMING_ERROR || is_whole(d))) {
        err_free(take_why);
        take_why = d->framing == FRAMING_ERROR ? read_words(d, classify(d)) : NULL;
    }
    reply_finish(d->decode.reply);
    return take_why;
}
