/* encode.c - events to records. */
#include "session/codec/fields.h"
#include "session/codec/types.h"
#include "view/field.h"

struct codec_writer *codec_writer_new(void)
{
    struct codec_writer *w = mem_alloc(sizeof *w);

    w->pack_from = CODEC_PACK_FROM;
    return w;
}

void codec_writer_free(struct codec_writer *w)
{
    if (!w)
        return;
    codec_writer_forget(w);
    codec_stream_done(&w->stream);
    mem_free(w->packs);
    arena_done(&w->run_arena);
    mem_free(w);
}

void codec_record_done(struct codec_record *r)
{
    strbuf_done(&r->body);
    arena_done(&r->arena);
    *r = (struct codec_record){0};
}

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

/* The body is on its way as long as its record is open. */
static void join(struct codec_writer *w, struct codec_record *last, const struct event *e)
{
    struct encoding c = {.writer = w, .out = last, .event = e, .json = last->json};

    c.json.out = &last->body; /* the record may have been moved */
    codec_stream_join(&c);
    last->json = c.json;
    last->record.n_events++;
}

static void begin_record(const struct event *e, struct str type, struct codec_record *ret_record)
{
    *ret_record = (struct codec_record){.type = e->type};
    ret_record->record = (struct store_record){
        .seq = e->seq,
        .n_events = 1,
        .unix_ms = e->unix_ms,
        .type = type,
        .run_id = arena_str(&ret_record->arena, e->run_id),
        .turn = e->turn,
        .round = e->round,
        .attempt = e->attempt,
        .is_core = event_has_trait(e->type, TRAIT_CORE),
    };
}

static void write_body(struct encoding *c)
{
    const struct codec_type *type = &codec_types[c->event->type];

    codec_put_fields(c, event_fields(c->event->type), event_body(c->event));
    if (type->encode)
        type->encode(c);
}

static void write_record(struct codec_writer *w, const struct event *e, bool is_stream,
                         struct codec_record *ret_record)
{
    struct encoding c = {.writer = w, .out = ret_record, .event = e};

    begin_record(e, is_stream ? S(CODEC_STREAM) : str_of(event_type_name(e->type)), ret_record);
    jw_init(&c.json, &ret_record->body);
    jw_begin_object(&c.json);
    if (!has_usual_owner(e) && e->owner)
        field_owner_path(&c.json, "ownerPath", e->owner);
    if (is_stream)
        codec_stream_begin(&c);
    else
        write_body(&c);
    ret_record->is_open = is_stream;
    ret_record->json = c.json;
    if (!is_stream)
        jw_end_object(&ret_record->json);
}

bool codec_write(struct codec_writer *w, const struct event *e, struct codec_record *last,
                 struct codec_record *ret_record)
{
    bool is_stream = codec_is_streamed(e);
    bool joins = is_stream && codec_stream_joins(w, last, e);

    if (joins)
        join(w, last, e);
    else
        write_record(w, e, is_stream, ret_record);
    return joins;
}

void codec_record_end(struct codec_record *r)
{
    struct str *handles = ARENA_ARRAY(&r->arena, r->n_blobs, struct str);

    r->json.out = &r->body;
    if (r->is_open) {
        jw_end_array(&r->json);
        jw_end_object(&r->json);
    }
    r->is_open = false;
    for (size_t i = 0; i < r->n_blobs; i++)
        handles[i] = str_of(r->blobs[i].handle);
    r->record.payloads = handles;
    r->record.n_payloads = r->n_blobs;
    r->record.body = strbuf_str(&r->body);
}
