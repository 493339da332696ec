/* encode_tool.c - calls of tools, and what is saved before they change files. */
#include "session/codec/encode.h"

#include "base/base64.h"
#include "view/session_log_fields.h"

void codec_encode_batch(struct encoding *c)
{
    codec_put_message(c, "message", c->event->body.batch.message);
}

void codec_encode_tool(struct encoding *c)
{
    const struct event_tool *t = &c->event->body.tool;

    if (c->event->type == EVENT_TOOL_END || c->event->type == EVENT_TOOL_RESULT)
        codec_put_result(c, t->result);
    if (c->event->type == EVENT_TOOL_COMMITTED)
        codec_put_message(c, "message", t->message);
}

void codec_encode_snapshot(struct encoding *c)
{
    const struct snapshot_record *r = c->event->body.snapshot.record;

    session_log_snapshot(&c->json, &c->event->body.snapshot);
    codec_add_handle(c, r->tree, 0);
    codec_add_handle(c, r->file.content, r->file.n_bytes);
    codec_add_handle(c, r->file.xattrs, 0);
}

/* Log lines and exports have the hash alone. */
static void put_bytes(struct encoding *c, struct str bytes)
{
    AUTO(strbuf) struct strbuf text = {0};

    base64_add(&text, bytes);
    jw_kv_str(&c->json, "bytes", strbuf_str(&text));
}

void codec_encode_pre_image(struct encoding *c)
{
    const struct pre_image *image = c->event->body.image.image;

    session_log_pre_image(&c->json, &c->event->body.image);
    if (image->has_bytes)
        put_bytes(c, image->bytes);
    else
        codec_add_handle(c, image->content, image->n_bytes);
    codec_add_handle(c, image->xattrs, 0);
}
