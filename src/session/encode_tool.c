/* encode_tool.c - calls of tools, and what is saved before they change files. */
#include "session/encode.h"

#include "view/journal_fields.h"

void codec_encode_batch(struct encoding *c)
{
    const struct event_batch *b = &c->event->body.batch;

    codec_put_text(c, "batchId", b->id);
    codec_put_name(c, "mode", b->mode);
    codec_put_int(c, "maxConcurrency", b->max_concurrency);
    codec_put_int(c, "requestCount", (int64_t)b->n_requests);
    codec_put_message(c, "message", b->message);
}

static void put_outcome(struct encoding *c, const struct event_tool *t)
{
    codec_put_true(c, "success", t->is_ok);
    codec_put_true(c, "executed", t->was_executed);
    codec_put_true(c, "denied", t->was_denied);
    codec_put_name(c, "errorCode", t->error_code);
    codec_put_json(c, "metadata", t->metadata);
    codec_put_int(c, "durationMs", (int64_t)t->duration_ms);
    codec_put_int(c, "charactersIn", (int64_t)t->n_chars_in);
    codec_put_int(c, "charactersOut", (int64_t)t->n_chars_out);
    codec_put_result(c, t->result);
}

static void put_facts(struct encoding *c, const struct event_tool *t)
{
    codec_put_text(c, "hookText", t->hook_text);
    codec_put_text(c, "refusal", t->refusal);
    codec_put_name(c, "refusalCode", t->refusal_code);
    codec_put_true(c, "stopsRun", t->stops_run);
}

void codec_encode_tool(struct encoding *c)
{
    const struct event_tool *t = &c->event->body.tool;
    enum event_type type = c->event->type;

    codec_put_text(c, "batchId", t->batch_id);
    jw_kv_int(&c->json, "index", (int64_t)t->index);
    codec_put_text(c, "toolName", t->name);
    codec_put_text(c, "toolCallId", t->call_id);
    if (t->risk)
        codec_put_name(c, "risk", risk_name(t->risk));
    if (type == EVENT_TOOL_REQUEST || type == EVENT_TOOL_EARLY)
        codec_put_json(c, "parameters", t->args);
    codec_put_text(c, "progress", t->progress);
    if (type == EVENT_TOOL_END || type == EVENT_TOOL_RESULT)
        put_outcome(c, t);
    if (type == EVENT_TOOL_DROPPED)
        codec_put_name(c, "errorCode", t->error_code);
    if (type == EVENT_TOOL_RESULT)
        put_facts(c, t);
    if (type == EVENT_TOOL_COMMITTED)
        codec_put_message(c, "message", t->message);
}

void codec_encode_snapshot(struct encoding *c)
{
    const struct snapshot_record *r = c->event->body.snapshot.record;

    journal_snapshot(&c->json, &c->event->body.snapshot);
    codec_add_handle(c, r->tree, 0);
    codec_add_handle(c, r->file.content, r->file.n_bytes);
    codec_add_handle(c, r->file.xattrs, 0);
}

void codec_encode_pre_image(struct encoding *c)
{
    const struct pre_image *image = c->event->body.image.image;

    journal_pre_image(&c->json, &c->event->body.image);
    codec_add_handle(c, image->content, image->n_bytes);
    codec_add_handle(c, image->xattrs, 0);
}
