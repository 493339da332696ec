/* same_load.h - a session that is loaded to be resumed is the one that is loaded whole, and the
 * next request has the same bytes in every protocol.
 *
 * In a task. */
#ifndef KEEL_TEST_UNIT_SESSION_SAME_LOAD_H
#define KEEL_TEST_UNIT_SESSION_SAME_LOAD_H

#include "test.h"

#include "engine/request_build.h"
#include "model/message_json.h"
#include "provider/protocol.h"
#include "session/load.h"

static inline void same_load_message(struct json_writer *w, const char *key,
                                     const struct message *m)
{
    if (!m)
        return;
    jw_key(w, key);
    message_write(w, m);
}

static inline void same_load_spent(struct json_writer *w, const struct spent *s)
{
    jw_key(w, "spent");
    jw_begin_array(w);
    usage_write(w, &s->usage);
    jw_int(w, s->microcents);
    jw_bool(w, s->is_estimated);
    jw_bool(w, s->is_unpriced);
    jw_int(w, (int64_t)s->n_rounds);
    jw_int(w, (int64_t)s->n_tool_calls);
    jw_int(w, (int64_t)s->active_ms);
    jw_end_array(w);
}

static inline void same_load_open(struct json_writer *w, const struct loaded *l)
{
    jw_key(w, "outcomes");
    jw_begin_array(w);
    for (size_t i = 0; i < l->n_outcomes; i++) {
        const struct given_outcome *o = &l->outcomes[i];

        jw_str(w, o->call_id);
        jw_int(w, (int64_t)o->index);
        jw_int(w, o->outcome);
        jw_str(w, str_of(o->error_code));
        if (o->result)
            part_write(w, o->result);
    }
    jw_end_array(w);
    jw_key(w, "asks");
    jw_begin_array(w);
    for (size_t i = 0; i < l->n_asks; i++) {
        jw_int(w, l->asks[i].kind);
        jw_str(w, l->asks[i].call_id);
        jw_str(w, l->asks[i].tool);
        jw_str(w, l->asks[i].text);
        jw_str(w, l->asks[i].rule);
    }
    jw_end_array(w);
}

static inline void same_load_lost(struct json_writer *w, const struct lost_attempt *l)
{
    if (!l->is_there)
        return;
    jw_key(w, "lost");
    jw_begin_array(w);
    jw_str(w, l->provider);
    jw_str(w, l->model);
    jw_int(w, l->round);
    jw_int(w, l->number);
    jw_bool(w, l->is_aside);
    jw_str(w, l->call_id);
    usage_write(w, &l->settled.usage);
    jw_int(w, l->settled.microcents);
    jw_bool(w, l->settled.is_estimated);
    jw_end_array(w);
}

static inline void same_load_turn(struct json_writer *w, const struct turn_progress *t)
{
    jw_key(w, "turn");
    jw_begin_array(w);
    jw_int(w, t->n_rounds);
    jw_int(w, t->forced);
    jw_int(w, t->n_corrections);
    jw_bool(w, t->called_unknown);
    jw_bool(w, t->stop_hook_active);
    jw_end_array(w);
}

static inline void same_load_request(struct json_writer *w, const struct history *h,
                                     const char *protocol)
{
    static const struct dialect plain;
    const struct request_target target = {
        .provider = S("p"), .protocol = str_of(protocol), .form = protocol_form(str_of(protocol))};
    AUTO(built_messages) struct built_messages built;
    AUTO(strbuf) struct strbuf body = {0};
    char hash[SHA256_HEX_SIZE];
    size_t n;
    const struct message *const *messages = history_messages(h, &n);

    request_build(messages, n, &target, NULL, 0, &built);
    assert_ok(
        protocol_find(target.protocol)
            ->encode(&(struct model_request){.provider = target.provider,
                                             .protocol = target.protocol,
                                             .model = S("m"),
                                             .messages = (const struct message *const *)built.items,
                                             .n_messages = built.n},
                     &plain, &body));
    sha256_hex(strbuf_str(&body), hash);
    jw_kv_str(w, protocol, str_of(hash));
}

static inline void same_load_conversation(struct json_writer *w, const struct conversation *c)
{
    struct state_entry x;
    size_t at = 0;

    jw_kv_int(w, "nextSeq", (int64_t)c->stream.next_seq);
    jw_kv_int(w, "runs", c->stream.turn);
    jw_key(w, "state");
    jw_begin_object(w);
    while (tool_state_walk(c->state, &at, &x)) {
        jw_key_str(w, x.key);
        jw_json(w, x.value);
    }
    jw_end_object(w);
    same_load_request(w, &c->history, "anthropic-messages");
    same_load_request(w, &c->history, "openai-chat");
    same_load_request(w, &c->history, "openai-responses");
    same_load_request(w, &c->history, "gemini");
    same_load_request(w, &c->history, "ollama");
    jw_key(w, "history");
    jw_begin_array(w);
    for (size_t i = 0; i < c->history.n_messages; i++) {
        jw_int(w, c->history.unix_ms[i]);
        message_write(w, c->history.messages[i]);
    }
    jw_end_array(w);
}

static inline void same_load_write(struct strbuf *out, const struct loaded *l,
                                   const struct conversation *c, bool has_turn)
{
    char hash[SHA256_HEX_SIZE];
    struct json_writer w;

    sha256_format_hex(l->hash.bytes, hash);
    jw_init(&w, out);
    jw_begin_object(&w);
    jw_kv_int(&w, "base", (int64_t)l->base_seq);
    jw_kv_str(&w, "hash", str_of(hash));
    jw_kv_int(&w, "lastRun", l->last_run);
    jw_kv_str(&w, "run", l->run_id);
    jw_kv_str(&w, "provider", l->provider);
    jw_kv_str(&w, "model", l->model);
    jw_kv_str(&w, "notice", l->notice);
    jw_kv_bool(&w, "isDamaged", l->is_damaged);
    same_load_message(&w, "prompt", l->prompt);
    same_load_message(&w, "partial", l->partial);
    same_load_open(&w, l);
    same_load_lost(&w, &l->lost);
    same_load_spent(&w, &l->spent);
    if (has_turn)
        same_load_turn(&w, &l->turn);
    same_load_conversation(&w, c);
    jw_end_object(&w);
}

/* Both ways; each as text. True: the short way has left something out. */
static inline bool same_load_both(struct store *s, struct str id, struct strbuf *ret_whole,
                                  struct strbuf *ret_short)
{
    AUTO(conversation) struct conversation c = {0}, c2 = {0};
    AUTO(loaded) struct loaded whole = {0}, shorter = {0};
    bool lacks_turn;

    conversation_init(&c, id, S("/tmp"));
    conversation_init(&c2, id, S("/tmp"));
    assert_ok(session_load(s, id, 0, &c, &whole));
    assert_ok(session_load_to_resume(s, id, &c2, &shorter));
    lacks_turn = shorter.lacks_turn;
    assert_false(whole.lacks_turn);
    same_load_write(ret_whole, &whole, &c, !lacks_turn);
    same_load_write(ret_short, &shorter, &c2, !lacks_turn);
    return lacks_turn;
}

static inline bool assert_same_load(struct store *s, struct str id)
{
    AUTO(strbuf) struct strbuf whole = {0}, shorter = {0};
    bool lacks_turn = same_load_both(s, id, &whole, &shorter);

    assert_str(strbuf_str(&shorter), strbuf_cstr(&whole));
    return lacks_turn;
}

#endif
