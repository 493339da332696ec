/* encode_run.c - sessions, runs, and what events say about them. */
#include "port/stored_result.h"
#include "session/codec/fields.h"

/* --- sessions and runs --- */

void codec_encode_session(struct encoding *c)
{
    const struct event_session *s = &c->event->body.session;

    if (c->event->type == EVENT_SESSION_BEGIN)
        codec_note_run(c->writer, c->writer->run_id, s->provider, s->model);
    codec_put_system(c, "systemPrompt", s->system);
    if (s->tools)
        codec_put_schemas(c, s->tools);
}

void codec_encode_run(struct encoding *c)
{
    const struct event_run *r = &c->event->body.run;

    if (c->event->type == EVENT_RUN_BEGIN)
        codec_note_run(c->writer, c->event->run_id, r->provider, r->model);
    codec_put_history(c, "history");
}

/* The answer is in the history already. */
static void put_answer(struct encoding *c, struct str text)
{
    const struct history *h = c->event->history;
    AUTO(strbuf) struct strbuf last = {0};

    for (size_t i = h ? h->n_messages : 0; i-- > 0;)
        if (h->messages[i]->role == ROLE_ASSISTANT) {
            message_text(h->messages[i], &last);
            break;
        }
    if (text.n && str_eq(strbuf_str(&last), text))
        codec_put_true(c, "contentIsLastMessage", true);
    else
        codec_put_text(c, "content", text);
}

static void put_asks(struct encoding *c, const struct run_result *r)
{
    if (!r->n_asks)
        return;
    jw_key(&c->json, "asks");
    jw_begin_array(&c->json);
    for (size_t i = 0; i < r->n_asks; i++) {
        jw_begin_object(&c->json);
        codec_put_fields(c, ask_fields, &r->asks[i]);
        jw_end_object(&c->json);
    }
    jw_end_array(&c->json);
}

void codec_encode_result(struct encoding *c)
{
    const struct run_result *r = c->event->body.result;

    put_answer(c, r->text);
    put_asks(c, r);
    codec_put_history(c, "history");
}

/* --- context --- */

static void put_context(struct encoding *c, const char *key, const struct event_context *x)
{
    jw_key(&c->json, key);
    jw_begin_object(&c->json);
    codec_put_fields(c, context_fields, x);
    jw_end_object(&c->json);
}

void codec_encode_compact(struct encoding *c)
{
    put_context(c, "before", &c->event->body.compact.before);
    put_context(c, "after", &c->event->body.compact.after);
}

/* --- the rest --- */

void codec_encode_tools(struct encoding *c)
{
    const struct tool_set *set = c->event->body.tools.tools;

    jw_kv_int(&c->json, "toolsVersion", (int64_t)set->version);
    codec_put_schemas(c, set);
}

/* A result that was too long for the model: its state names the blob that holds it. */
static void add_stored_result(struct encoding *c, struct str key, const struct json *value)
{
    struct stored_result stored;

    if (stored_result_read(key, value, &stored))
        codec_add_handle(c, stored.sha256, 0);
}

void codec_encode_state(struct encoding *c)
{
    add_stored_result(c, c->event->body.state.key, c->event->body.state.value);
}

void codec_encode_answer(struct encoding *c)
{
    const struct answer *answer = c->event->body.ask.answer;

    jw_kv_int(&c->json, "answer", answer->kind);
    codec_put_fields(c, answer_fields, answer);
}

void codec_encode_checkpoint(struct encoding *c)
{
    json_each (value, c->event->body.checkpoint.state)
        add_stored_result(c, value->key, value);
    codec_put_pack(c);
}

void codec_encode_error(struct encoding *c)
{
    codec_put_error(c, c->event->body.error);
}
