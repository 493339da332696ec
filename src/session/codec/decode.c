/* decode.c - records back to events. */
#include "session/codec/fields.h"
#include "session/codec/types.h"

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

bool codec_find_type(struct str name, enum event_type *ret_type)
{
    static const struct str names[] = {
#define X(name, text, ...) S(text),
        EVENT_TABLE(X)
#undef X
    };

    for (int t = 0; t < EVENT_N_TYPES; t++)
        if (str_eq(name, names[t])) {
            *ret_type = (enum event_type)t;
            return true;
        }
    return false;
}

/* What the fields of its body are in. */
static void *new_body(struct decoding *d)
{
    struct event *e = d->event;

    if (e->type == EVENT_ASKED || e->type == EVENT_ANSWERED)
        e->body.ask.ask = ARENA_NEW(d->arena, struct ask);
    if (e->type == EVENT_RUN_END)
        e->body.result = ARENA_NEW(d->arena, struct run_result);
    return (void *)event_body(e);
}

/* A record of a stream says itself what its events are. */
static struct err *decode_body(struct decoding *d)
{
    struct err *(*decode)(struct decoding *d);

    if (str_is(d->record->type, CODEC_STREAM))
        return codec_decode_streamed(d);
    if (!codec_find_type(d->record->type, &d->event->type))
        return codec_broken(d, "has a type that this keel does not know");
    d->body_of = new_body(d);
    TRY(codec_get_fields(d, event_fields(d->event->type), d->body_of));
    decode = codec_types[d->event->type].decode;
    return decode ? decode(d) : NULL;
}

struct err *codec_decode(struct codec_reader *r, const struct store_record *record, size_t index)
{
    struct decoding d = {.reader = r,
                         .record = record,
                         .body = r->body,
                         .index = index,
                         .arena = &r->scratch,
                         .event = &r->event};

    r->event = (struct event){.seq = record->seq + index,
                              .unix_ms = record->unix_ms,
                              .stream = r->stream,
                              .parent_stream = r->parent,
                              .run_id = record->run_id,
                              .turn = record->turn,
                              .round = record->round,
                              .attempt = record->attempt};
    TRY(decode_body(&d));
    if (record->seq >= r->passes_before)
        set_owner(&d);
    return NULL;
}
