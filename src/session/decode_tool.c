/* decode_tool.c - calls of tools, and what was saved before they changed files. */
#include "session/decode.h"

#include "view/journal_fields.h"

struct err *codec_decode_batch(struct decoding *d)
{
    struct event_batch *b = &d->event->body.batch;
    struct message *m;

    b->mode = codec_get_word(d, "mode");
    b->max_concurrency = (unsigned)codec_get_int(d, "maxConcurrency");
    b->n_requests = (size_t)codec_get_int(d, "requestCount");
    TRY(codec_get_text(d, "batchId", &b->id));
    TRY(codec_get_message(d, "message", &m));
    b->message = m;
    return NULL;
}

struct err *codec_decode_tool(struct decoding *d)
{
    struct event_tool *t = &d->event->body.tool;
    unsigned left = d->event->type == EVENT_TOOL_END ? CODEC_LEAVE_ENDS : CODEC_LEAVE_RESULTS;
    struct message *m;

    t->index = (size_t)codec_get_int(d, "index");
    t->risk = (enum risk)CODEC_GET_NAME(d, "risk", risk_name, RISK_NETWORK);
    t->is_ok = codec_get_bool(d, "success");
    t->was_executed = codec_get_bool(d, "executed");
    t->was_denied = codec_get_bool(d, "denied");
    t->error_code = codec_get_word(d, "errorCode");
    t->refusal_code = codec_get_word(d, "refusalCode");
    t->stops_run = codec_get_bool(d, "stopsRun");
    t->duration_ms = (uint64_t)codec_get_int(d, "durationMs");
    t->n_chars_in = (size_t)codec_get_int(d, "charactersIn");
    t->n_chars_out = (size_t)codec_get_int(d, "charactersOut");
    TRY(codec_get_text(d, "batchId", &t->batch_id));
    TRY(codec_get_text(d, "toolName", &t->name));
    TRY(codec_get_text(d, "toolCallId", &t->call_id));
    TRY(codec_get_text(d, "progress", &t->progress));
    TRY(codec_get_text(d, "hookText", &t->hook_text));
    TRY(codec_get_text(d, "refusal", &t->refusal));
    TRY(codec_get_json(d, "parameters", &t->args));
    TRY(codec_get_json(d, "metadata", &t->metadata));
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
