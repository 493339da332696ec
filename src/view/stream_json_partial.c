/* stream_json_partial.c - writes deltas as streaming events of the Messages API.
 *
 * In every protocol, readers see one message at a time and one block at a time, each begun before
 * its deltas. A piece for an earlier block (some protocols mix parallel calls) has that block's
 * index. */
#include "view/stream_json_line.h"

static void event_begin(struct json_writer *w, struct strbuf *out, const char *type)
{
    line_begin(w, out, "stream_event");
    jw_key(w, "event");
    jw_begin_object(w);
    jw_kv_str(w, "type", str_of(type));
}

static void event_end(struct stream_json *s, struct json_writer *w, const struct event *e)
{
    jw_end_object(w);
    line_parent(w, e);
    line_end(s, w, e);
}

static void begin_message(struct stream_json *s, const struct event *e, const struct reply *reply,
                          struct strbuf *out)
{
    struct usage nothing = USAGE_UNKNOWN;
    struct str id = message_id(s, e, reply ? reply->id : (struct str){0});
    struct json_writer w;

    event_begin(&w, out, "message_start");
    message_head(&w, id, reply && reply->model.n ? reply->model : strbuf_str(&s->model));
    message_tail(&w, reply ? &reply->usage : &nothing);
    event_end(s, &w, e);
    memset(&s->partial, 0, sizeof s->partial); /* in place: it is large for a stack */
    s->partial.is_open = true;
}

/* The signature of a block of reasoning is its last delta. */
static void sign_block(struct stream_json *s, const struct event *e, const struct reply *reply,
                       struct strbuf *out)
{
    struct partial *p = &s->partial;
    struct json_writer w;

    if (p->kind != DELTA_REASONING || !reply || p->part >= reply->n_parts ||
        reply->parts[p->part].part.signature.n == 0)
        return;
    event_begin(&w, out, "content_block_delta");
    jw_kv_int(&w, "index", p->block_of[p->part] - 1);
    jw_key(&w, "delta");
    jw_begin_object(&w);
    jw_kv_str(&w, "type", S("signature_delta"));
    jw_kv_str(&w, "signature", reply->parts[p->part].part.signature);
    jw_end_object(&w);
    event_end(s, &w, e);
}

static void stop_block(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    struct partial *p = &s->partial;
    struct json_writer w;

    event_begin(&w, out, "content_block_stop");
    jw_kv_int(&w, "index", p->block_of[p->part] - 1);
    event_end(s, &w, e);
    p->has_block = false;
}

static void end_block(struct stream_json *s, const struct event *e, const struct reply *reply,
                      struct strbuf *out)
{
    if (!s->partial.has_block)
        return;
    sign_block(s, e, reply, out);
    stop_block(s, e, out);
}

void partial_part(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct event_delta *d = &e->body.delta;
    bool has_block =
        s->partial.is_open && s->partial.has_block && s->partial.part == d->delta->part;

    if (has_block)
        sign_block(s, e, d->reply, out);
    write_part(s, e, out);
    if (has_block)
        stop_block(s, e, out);
}

static void empty_block(struct json_writer *w, const struct delta *d)
{
    bool is_server = d->kind == DELTA_SERVER_TOOL;

    jw_key(w, "content_block");
    jw_begin_object(w);
    switch (d->kind) {
    case DELTA_REASONING:
        jw_kv_str(w, "type", S("thinking"));
        jw_kv_str(w, "thinking", S(""));
        jw_kv_str(w, "signature", S(""));
        break;
    case DELTA_TOOL_BEGIN:
    case DELTA_TOOL_ARGS:
    case DELTA_SERVER_TOOL:
        jw_kv_str(w, "type", is_server ? S("server_tool_use") : S("tool_use"));
        jw_kv_str(w, "id", d->id);
        jw_kv_str(w, "name", d->name);
        jw_kv_raw(w, "input", S("{}"));
        break;
    case DELTA_TEXT:
    case DELTA_REFUSAL:
    case DELTA_END:
        jw_kv_str(w, "type", S("text"));
        jw_kv_str(w, "text", S(""));
        jw_kv_raw(w, "citations", S("null"));
        break;
    }
    jw_end_object(w);
}

static void begin_block(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct delta *d = e->body.delta.delta;
    struct partial *p = &s->partial;
    struct json_writer w;

    end_block(s, e, e->body.delta.reply, out);
    event_begin(&w, out, "content_block_start");
    jw_kv_int(&w, "index", p->n_blocks);
    empty_block(&w, d);
    event_end(s, &w, e);
    p->block_of[d->part] = (uint16_t)++p->n_blocks;
    p->part = d->part;
    p->kind = d->kind;
    p->has_block = true;
}

static void write_piece(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    static const struct {
        const char *type, *member;
    } pieces[] = {
        [DELTA_TEXT] = {"text_delta", "text"},
        [DELTA_REASONING] = {"thinking_delta", "thinking"},
        [DELTA_REFUSAL] = {"text_delta", "text"},
        [DELTA_TOOL_ARGS] = {"input_json_delta", "partial_json"},
    };
    const struct delta *d = e->body.delta.delta;
    struct json_writer w;

    event_begin(&w, out, "content_block_delta");
    jw_kv_int(&w, "index", s->partial.block_of[d->part] - 1);
    jw_key(&w, "delta");
    jw_begin_object(&w);
    jw_kv_str(&w, "type", str_of(pieces[d->kind].type));
    jw_kv_str(&w, pieces[d->kind].member, d->text);
    jw_end_object(&w);
    event_end(s, &w, e);
}

void partial_delta(struct stream_json *s, const struct event *e, struct strbuf *out)
{
    const struct event_delta *body = &e->body.delta;
    const struct delta *d = body->delta;
    bool begins = d->kind == DELTA_TOOL_BEGIN || d->kind == DELTA_SERVER_TOOL;

    /* Text that is not the model's has no block; text that is made at the end is in the result. */
    if (body->is_separator || body->source == SOURCE_FINALIZE || d->part >= REPLY_MAX_PARTS ||
        d->kind == DELTA_END)
        return;
    if (!begins && d->text.n == 0)
        return;
    if (!s->partial.is_open)
        begin_message(s, e, body->reply, out);
    if (s->partial.block_of[d->part] == 0)
        begin_block(s, e, out);
    if (!begins)
        write_piece(s, e, out);
}

static void write_message_delta(struct stream_json *s, const struct event *e,
                                const struct reply *reply, struct strbuf *out)
{
    struct json_writer w;

    event_begin(&w, out, "message_delta");
    jw_kv_raw(&w, "context_management", S("null"));
    jw_key(&w, "delta");
    jw_begin_object(&w);
    field_stop(&w, reply->stop_reason, reply->stop);
    if (str_is(reply->stop_reason, "stop_sequence"))
        jw_kv_str(&w, "stop_sequence", reply->stop_detail);
    else
        jw_kv_raw(&w, "stop_sequence", S("null"));
    jw_kv_raw(&w, "stop_details", S("null"));
    jw_kv_raw(&w, "container", S("null"));
    jw_end_object(&w);
    jw_key(&w, "usage");
    usage_block(&w, &reply->usage);
    event_end(s, &w, e);
}

void partial_end(struct stream_json *s, const struct event *e, const struct reply *reply,
                 struct strbuf *out)
{
    struct json_writer w;

    if (!s->partial.is_open)
        return;
    end_block(s, e, reply, out);
    if (reply)
        write_message_delta(s, e, reply, out);
    event_begin(&w, out, "message_stop");
    event_end(s, &w, e);
    s->partial.is_open = false;
}
