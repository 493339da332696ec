/* requests.c - writes the requests of a session with all their content, one after the other.
 *
 * A session stores of a request only what is not stored elsewhere. Its messages are rebuilt from
 * the history: one history is in memory, as it was when the request was sent. */
#include "transcript/requests.h"

#include "view/field.h"
#include "view/session_log_fields.h"

void request_redacted_done(struct request_redacted *r)
{
    message_list_done(&r->messages);
    arena_done(&r->arena);
}

void request_redact(const struct event *e, struct request_redacted *ret)
{
    const struct model_request *sent = e->body.request.request;
    struct model_request *shown;

    *ret = (struct request_redacted){.event = *e};
    shown = arena_copy(&ret->arena, sent, sizeof *sent);
    for (size_t i = 0; i < sent->n_messages; i++)
        message_list_add(&ret->messages, redact_message(sent->messages[i]));
    shown->messages = (const struct message *const *)ret->messages.items;
    shown->n_messages = ret->messages.n;
    ret->event.body.request.request = shown;
}

/* --- the list of a record --- */

struct request_listing {
    const struct transcript *transcript;
    struct redaction *redaction;
    struct record_writer *writer;
    struct strbuf text, hidden;
};

static void request_listing_done(struct request_listing *l)
{
    strbuf_done(&l->text);
    strbuf_done(&l->hidden);
}
DEFINE_AUTO_VAL(request_listing, request_listing_done)

static struct err *add_request(struct request_listing *l, const struct event *e)
{
    AUTO(request_redacted) struct request_redacted shown;
    struct json_writer w;

    request_redact(e, &shown);
    strbuf_clear(&l->text);
    jw_init(&w, &l->text);
    jw_begin_object(&w);
    jw_kv_int(&w, "seq", (int64_t)e->seq);
    field_time(&w, "timestamp", e->unix_ms);
    jw_kv_str(&w, "executionId", e->run_id);
    jw_kv_int(&w, "turn", e->turn);
    jw_kv_int(&w, "round", e->round);
    jw_kv_int(&w, "attempt", e->attempt);
    session_log_request(&w, &shown.event.body.request, NULL);
    jw_end_object(&w);
    TRY(strbuf_check(&l->text, "a request"));
    jw_raw(record_writer_json(l->writer),
           redaction_hide_json(l->redaction, strbuf_str(&l->text), &l->hidden));
    return record_writer_flush(l->writer);
}

static struct err *add_requests(struct request_listing *l, struct codec_reader *r)
{
    const struct event *e;

    for (;;) {
        AUTO(err) struct err *failure = codec_read(r, &e);

        if (codec_reader_has_failed(r))
            return TAKE(failure);
        if (failure)
            continue; /* reported when the rest of the record was written */
        if (!e)
            return NULL;
        if (e->type == EVENT_PROVIDER_REQUEST)
            TRY(add_request(l, e));
    }
}

struct err *requests_write(const struct transcript *t, struct redaction *redaction,
                           struct record_writer *w, struct str stream)
{
    static const bool unwanted[EVENT_N_TYPES] = {
        [EVENT_NATIVE_PAYLOAD] = true, [EVENT_DELTA] = true, [EVENT_PRE_IMAGE] = true};
    AUTO(request_listing)
    struct request_listing l = {.transcript = t, .redaction = redaction, .writer = w};
    AUTO(codec_reader)
    struct codec_reader *r = codec_reader_new(t->store, stream, 1, CODEC_READ_ALL);
    struct json_writer *json = record_writer_json(w);

    codec_reader_leave(r, CODEC_LEAVE_ENDS);
    codec_reader_skip(r, unwanted);
    codec_reader_forms(r, t->find_form);
    strbuf_init(&l.text, WRITER_MAX_BYTES);
    strbuf_init(&l.hidden, WRITER_MAX_BYTES);
    jw_key(json, "requests");
    jw_begin_array(json);
    TRY(add_requests(&l, r));
    jw_end_array(json);
    return NULL;
}
