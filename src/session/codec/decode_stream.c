/* decode_stream.c - what streamed in: payloads, and the deltas that were made of them. */
#include "session/codec/decode.h"

#include "session/codec/types.h"

void codec_stream_reading_clear(struct stream_reading *s)
{
    strbuf_done(&s->provider);
    strbuf_done(&s->api_surface);
    strbuf_done(&s->like);
    *s = (struct stream_reading){0};
}

static void set_text(struct strbuf *b, struct str text)
{
    strbuf_clear(b);
    strbuf_add(b, text);
}

/* --- payloads --- */

static struct err *get_payload(struct decoding *d, const struct json *v)
{
    struct stream_reading *s = &d->reader->streaming;

    s->has_strings = s->has_text = s->stands_as_it_is = false;
    s->value = NULL;
    s->event_type = (struct str){0};
    if (json_has(v, "$text") || json_has(v, "$blob"))
        s->event_type = json_get_text(v, "$event");
    if (json_has(v, "$text")) {
        s->payload = json_get_text(v, "$text");
        return NULL;
    }
    if (json_has(v, "$blob"))
        return codec_text_of(d, v, &s->payload);
    if (!json_is(v, JSON_OBJECT))
        return codec_broken(d, "contains no payload");
    s->payload = v->raw;
    s->value = v;
    s->stands_as_it_is = true;
    return NULL;
}

/* One that is like the one before it but for its text. */
static struct err *get_like_payload(struct decoding *d, struct str text)
{
    struct stream_reading *s = &d->reader->streaming;

    if (!s->has_text)
        return codec_broken(d, "repeats a missing payload");
    strbuf_clear(&s->like);
    strbuf_add(&s->like, s->before);
    strbuf_add(&s->like, text);
    strbuf_add(&s->like, s->after);
    s->payload = strbuf_str(&s->like);
    s->event_type = (struct str){0};
    s->strings.items[s->text_place] = text;
    return NULL;
}

static void get_origin(struct decoding *d, struct native_payload *p)
{
    struct stream_reading *s = &d->reader->streaming;

    if (json_has(d->body, "provider")) {
        set_text(&s->provider, json_get_text(d->body, "provider"));
        set_text(&s->api_surface, json_get_text(d->body, "apiSurface"));
    }
    p->provider = arena_str(d->arena, strbuf_str(&s->provider));
    p->api_surface = arena_str(d->arena, strbuf_str(&s->api_surface));
}

/* One that is no part of a stream. */
struct err *codec_decode_payload(struct decoding *d)
{
    struct native_payload *p = ARENA_NEW(d->arena, struct native_payload);
    struct stream_reading *s = &d->reader->streaming;

    d->event->body.payload = p;
    get_origin(d, p);
    p->kind = CODEC_GET_NAME(d, "payloadKind", payload_kind_name, PAYLOAD_STREAM_EVENT);
    p->sequence = (uint64_t)codec_get_int(d, "sequence");
    p->http_status = (int)codec_get_int(d, "httpStatus");
    p->sha256 = json_get_text(d->body, "sha256");
    p->n_bytes = (uint64_t)codec_get_int(d, "byteLength");
    if (p->kind == PAYLOAD_REQUEST)
        return NULL;
    TRY(get_payload(d, json_get(d->body, "payload")));
    p->bytes = s->payload;
    return NULL;
}

/* --- deltas --- */

static struct err *get_kind(const struct decoding *d, const struct json *v, enum delta_kind *ret)
{
    for (int kind = DELTA_TEXT; kind <= DELTA_END; kind++)
        if (str_is(json_str(v), codec_delta_kind_name(kind))) {
            *ret = kind;
            return NULL;
        }
    return codec_broken(d, "contains a piece of an unknown kind");
}

/* What the payload says: parsed with its record, or by itself where it does not stand in it. */
static void find_strings(struct decoding *d)
{
    struct stream_reading *s = &d->reader->streaming;
    struct json_where where;
    struct json *v = NULL;

    if (s->has_strings)
        return;
    if (!s->value && json_parse_at(d->arena, s->payload, 0, &v, &where))
        s->value = v;
    payload_strings_of(s->value, &s->strings);
    s->has_strings = true;
}

/* As the writer notes it. */
static void note_text(struct stream_reading *s, size_t place)
{
    struct str text = s->strings.items[place], payload = s->payload;
    const char *end = payload.p + payload.n;

    if (s->has_text || !s->stands_as_it_is || text.p < payload.p || text.p >= end)
        return;
    s->has_text = true;
    s->text_place = place;
    s->before = str_make(payload.p, (size_t)(text.p - payload.p));
    s->after = str_make(text.p + text.n, (size_t)(end - text.p) - text.n);
}

static struct err *get_delta_text(struct decoding *d, const struct json *v, struct str *ret_text)
{
    struct stream_reading *s = &d->reader->streaming;
    int64_t place;

    if (!json_is(v, JSON_NUMBER))
        return codec_text_of(d, v, ret_text);
    find_strings(d);
    place = json_int_or(v, -1);
    if (place < 0 || (size_t)place >= s->strings.n)
        return codec_broken(d, "refers to a missing text");
    *ret_text = s->strings.items[place];
    note_text(s, (size_t)place);
    return NULL;
}

/* [text] is like the one before it; [text, kind, part] or [text, kind, part, id, name] */
static struct err *get_delta(struct decoding *d, const struct json *v, struct delta *delta)
{
    if (v->n > 1) {
        TRY(get_kind(d, json_at(v, 1), &delta->kind));
        delta->part = (size_t)json_int_or(json_at(v, 2), 0);
        delta->id = json_str(json_at(v, 3));
        delta->name = json_str(json_at(v, 4));
    }
    return get_delta_text(d, json_at(v, 0), &delta->text);
}

/* One that did not stream in. */
struct err *codec_decode_delta(struct decoding *d)
{
    struct event_delta *b = &d->event->body.delta;
    struct delta *delta = ARENA_NEW(d->arena, struct delta);

    *b = (struct event_delta){
        .delta = delta,
        .sequence = (uint64_t)codec_get_int(d, "sequence"),
        .source = CODEC_GET_NAME(d, "source", output_source_name, SOURCE_FINALIZE),
        .is_separator = codec_get_bool(d, "isSeparator"),
    };
    delta->part = (size_t)codec_get_int(d, "part");
    TRY(get_kind(d, json_get(d->body, "kind"), &delta->kind));
    TRY(codec_get_text(d, "delta", &delta->text));
    TRY(codec_get_text(d, "toolCallId", &delta->id));
    return codec_get_text(d, "toolName", &delta->name);
}

/* --- their record --- */

static void begin_stream(struct decoding *d)
{
    struct stream_reading *s = &d->reader->streaming;

    s->next = json_get(d->body, "stream") ? json_get(d->body, "stream")->first : NULL;
    s->unix_ms = d->record->unix_ms;
    s->http_status = (int)codec_get_int(d, "httpStatus");
    s->next_payload = (uint64_t)codec_get_int(d, "payload");
    s->next_delta = (uint64_t)codec_get_int(d, "delta");
    s->delta = (struct delta){0};
    s->payload = (struct str){0};
    s->value = NULL;
    s->has_strings = s->has_text = s->stands_as_it_is = false;
}

/* The next entry that is an event. A number says how much later it was. */
static const struct json *next_entry(struct stream_reading *s)
{
    const struct json *v = s->next;

    for (; json_is(v, JSON_NUMBER); v = v->next)
        s->unix_ms = (int64_t)((uint64_t)s->unix_ms + (uint64_t)json_int_or(v, 0));
    s->next = v ? v->next : NULL;
    return v;
}

static struct err *decode_streamed_delta(struct decoding *d, const struct json *v)
{
    struct stream_reading *s = &d->reader->streaming;
    struct delta *delta = ARENA_NEW(d->arena, struct delta);

    TRY(get_delta(d, v, &s->delta));
    *delta = s->delta;
    d->event->type = EVENT_DELTA;
    d->event->body.delta = (struct event_delta){.delta = delta, .sequence = s->next_delta++};
    return NULL;
}

static struct err *decode_streamed_payload(struct decoding *d, const struct json *v)
{
    struct stream_reading *s = &d->reader->streaming;
    struct native_payload *p = ARENA_NEW(d->arena, struct native_payload);

    TRY(json_is(v, JSON_STRING) ? get_like_payload(d, v->text) : get_payload(d, v));
    get_origin(d, p);
    p->kind = PAYLOAD_STREAM_EVENT;
    p->sequence = s->next_payload++;
    p->http_status = s->http_status;
    p->event_type = s->event_type;
    p->bytes = s->payload;
    d->event->type = EVENT_NATIVE_PAYLOAD;
    d->event->body.payload = p;
    return NULL;
}

struct err *codec_decode_streamed(struct decoding *d)
{
    struct stream_reading *s = &d->reader->streaming;
    const struct json *v;

    if (d->index == 0)
        begin_stream(d);
    v = next_entry(s);
    d->event->unix_ms = s->unix_ms;
    if (!v)
        return codec_broken(d, "contains fewer events than it announces");
    return v->type == JSON_ARRAY ? decode_streamed_delta(d, v) : decode_streamed_payload(d, v);
}
