/* show_json.c - a conversation for a program: one object, printed as it is read. */
#include "cli/session/show.h"

#include "model/message_json.h"
#include "view/field.h"

static struct err *flush(struct session_show *s)
{
    struct err *e = strbuf_check(&s->out, "the session");

    if (!e)
        e = cli_print(strbuf_str(&s->out));
    strbuf_clear(&s->out);
    return e;
}

/* --- the state --- */

static void write_asks(struct session_show *s)
{
    struct json_writer *w = &s->json;

    jw_key(w, "asks");
    jw_begin_array(w);
    for (size_t i = 0; i < s->loaded.n_asks; i++) {
        const struct ask *ask = &s->loaded.asks[i];

        jw_begin_object(w);
        jw_kv_str(w, "kind", str_of(ask_kind_name(ask->kind)));
        jw_kv_str(w, "toolCallId", ask->call_id);
        jw_kv_str(w, "tool", ask->tool);
        field_json(w, "input", ask->args);
        jw_kv_str(w, "text", ask->text);
        jw_kv_str(w, "rule", ask->rule);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static struct str state_of(const struct session_show *s, const struct turn_entry *t)
{
    return str_of(session_show_is_running(s, t) ? "running" : turn_state_name(t->state));
}

struct err *session_json_header(struct session_show *s)
{
    struct json_writer *w = &s->json;
    const struct loaded *l = &s->loaded;

    jw_init(w, &s->out);
    jw_begin_object(w);
    session_write_summary(w, &s->summary);
    jw_kv_str(w, "holder", s->summary.holder);
    jw_kv_str(w, "state", str_of(turn_state_name(s->state)));
    write_asks(s);
    if (usage_is_known(&l->spent.usage)) {
        jw_key(w, "usage");
        usage_write(w, &l->spent.usage);
    }
    field_usd(w, "costUsd", l->spent.microcents);
    jw_kv_bool(w, "costIsKnown", !l->spent.is_estimated && !l->spent.is_unpriced);
    jw_kv_bool(w, "costIsEstimated", l->spent.is_estimated);
    jw_key(w, "turns");
    jw_begin_array(w);
    return flush(s);
}

/* --- turns --- */

static void end_turn(struct session_show *s)
{
    if (!s->is_in_turn)
        return;
    jw_end_array(&s->json);
    jw_end_object(&s->json);
    s->is_in_turn = false;
}

static void write_end(struct session_show *s, const struct turn_entry *t)
{
    struct json_writer *w = &s->json;

    if (!t)
        return;
    jw_kv_str(w, "state", state_of(s, t));
    if (t->stop_reason.n)
        jw_kv_str(w, "stopReason", t->stop_reason);
    if (t->forced.n)
        jw_kv_str(w, "forcedFinalReason", t->forced);
    if (t->error_code.n) {
        jw_kv_str(w, "errorCode", t->error_code);
        jw_kv_str(w, "error", t->error);
    }
}

static void begin_turn(struct session_show *s, const struct event *e, const char *kind)
{
    struct json_writer *w = &s->json;
    const struct turn_entry *t = turn_list_find(&s->turns, e->turn);

    end_turn(s);
    s->is_in_turn = true;
    jw_begin_object(w);
    jw_kv_int(w, "turn", t && t->seq <= e->seq ? e->turn : 0);
    jw_kv_str(w, "kind", str_of(kind));
    jw_kv_int(w, "seq", (int64_t)e->seq);
    field_time(w, "startedAt", e->unix_ms);
    if (e->type == EVENT_RUN_BEGIN) {
        jw_kv_str(w, "prompt", e->body.run.input);
        write_end(s, t);
    }
    if (e->type == EVENT_REWOUND) {
        jw_kv_int(w, "toTurn", e->body.rewind.turn);
        jw_kv_bool(w, "conversation", e->body.rewind.takes_messages);
        jw_kv_int(w, "files", (int64_t)e->body.rewind.n_files);
    }
    jw_key(w, "messages");
    jw_begin_array(w);
}

static void write_message(struct session_show *s, const struct event *e)
{
    const struct event_message *b = &e->body.message;

    if (!b->message || b->is_kept || strcmp(b->mutation, "rewind") == 0)
        return;
    if (!s->is_in_turn)
        begin_turn(s, e, "copy");
    message_write(&s->json, b->message);
}

struct err *session_json_event(struct session_show *s, const struct event *e)
{
    if (e->type == EVENT_RUN_BEGIN)
        begin_turn(s, e, "run");
    else if (e->type == EVENT_REWOUND)
        begin_turn(s, e, "rewind");
    else if (e->type == EVENT_HISTORY)
        write_message(s, e);
    return flush(s);
}

struct err *session_json_end(struct session_show *s)
{
    end_turn(s);
    jw_end_array(&s->json);
    jw_end_object(&s->json);
    strbuf_add_char(&s->out, '\n');
    return flush(s);
}
