/* decode_tool.c - calls of tools, and what was saved before they changed files. */
#include "session/codec/decode.h"

#include "view/session_log_fields.h"

struct err *codec_decode_batch(struct decoding *d)
{
    struct event_batch *b = &d->event->body.batch;
    struct message *m;

    TRY(codec_get_message(d, "message", &m));
    b->message = m;
    return NULL;
}

struct err *codec_decode_tool(struct decoding *d)
{
    struct event_tool *t = &d->event->body.tool;
    unsigned left = d->event->type == EVENT_TOOL_END ? CODEC_LEAVE_ENDS : CODEC_LEAVE_RESULTS;
    struct message *m;

    TRY(codec_get_result(d, !(d->reader->leaves & left), &t->result));
    TRY(codec_get_message(d, "message", &m));
    t->message = m;
    return NULL;
}

struct err *codec_decode_snapshot(struct decoding *d)
{
    d->event->body.snapshot = (struct event_snapshot){
        .call_id = json_get_text(d->body, "toolCallId"),
        .record = snapshot_record_parse(d->body, d->arena),
    };
    return NULL;
}

struct err *codec_decode_pre_image(struct decoding *d)
{
    d->event->body.image = (struct event_image){
        .call_id = json_get_text(d->body, "toolCallId"),
        .image = pre_image_parse(d->body, d->arena),
    };
    return NULL;
}
