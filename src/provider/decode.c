/* decode.c - from response bytes to protocol events, whatever the framing. */
#include "provider/decode.h"

#include "base/utf8.h"

void decoder_init(struct decoder *d, const struct protocol *protocol, int status,
                  const struct http_headers *headers, int64_t unix_now_ms, struct reply *reply)
{
    *d = (struct decoder){.protocol = protocol,
                          .status = status,
                          .headers = headers,
                          .unix_now_ms = unix_now_ms,
                          .framing = status >= 400 ? FRAMING_ERROR : FRAMING_UNKNOWN};
    d->decode.reply = reply;
    sse_init(&d->sse, DECODE_MAX_EVENT);
    lines_init(&d->lines, DECODE_MAX_EVENT);
    strbuf_init(&d->whole, status >= 400 ? DECODE_MAX_ERROR_BODY : DECODE_MAX_EVENT);
    if (protocol->begin)
        protocol->begin(&d->decode);
}

void decoder_done(struct decoder *d)
{
    sse_done(&d->sse);
    lines_done(&d->lines);
    json_series_done(&d->events);
    strbuf_done(&d->whole);
    arena_done(&d->decode.scratch);
}

/* --- errors --- */

enum err_kind kind_of_status(int status)
{
    switch (status) {
    case 401:
    case 402:
    case 403:
        return ERR_PROVIDER_AUTH;
    case 404:
        return ERR_MODEL_NOT_AVAILABLE;
    case 408:
        return ERR_TIMEOUT;
    case 413:
        return ERR_CONTEXT_OVERFLOW;
    case 429:
        return ERR_PROVIDER_RATE_LIMIT;
    case 409:
        return ERR_PROVIDER_UNAVAILABLE;
    default:
        return status >= 500 && status != 501 ? ERR_PROVIDER_UNAVAILABLE : ERR_PROVIDER_ERROR;
    }
}

#define MAX_MESSAGE_BYTES 2000

struct err *provider_error(enum err_kind kind, int status, struct str message)
{
    message = utf8_truncate(str_trim(message), MAX_MESSAGE_BYTES);
    if (message.n == 0)
        message = S("the provider gave no reason");
    if (status)
        return err_new(kind, "HTTP %d: %" STR_FMT, status, STR_ARG(message));
    return err_new(kind, "%" STR_FMT, STR_ARG(message));
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

static struct err *web_page_error(int status)
{
    return err_hint(provider_error(status >= 400 ? kind_of_status(status) : ERR_CONFIGURATION,
                                   status, S("a web page came back instead of an answer")),
                    "check the base URL: it must lead to the API, and a proxy may be in the way");
}

static struct err *classify(struct decoder *d)
{
    struct json *body = NULL;
    struct json_where where;
    struct err *e;

    if (!json_parse_at(&d->decode.scratch, strbuf_str(&d->whole), JSON_REPAIR_UTF8, &body, &where))
        body = NULL;
    if (body)
        e = d->protocol->classify(d->status, body);
    else if (is_web_page(d))
        e = web_page_error(d->status);
    else
        e = provider_error(kind_of_status(d->status), d->status, strbuf_str(&d->whole));
    if (e->retry_after_ms < 0 && d->headers)
        e->retry_after_ms = http_retry_after_ms(d->headers, d->unix_now_ms);
    e->peer_status = d->status;
    return e;
}

/* Limits of ours that an answer breaks: the provider's failure, not a wrong call of ours. */
static struct err *blame_provider(struct err *e)
{
    if (e)
        e->kind = ERR_PROVIDER_ERROR;
    return e;
}

/* --- events --- */

/* Source bytes of values are kept and sent back, so they too must be UTF-8: what is not is
 * repaired before it is parsed. */
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
    return e ? err_wrap(blame_provider(e), "the provider sent an event that cannot be read") : NULL;
}

static struct err *take_event(struct decoder *d, struct str type, struct str data)
{
    struct json *event = NULL;

    arena_clear(&d->decode.scratch);
    if (d->on_event)
        d->on_event(d->self, data);
    if (!str_eq(str_trim(data), S("[DONE]")))
        TRY(parse_event(d, data, &event));
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
    return str_trim(line).n ? take_event(d, S("message"), line) : NULL;
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

/* --- framing --- */

static bool announced_ndjson(const struct decoder *d)
{
    return d->headers &&
           str_find(http_headers_get(d->headers, "content-type"), S("ndjson")) != STR_NONE;
}

/* A '{' may open one JSON value or the first of many lines: only the byte after a first line that
 * is complete by itself can tell. */
static void sniff_object(struct decoder *d, struct str text)
{
    size_t newline = str_find_char(text, '\n');
    struct json *value;
    struct json_where where;

    if (announced_ndjson(d)) {
        d->framing = FRAMING_NDJSON;
        return;
    }
    if (newline == STR_NONE || str_trim(str_skip(text, newline)).n == 0)
        return;
    arena_clear(&d->decode.scratch);
    d->framing = json_parse_at(&d->decode.scratch, str_slice(text, 0, newline), JSON_REPAIR_UTF8,
                               &value, &where)
                     ? FRAMING_NDJSON
                     : FRAMING_JSON;
}

static void sniff(struct decoder *d)
{
    struct str text = strbuf_str(&d->whole);

    if (str_starts(text, S("\xEF\xBB\xBF")))
        text = str_skip(text, 3);
    text = str_trim(text);
    if (text.n == 0)
        return;
    if (text.p[0] == '{')
        sniff_object(d, text);
    else if (text.p[0] == '[')
        d->framing = FRAMING_JSON;
    else if (text.n >= 3 || (unsigned char)text.p[0] < 0x80) /* else it may be part of a BOM */
        d->framing = FRAMING_SSE;
}

static struct err *feed_known(struct decoder *d, struct str bytes)
{
    switch (d->framing) {
    case FRAMING_SSE:
        return drain_sse(d, bytes);
    case FRAMING_NDJSON:
        return drain_lines(d, bytes);
    case FRAMING_ERROR:
        /* More is not needed for the message. */
        strbuf_add(&d->whole, str_slice(bytes, 0, d->whole.max_bytes - d->whole.n));
        return NULL;
    case FRAMING_JSON:
    case FRAMING_UNKNOWN:
        strbuf_add(&d->whole, bytes);
        return blame_provider(strbuf_check(&d->whole, "the provider's answer"));
    }
    BUG("framing");
}

/* What was held back for sniffing. A stream may stay open for long: it keeps no buffer of that. */
static struct err *feed_first(struct decoder *d)
{
    AUTO(strbuf) struct strbuf first = d->whole;

    strbuf_init(&d->whole, first.max_bytes);
    d->is_web_page = starts_web_page(strbuf_str(&first));
    return feed_known(d, strbuf_str(&first));
}

struct err *decoder_feed(struct decoder *d, struct str bytes)
{
    if (d->framing != FRAMING_UNKNOWN)
        return feed_known(d, bytes);
    TRY(feed_known(d, bytes));
    sniff(d);
    if (d->framing == FRAMING_SSE || d->framing == FRAMING_NDJSON)
        return feed_first(d);
    return NULL;
}

/* --- the end --- */

static struct err *end_json(struct decoder *d)
{
    struct str text = strbuf_str(&d->whole);
    struct json *body = NULL;
    struct json_where where;

    arena_clear(&d->decode.scratch);
    if (str_starts(text, S("\xEF\xBB\xBF")))
        text = str_skip(text, 3);
    if (str_trim(text).n == 0)
        return err_new(ERR_NETWORK, "the provider sent an empty answer");
    if (d->on_event)
        d->on_event(d->self, text);
    text = repair(&d->decode.scratch, text);
    if (!json_parse_at(&d->decode.scratch, text, 0, &body, &where))
        return err_new(where.offset >= text.n ? ERR_NETWORK : ERR_PROVIDER_ERROR,
                       "the provider's answer cannot be read: line %zu, column %zu: %s", where.line,
                       where.column, where.reason);
    if (body->type != JSON_ARRAY)
        return d->protocol->body(&d->decode, body);
    json_each (event, body)
        TRY(d->protocol->event(&d->decode, S("message"), event));
    return d->protocol->end ? d->protocol->end(&d->decode) : NULL;
}

static struct err *end_stream(struct decoder *d)
{
    struct str line;

    if (d->framing == FRAMING_NDJSON && lines_end(&d->lines, &line))
        TRY(take_line(d, line));
    return d->protocol->end ? d->protocol->end(&d->decode) : NULL;
}

static struct err *end(struct decoder *d)
{
    switch (d->framing) {
    case FRAMING_ERROR:
        return classify(d);
    case FRAMING_SSE:
    case FRAMING_NDJSON:
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
    return err_new(ERR_NETWORK, "the stream ended before the answer was complete");
}

struct err *decoder_end(struct decoder *d)
{
    struct err *e = end(d);

    reply_finish(d->decode.reply);
    return e;
}
