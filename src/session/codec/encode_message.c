/* encode_message.c - messages, results of tools, and the history that they make. */
#include "session/codec/encode.h"

#include "model/message_json.h"
#include "session/codec/long_texts.h"

/* --- messages --- */

static bool is_known(const struct codec_writer *w, const struct message *m)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (w->messages[i] == m)
            return m->id.n > 0;
    return false;
}

/* An id that comes again means the newer message, to the reader as well. */
static struct message **place_for(struct codec_writer *w, struct str id)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (w->messages[i] && str_eq(w->messages[i]->id, id))
            return &w->messages[i];
    return &w->messages[w->next_message++ % N_KNOWN];
}

static void know_message(struct codec_writer *w, const struct message *m)
{
    struct message **place = place_for(w, m->id);

    message_unref(*place);
    *place = message_ref((struct message *)m);
}

static void message_json(const struct message *m, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    message_write_parts(&w, m);
}

static void parts_json(const struct message *m, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_array(&w);
    for (size_t i = 0; i < m->n_parts; i++)
        part_write(&w, &m->parts[i]);
    jw_end_array(&w);
}

void codec_forget_reply(struct codec_writer *w)
{
    w->reply_seq = 0;
    strbuf_done(&w->reply);
}

void codec_put_reply(struct encoding *c, const char *key, const struct reply *r)
{
    struct codec_writer *w = c->writer;
    AUTO(message)
    struct message *m = reply_to_message(r, r->id, MESSAGE_COMPLETE, (struct origin){0});

    codec_forget_reply(w);
    parts_json(m, &w->reply);
    w->reply_seq = c->event->seq;
    codec_put_json_text(c, key, strbuf_str(&w->reply));
}

/* An answer that was accepted as it came. */
static bool put_reply_message(struct encoding *c, const char *key, const struct message *m)
{
    struct codec_writer *w = c->writer;
    AUTO(strbuf) struct strbuf parts = {0};

    if (m->role != ROLE_ASSISTANT || !w->reply_seq)
        return false;
    parts_json(m, &parts);
    if (!str_eq(strbuf_str(&parts), strbuf_str(&w->reply)))
        return false;
    jw_key(&c->json, key);
    jw_begin_object(&c->json);
    jw_kv_int(&c->json, "$reply", (int64_t)w->reply_seq);
    message_write_fields(&c->json, m);
    jw_end_object(&c->json);
    codec_forget_reply(w);
    return true;
}

void codec_put_message(struct encoding *c, const char *key, const struct message *m)
{
    AUTO(long_texts) struct long_texts texts = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct message shown;

    if (!m)
        return;
    if (is_known(c->writer, m)) {
        jw_key(&c->json, key);
        codec_write_reference(c, "$message", m->id);
        return;
    }
    if (!put_reply_message(c, key, m)) {
        shown = *m;
        shown.parts = (struct part *)long_texts_take_out(&texts, m->parts, m->n_parts);
        message_json(&shown, &text);
        codec_put_json_text(c, key, strbuf_str(&text));
        codec_put_long_texts(c, "messageTexts", &texts);
    }
    know_message(c->writer, m);
}

void codec_encode_message(struct encoding *c)
{
    const struct event_message *b = &c->event->body.message;

    codec_put_int(c, "toolCallsCount", (int64_t)b->n_tool_calls);
    codec_put_true(c, "isAside", b->is_aside);
    codec_put_message(c, "message", b->message);
}

/* --- results of tools --- */

/* The part as a record has it, and its identity. */
static void hash_part(const struct part *p, struct long_texts *texts, struct strbuf *text,
                      unsigned char hash[SHA256_SIZE])
{
    struct json_writer w;
    struct sha256 h;

    jw_init(&w, text);
    part_write(&w, long_texts_take_out(texts, p, 1));
    sha256_init(&h);
    sha256_add(&h, strbuf_str(text));
    for (size_t i = 0; i < texts->n; i++)
        sha256_add(&h, str_of(texts->items[i].handle));
    sha256_end(&h, hash);
}

static uint64_t find_result(const struct codec_writer *w, const unsigned char hash[SHA256_SIZE])
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (w->results[i].seq && memcmp(w->results[i].hash, hash, SHA256_SIZE) == 0)
            return w->results[i].seq;
    return 0;
}

static void put_result_reference(struct encoding *c, uint64_t seq)
{
    jw_key(&c->json, "result");
    jw_begin_object(&c->json);
    jw_kv_int(&c->json, "$result", (int64_t)seq);
    jw_end_object(&c->json);
}

void codec_put_result(struct encoding *c, const struct part *p)
{
    AUTO(long_texts) struct long_texts texts = {0};
    AUTO(strbuf) struct strbuf text = {0};
    struct known_result known = {.seq = c->event->seq};
    uint64_t seq;

    if (!p)
        return;
    hash_part(p, &texts, &text, known.hash);
    seq = find_result(c->writer, known.hash);
    if (seq) {
        put_result_reference(c, seq);
        return;
    }
    codec_put_json_text(c, "result", strbuf_str(&text));
    codec_put_long_texts(c, "resultTexts", &texts);
    c->writer->results[c->writer->next_result++ % N_KNOWN] = known;
}

/* --- the history --- */

static void add_to_chain(struct codec_writer *w, const struct message *m)
{
    history_hash_add(&w->hash, m);
    w->n_messages++;
}

static void begin_chain(struct codec_writer *w, uint64_t base_seq)
{
    w->base_seq = base_seq;
    w->n_messages = 0;
    w->hash = (struct history_hash){0};
    w->n_packs = 0;
    codec_note_run(w, (struct str){0}, (struct str){0}, (struct str){0});
}

/* Opening a session reads from the last base on: nothing after it refers to what came before. */
void codec_writer_forget(struct codec_writer *w)
{
    for (size_t i = 0; i < N_KNOWN; i++) {
        message_unref(w->messages[i]);
        w->messages[i] = NULL;
        w->results[i] = (struct known_result){0};
    }
    codec_forget_reply(w);
}

void codec_writer_continue(struct codec_writer *w, const struct codec_position *at)
{
    w->base_seq = at->base_seq;
    w->n_messages = at->n_messages;
    w->hash = at->hash;
    for (size_t i = 0; i < at->n_packs; i++)
        codec_add_pack(w, &at->packs[i]);
    codec_note_run(w, at->run_id, at->provider, at->model);
}

uint64_t codec_writer_base(const struct codec_writer *w)
{
    return w->base_seq;
}

void codec_put_history(struct encoding *c, const char *key)
{
    const struct codec_writer *w = c->writer;
    char hex[SHA256_HEX_SIZE];

    sha256_format_hex(w->hash.bytes, hex);
    jw_key(&c->json, key);
    jw_begin_object(&c->json);
    jw_key(&c->json, "$history");
    jw_begin_object(&c->json);
    jw_kv_int(&c->json, "base", (int64_t)w->base_seq);
    jw_kv_int(&c->json, "n", (int64_t)w->n_messages);
    jw_kv_str(&c->json, "sha256", str_of(hex));
    jw_end_object(&c->json);
    jw_end_object(&c->json);
}

/* A tool's message is its result, which is in an earlier record. */
static bool put_tool_message(struct encoding *c, const struct message *m)
{
    AUTO(long_texts) struct long_texts texts = {0};
    AUTO(strbuf) struct strbuf part = {0};
    unsigned char hash[SHA256_SIZE];
    uint64_t seq;

    if (m->role != ROLE_TOOL || m->n_parts != 1)
        return false;
    hash_part(&m->parts[0], &texts, &part, hash);
    seq = find_result(c->writer, hash);
    if (!seq)
        return false;
    jw_kv_str(&c->json, "messageId", m->id);
    put_result_reference(c, seq);
    know_message(c->writer, m);
    return true;
}

void codec_encode_history(struct encoding *c)
{
    const struct event_message *b = &c->event->body.message;
    bool is_base = strcmp(b->mutation, "append") != 0 && b->index == 0;

    if (is_base || !c->writer->base_seq) {
        begin_chain(c->writer, c->event->seq);
        codec_writer_forget(c->writer);
    }
    jw_kv_str(&c->json, "mutation", str_of(b->mutation));
    jw_kv_int(&c->json, "index", (int64_t)b->index);
    codec_put_int(c, "of", (int64_t)b->n_of);
    codec_put_true(c, "kept", b->is_kept);
    if (!b->message)
        return;
    if (!put_tool_message(c, b->message))
        codec_put_message(c, "message", b->message);
    add_to_chain(c->writer, b->message);
}
