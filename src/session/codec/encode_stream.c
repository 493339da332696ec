/* encode_stream.c - what streams in: payloads, and the deltas that were made of them.
 *
 * Both come in turns, so they share a record; its form is told in codec.h. */
#include "session/codec/encode.h"

#include "base/utf8.h"
#include "session/codec/types.h"

void codec_stream_done(struct stream_writing *s)
{
    strbuf_done(&s->provider);
    strbuf_done(&s->api_surface);
    strbuf_done(&s->id);
    strbuf_done(&s->name);
    strbuf_done(&s->source);
    strbuf_done(&s->text);
    arena_done(&s->scratch);
    *s = (struct stream_writing){0};
}

static void set_text(struct strbuf *b, struct str text)
{
    strbuf_clear(b);
    strbuf_add(b, text);
}

/* --- payloads --- */

/* In a record it stands that deep. */
#define OPENING "[["
#define CLOSING "]]"

/* A large one leaves nothing behind for the next. */
static void forget_payload(struct stream_writing *s)
{
    if (s->source.n > CODEC_INLINE_MAX) {
        strbuf_done(&s->source);
        arena_done(&s->scratch);
    }
    strbuf_clear(&s->source);
    arena_clear(&s->scratch);
    s->strings.n = 0;
    s->has_text = false;
}

static void set_source(struct stream_writing *s, struct str bytes)
{
    strbuf_clear(&s->source);
    strbuf_add_cstr(&s->source, OPENING);
    strbuf_add(&s->source, bytes);
    strbuf_add_cstr(&s->source, CLOSING);
}

/* NULL: it is not one JSON value and nothing else. */
static const struct json *parse_payload(struct stream_writing *s, struct str bytes)
{
    const struct json *inner, *v;
    struct json_where where;
    struct json *outer;

    set_source(s, bytes);
    if (strbuf_is_over(&s->source) ||
        !json_parse_at(&s->scratch, strbuf_str(&s->source), 0, &outer, &where))
        return NULL;
    inner = json_at(outer, 0);
    v = json_at(inner, 0);
    return outer->n == 1 && json_is(inner, JSON_ARRAY) && inner->n == 1 && v->raw.n == bytes.n
               ? v
               : NULL;
}

/* Nothing in it needs an escape in JSON, nor is one. */
static bool is_plain(struct str text)
{
    return json_find_special(text, 0) == text.n && utf8_is_valid(text);
}

/* Most payloads of a stream are like the one before but for the text that a delta was made of. */
static bool is_like_last_payload(const struct stream_writing *s, struct str bytes,
                                 struct str *ret_text)
{
    if (!s->has_text || bytes.n > CODEC_INLINE_MAX || bytes.n < s->before.n + s->after.n)
        return false;
    *ret_text = str_slice(bytes, s->before.n, bytes.n - s->before.n - s->after.n);
    return str_starts(bytes, s->before) && str_ends(bytes, s->after) && is_plain(*ret_text);
}

/* All else stays as it is, and need not be looked at. */
static void replace_text(struct stream_writing *s, struct str text)
{
    set_text(&s->text, text);
    s->strings.items[s->text_place] = strbuf_str(&s->text);
}

/* Line ends would break a line of the log. */
static bool can_stand_as_it_is(const struct json *v, struct str bytes)
{
    return json_is(v, JSON_OBJECT) && !json_has(v, "$text") && !json_has(v, "$blob") &&
           memchr(bytes.p, '\n', bytes.n) == NULL;
}

static void write_payload(struct encoding *c, struct str bytes)
{
    struct stream_writing *s = &c->writer->stream;
    const struct json *v;

    forget_payload(s);
    v = parse_payload(s, bytes);
    payload_strings_of(v, &s->strings);
    s->stands_as_it_is = bytes.n <= CODEC_INLINE_MAX && can_stand_as_it_is(v, bytes);
    if (s->stands_as_it_is)
        jw_raw(&c->json, bytes);
    else if (bytes.n > CODEC_INLINE_MAX)
        codec_write_blob(c, bytes);
    else if (utf8_is_valid(bytes))
        codec_write_reference(c, "$text", bytes);
    else
        codec_write_blob(c, bytes);
}

/* One whose type must be kept beside it. */
static void write_typed_payload(struct encoding *c, struct str type, struct str bytes)
{
    struct stream_writing *s = &c->writer->stream;
    char handle[SHA256_HEX_SIZE];

    forget_payload(s);
    payload_strings_of(parse_payload(s, bytes), &s->strings);
    s->stands_as_it_is = false;
    jw_begin_object(&c->json);
    jw_kv_str(&c->json, "$event", type);
    if (bytes.n <= CODEC_INLINE_MAX && utf8_is_valid(bytes)) {
        jw_kv_str(&c->json, "$text", bytes);
    } else {
        codec_add_blob(c, bytes, handle);
        jw_kv_str(&c->json, "$blob", str_of(handle));
    }
    jw_end_object(&c->json);
}

static void write_streamed_payload(struct encoding *c, const struct native_payload *p)
{
    struct stream_writing *s = &c->writer->stream;
    struct str text, bytes = p->bytes;

    if (p->event_type.n) {
        write_typed_payload(c, p->event_type, bytes);
        return;
    }
    if (!is_like_last_payload(s, bytes, &text)) {
        write_payload(c, bytes);
        return;
    }
    replace_text(s, text);
    jw_raw(&c->json, str_slice(bytes, s->before.n - 1, text.n + 2)); /* with its quotes */
}

/* Who was asked stands in the first payload of an attempt, and where it changes. */
static void put_origin(struct encoding *c, const struct native_payload *p)
{
    struct stream_writing *s = &c->writer->stream;

    if (!str_eq(strbuf_str(&s->provider), p->provider) ||
        !str_eq(strbuf_str(&s->api_surface), p->api_surface)) {
        jw_kv_str(&c->json, "provider", p->provider);
        jw_kv_str(&c->json, "apiSurface", p->api_surface);
        set_text(&s->provider, p->provider);
        set_text(&s->api_surface, p->api_surface);
    }
    s->http_status = p->http_status;
}

static void put_hash(struct encoding *c, const struct native_payload *p)
{
    char hash[SHA256_HEX_SIZE];

    if (!p->hash)
        sha256_hex(p->bytes, hash);
    jw_kv_str(&c->json, "sha256", str_of(p->hash ? p->hash : hash));
    jw_kv_int(&c->json, "byteLength", (int64_t)p->bytes.n);
}

/* One that is no part of a stream. */
void codec_encode_payload(struct encoding *c)
{
    const struct native_payload *p = c->event->body.payload;

    put_origin(c, p);
    jw_kv_str(&c->json, "payloadKind", str_of(payload_kind_name(p->kind)));
    jw_kv_int(&c->json, "sequence", (int64_t)p->sequence);
    codec_put_int(c, "httpStatus", p->http_status);
    c->writer->stream.next_payload = p->sequence + 1;
    if (p->kind == PAYLOAD_REQUEST) {
        put_hash(c, p);
        return;
    }
    jw_key(&c->json, "payload");
    write_payload(c, p->bytes);
}

/* --- deltas --- */

static void write_text(struct encoding *c, struct str text)
{
    if (text.n > CODEC_INLINE_MAX || !utf8_is_valid(text))
        codec_write_blob(c, text);
    else
        jw_str(&c->json, text);
}

/* Where the text stands among the strings of the payload: where the last one stood, mostly. */
static bool find_text(const struct stream_writing *s, struct str text, size_t *ret_place)
{
    *ret_place = s->text_place;
    if (s->has_text && str_eq(s->strings.items[s->text_place], text))
        return true;
    for (*ret_place = 0; *ret_place < s->strings.n; ++*ret_place)
        if (str_eq(s->strings.items[*ret_place], text))
            return true;
    return false;
}

/* Only a payload that stands in its record as it is, with a text as it is, is like another. */
static void note_text(struct stream_writing *s, size_t place)
{
    struct str text = s->strings.items[place];
    const char *begin = s->source.p, *end = begin + s->source.n;

    if (s->has_text || !s->stands_as_it_is || text.p < begin || text.p >= end)
        return;
    begin += strlen(OPENING);
    end -= strlen(CLOSING);
    s->has_text = true;
    s->text_place = place;
    s->before = str_make(begin, (size_t)(text.p - begin));
    s->after = str_make(text.p + text.n, (size_t)(end - text.p) - text.n);
}

static void write_delta_text(struct encoding *c, struct str text)
{
    struct stream_writing *s = &c->writer->stream;
    size_t place;

    if (text.n == 0 || !find_text(s, text, &place)) {
        write_text(c, text);
        return;
    }
    jw_int(&c->json, (int64_t)place);
    note_text(s, place);
}

static bool is_like_last(const struct stream_writing *s, const struct delta *d)
{
    return s->has_delta && s->kind == d->kind && s->part == d->part &&
           str_eq(strbuf_str(&s->id), d->id) && str_eq(strbuf_str(&s->name), d->name);
}

static void remember_delta(struct stream_writing *s, const struct delta *d)
{
    s->has_delta = true;
    s->kind = d->kind;
    s->part = d->part;
    set_text(&s->id, d->id);
    set_text(&s->name, d->name);
}

static void write_delta(struct encoding *c, const struct delta *d)
{
    struct stream_writing *s = &c->writer->stream;

    jw_begin_array(&c->json);
    write_delta_text(c, d->text);
    if (!is_like_last(s, d)) {
        jw_str(&c->json, str_of(codec_delta_kind_name(d->kind)));
        jw_int(&c->json, (int64_t)d->part);
        if (d->id.n || d->name.n) {
            jw_str(&c->json, d->id);
            jw_str(&c->json, d->name);
        }
        remember_delta(s, d);
    }
    jw_end_array(&c->json);
}

/* One that did not stream in. */
void codec_encode_delta(struct encoding *c)
{
    const struct event_delta *b = &c->event->body.delta;
    const struct delta *d = b->delta;

    jw_kv_int(&c->json, "sequence", (int64_t)b->sequence);
    jw_key(&c->json, "delta");
    write_text(c, d->text);
    codec_put_name(c, "kind", codec_delta_kind_name(d->kind));
    codec_put_int(c, "part", (int64_t)d->part);
    codec_put_text(c, "toolCallId", d->id);
    codec_put_text(c, "toolName", d->name);
    codec_put_name(c, "source", output_source_name(b->source));
    codec_put_true(c, "isSeparator", b->is_separator);
}

/* --- their record --- */

bool codec_is_streamed(const struct event *e)
{
    if (e->type == EVENT_DELTA)
        return e->body.delta.source == SOURCE_STREAM && !e->body.delta.is_separator;
    return e->type == EVENT_NATIVE_PAYLOAD && e->body.payload->kind == PAYLOAD_STREAM_EVENT;
}

static bool is_next(const struct stream_writing *s, const struct event *e)
{
    const struct native_payload *p = e->body.payload;

    if (e->type == EVENT_DELTA)
        return e->body.delta.sequence == s->next_delta;
    return p->sequence == s->next_payload && p->http_status == s->http_status &&
           str_eq(strbuf_str(&s->provider), p->provider) &&
           str_eq(strbuf_str(&s->api_surface), p->api_surface);
}

bool codec_stream_joins(const struct codec_writer *w, const struct codec_record *last,
                        const struct event *e)
{
    return last && last->is_open && last->body.n <= CODEC_INLINE_MAX && is_next(&w->stream, e) &&
           str_eq(last->record.run_id, e->run_id) && last->record.turn == e->turn &&
           last->record.round == e->round && last->record.attempt == e->attempt;
}

static void write_entry(struct encoding *c)
{
    struct stream_writing *s = &c->writer->stream;
    const struct event *e = c->event;

    if (e->unix_ms != s->unix_ms)
        jw_int(&c->json, e->unix_ms - s->unix_ms);
    s->unix_ms = e->unix_ms;
    if (e->type == EVENT_DELTA) {
        write_delta(c, e->body.delta.delta);
        s->next_delta++;
    } else {
        write_streamed_payload(c, e->body.payload);
        s->next_payload++;
    }
}

void codec_stream_join(struct encoding *c)
{
    write_entry(c);
}

void codec_stream_begin(struct encoding *c)
{
    struct stream_writing *s = &c->writer->stream;
    const struct event *e = c->event;

    forget_payload(s);
    s->has_delta = false;
    s->unix_ms = e->unix_ms;
    if (e->type == EVENT_DELTA) {
        s->next_delta = e->body.delta.sequence;
    } else {
        s->next_payload = e->body.payload->sequence;
        put_origin(c, e->body.payload);
    }
    codec_put_int(c, "httpStatus", s->http_status);
    codec_put_int(c, "payload", (int64_t)s->next_payload);
    codec_put_int(c, "delta", (int64_t)s->next_delta);
    jw_key(&c->json, "stream");
    jw_begin_array(&c->json);
    write_entry(c);
}
