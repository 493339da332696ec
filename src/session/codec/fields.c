/* fields.c - rows of fields, written and read. */
#include "session/codec/fields.h"

static void put_field(struct encoding *c, const struct event_field *f, const void *body)
{
    switch (f->kind) {
    case FIELD_TEXT:
        codec_put_text(c, f->key, FIELD_OF(body, f, struct str));
        break;
    case FIELD_SHARED:
        codec_put_shared(c, f->key, FIELD_OF(body, f, struct str));
        break;
    case FIELD_WORD:
        codec_put_name(c, f->key, FIELD_OF(body, f, const char *));
        break;
    case FIELD_BOOL:
        jw_kv_bool(&c->json, f->key, FIELD_OF(body, f, bool));
        break;
    case FIELD_INT:
        jw_kv_int(&c->json, f->key, FIELD_OF(body, f, int64_t));
        break;
    case FIELD_COUNT:
        jw_kv_int(&c->json, f->key, (int64_t)field_count(f, body));
        break;
    case FIELD_ENUM:
        codec_put_name(c, f->key, f->name(FIELD_OF(body, f, int)));
        break;
    case FIELD_JSON:
    case FIELD_GIVEN:
        codec_put_json(c, f->key, FIELD_OF(body, f, const struct json *));
        break;
    case FIELD_ERROR:
        codec_put_error(c, FIELD_OF(body, f, const struct err *));
        break;
    case FIELD_USAGE:
        codec_put_usage(c, &FIELD_OF(body, f, struct usage));
        break;
    }
}

void codec_put_fields(struct encoding *c, const struct event_field *fields, const void *body)
{
    for (const struct event_field *f = fields; f->key; f++)
        if (event_field_is_of(f, c->event->type) && (f->is_kept || field_is_set(f, body)))
            put_field(c, f, body);
}

/* The first value where none has the name that stands there. */
static int get_enum(const struct decoding *d, const struct event_field *f)
{
    struct str name = json_get_text(d->body, f->key);

    for (int value = 0; f->name(value); value++)
        if (str_is(name, f->name(value)))
            return value;
    return 0;
}

static void get_count(const struct decoding *d, const struct event_field *f, void *body)
{
    uint64_t n = (uint64_t)MAX(codec_get_int(d, f->key), (int64_t)0);

    if (f->size == sizeof(unsigned))
        *FIELD_AT(body, f, unsigned) = (unsigned)n;
    else
        *FIELD_AT(body, f, uint64_t) = n;
}

static struct err *get_field(struct decoding *d, const struct event_field *f, void *body)
{
    switch (f->kind) {
    case FIELD_TEXT:
    case FIELD_SHARED:
        return codec_get_text(d, f->key, FIELD_AT(body, f, struct str));
    case FIELD_JSON:
    case FIELD_GIVEN:
        return codec_get_json(d, f->key, FIELD_AT(body, f, const struct json *));
    case FIELD_WORD:
        *FIELD_AT(body, f, const char *) = codec_get_word(d, f->key);
        return NULL;
    case FIELD_BOOL:
        *FIELD_AT(body, f, bool) = codec_get_bool(d, f->key);
        return NULL;
    case FIELD_INT:
        *FIELD_AT(body, f, int64_t) = codec_get_int(d, f->key);
        return NULL;
    case FIELD_COUNT:
        get_count(d, f, body);
        return NULL;
    case FIELD_ENUM:
        *FIELD_AT(body, f, int) = get_enum(d, f);
        return NULL;
    case FIELD_ERROR:
        *FIELD_AT(body, f, const struct err *) = codec_get_failure(d);
        return NULL;
    case FIELD_USAGE:
        codec_get_usage(d, FIELD_AT(body, f, struct usage));
        return NULL;
    }
    BUG("a field of no known kind");
}

struct err *codec_get_fields(struct decoding *d, const struct event_field *fields, void *body)
{
    for (const struct event_field *f = fields; f->key; f++)
        if (event_field_is_of(f, d->event->type) &&
            !(f->is_head && d->reader->leaves & CODEC_LEAVE_HEADS))
            TRY(get_field(d, f, body));
    return NULL;
}
