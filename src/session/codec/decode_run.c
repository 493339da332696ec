/* decode_run.c - sessions, runs, and what events say about them. */
#include "session/codec/fields.h"

/* --- sessions and runs --- */

struct err *codec_decode_session(struct decoding *d)
{
    struct event_session *s = &d->event->body.session;

    if (d->reader->leaves & CODEC_LEAVE_HEADS)
        return NULL;
    TRY(codec_get_text(d, "systemPrompt", &s->system));
    return codec_get_tool_set(d, &s->tools);
}

struct err *codec_decode_run(struct decoding *d)
{
    codec_reader_end_compaction(d->reader);
    d->event->history = d->reader->leaves & CODEC_LEAVE_HISTORY ? NULL : &d->reader->history;
    return codec_check_history(d, "history");
}

static struct err *get_asks(struct decoding *d, struct run_result *r)
{
    const struct json *asks = json_get(d->body, "asks");
    struct decoding one = *d;

    r->asks = ARENA_ARRAY(d->arena, asks ? asks->n : 0, struct ask);
    json_each (v, asks) {
        one.body = v;
        TRY(codec_get_fields(&one, ask_fields, &r->asks[r->n_asks++]));
    }
    return NULL;
}

static struct err *get_answer(struct decoding *d, struct str *ret_text)
{
    AUTO(strbuf) struct strbuf text = {0};
    const struct message *answer = d->reader->answer;

    if (!codec_get_bool(d, "contentIsLastMessage"))
        return codec_get_text(d, "content", ret_text);
    if (answer && answer->n_parts == 1 && answer->parts[0].kind == PART_TEXT) {
        *ret_text = answer->parts[0].text; /* which may be long */
        return NULL;
    }
    if (answer)
        message_text(answer, &text);
    *ret_text = arena_str(d->arena, strbuf_str(&text));
    return NULL;
}

struct err *codec_decode_result(struct decoding *d)
{
    struct run_result *r = d->body_of;

    d->event->history = d->reader->leaves & CODEC_LEAVE_HISTORY ? NULL : &d->reader->history;
    r->run_id = d->record->run_id;
    TRY(get_answer(d, &r->text));
    TRY(get_asks(d, r));
    return codec_check_history(d, "history");
}

/* --- context --- */

static struct err *get_context(const struct decoding *d, const char *key,
                               struct event_context *ret_context)
{
    struct decoding one = *d;

    one.body = json_get(d->body, key);
    return codec_get_fields(&one, context_fields, ret_context);
}

struct err *codec_decode_compact(struct decoding *d)
{
    TRY(get_context(d, "before", &d->event->body.compact.before));
    return get_context(d, "after", &d->event->body.compact.after);
}

/* --- the rest --- */

struct err *codec_decode_tools(struct decoding *d)
{
    return codec_get_tool_set(d, &d->event->body.tools.tools);
}

struct err *codec_decode_answer(struct decoding *d)
{
    struct answer *answer = ARENA_NEW(d->arena, struct answer);

    d->event->body.ask.answer = answer;
    answer->kind = (enum answer_kind)MIN(MAX(codec_get_int(d, "answer"), 0), N_ANSWER_KINDS - 1);
    return codec_get_fields(d, answer_fields, answer);
}

struct err *codec_decode_notice(struct decoding *d)
{
    struct event_notice *n = &d->event->body.notice;

    n->source = n->source ? n->source : "";
    return NULL;
}

struct err *codec_decode_error(struct decoding *d)
{
    d->event->body.error = codec_get_failure(d);
    return NULL;
}
