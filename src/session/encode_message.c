/* encode_message.c - messages, results of tools, and the history that they make. */
#include "session/encode.h"

#include "model/message_json.h"

/* --- messages --- */

void codec_hash_text(struct str text, unsigned char hash[SHA256_SIZE])
{
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, text);
    sha256_end(&h, hash);
}

static bool is_known(const struct codec_writer *w, struct str id,
                     const unsigned char hash[SHA256_SIZE])
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (id.n && str_eq(w->messages[i].id, id) &&
            memcmp(w->messages[i].hash, hash, SHA256_SIZE) == 0)
            return true;
    return false;
}

/* An id that comes again means the newer message, to the reader as well. */
static struct known_message *place_for(struct codec_writer *w, struct str id)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (id.n && str_eq(w->messages[i].id, id))
            return &w->messages[i];
    return &w->messages[w->next_message++ % N_KNOWN];
}

static void know_message(struct codec_writer *w, struct str id,
                         const unsigned char hash[SHA256_SIZE])
{
    struct known_message *k = place_for(w, id);

    mem_free((char *)k->id.p);
    k->id = str_make(str_dup(id), id.n);
    memcpy(k->hash, hash, SHA256_SIZE);
}

static void message_json(const struct message *m, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    message_write_parts(&w, m);
}

void codec_parts_json(const struct part *parts, size_t n, struct strbuf *out)
{
    struct json_writer w;

    jw_init(&w, out);
    jw_begin_array(&w);
    for (size_t i = 0; i < n; i++)
        part_write(&w, &parts[i]);
    jw_end_array(&w);
}

/* An answer that was accepted as it came. */
static bool put_reply_message(struct encoding *c, const char *key, const struct message *m)
{
    const struct known_result *reply = &c->writer->reply;
    AUTO(strbuf) struct strbuf parts = {0};
    unsigned char hash[SHA256_SIZE];

    if (m->role != ROLE_ASSISTANT || !reply->seq)
        return false;
    codec_parts_json(m->parts, m->n_parts, &parts);
    codec_hash_text(strbuf_str(&parts), hash);
    if (memcmp(hash, reply->hash, SHA256_SIZE) != 0)
        return false;
    jw_key(&c->json, key);
    jw_begin_object(&c->json);
    jw_kv_int(&c->json, "$reply", (int64_t)reply->seq);
    message_write_fields(&c->json, m);
    jw_end_object(&c->json);
    return true;
}

void codec_put_message(struct encoding *c, const char *key, const struct message *m)
{
    AUTO(strbuf) struct strbuf text = {0};
    unsigned char hash[SHA256_SIZE];

    if (!m)
        return;
    message_json(m, &text);
    codec_hash_text(strbuf_str(&text), hash);
    if (is_known(c->writer, m->id, hash)) {
        jw_key(&c->json, key);
        codec_write_reference(c, "$message", m->id);
        return;
    }
    if (!put_reply_message(c, key, m))
        codec_put_json_text(c, key, strbuf_str(&text));
    know_message(c->writer, m->id, hash);
}

void codec_encode_message(struct encoding *c)
{
    const struct event_message *b = &c->event->body.message;

    codec_put_int(c, "toolCallsCount", (int64_t)b->n_tool_calls);
    codec_put_message(c, "message", b->message);
}

/* --- results of tools --- */

static void hash_part(const struct part *p, struct strbuf *text, unsigned char hash[SHA256_SIZE])
{
    struct json_writer w;

    jw_init(&w, text);
    part_write(&w, p);
    codec_hash_text(strbuf_str(text), hash);
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
    AUTO(strbuf) struct strbuf text = {0};
    struct known_result known = {.seq = c->event->seq};
    uint64_t seq;

    if (!p)
        return;
    hash_part(p, &text, known.hash);
    seq = find_result(c->writer, known.hash);
    if (seq) {
        put_result_reference(c, seq);
        return;
    }
    codec_put_json_text(c, "result", strbuf_str(&text));
    c->writer->results[c->writer->next_result++ % N_KNOWN] = known;
}

/* --- the history --- */

static void add_to_chain(struct codec_writer *w, const struct message *m)
{
    chain_hash_add(&w->chain, m);
    w->n_messages++;
}

static void begin_chain(struct codec_writer *w, uint64_t base_seq)
{
    w->base_seq = base_seq;
    w->n_messages = 0;
    w->chain = (struct chain_hash){0};
}

/* Opening a session reads from the last base on: nothing after it refers to what came before. */
void codec_forget_messages(struct codec_writer *w)
{
    for (size_t i = 0; i < N_KNOWN; i++) {
        mem_free((char *)w->messages[i].id.p);
        w->messages[i] = (struct known_message){0};
        w->results[i] = (struct known_result){0};
    }
    w->reply = (struct known_result){0};
}

void codec_writer_continue(struct codec_writer *w, uint64_t base_seq, const struct history *h)
{
    begin_chain(w, base_seq);
    for (size_t i = 0; i < h->n; i++)
        if (h->entries[i].message)
            add_to_chain(w, h->entries[i].message);
}

uint64_t codec_writer_base(const struct codec_writer *w)
{
    return w->base_seq;
}

void codec_put_history(struct encoding *c, const char *key)
{
    const struct codec_writer *w = c->writer;
    char hex[SHA256_HEX_SIZE];

    sha256_format_hex(w->chain.bytes, hex);
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

/* A tool's message is its result, which stands in an earlier record. */
static bool put_tool_message(struct encoding *c, const struct message *m)
{
    AUTO(strbuf) struct strbuf part = {0}, whole = {0};
    unsigned char hash[SHA256_SIZE];
    uint64_t seq;

    if (m->role != ROLE_TOOL || m->n_parts != 1)
        return false;
    hash_part(&m->parts[0], &part, hash);
    seq = find_result(c->writer, hash);
    if (!seq)
        return false;
    jw_kv_str(&c->json, "messageId", m->id);
    put_result_reference(c, seq);
    message_json(m, &whole);
    codec_hash_text(strbuf_str(&whole), hash);
    know_message(c->writer, m->id, hash);
    return true;
}

void codec_encode_history(struct encoding *c)
{
    const struct event_message *b = &c->event->body.message;
    bool is_base = strcmp(b->mutation, "append") != 0 && b->index == 0;

    if (is_base || !c->writer->base_seq) {
        begin_chain(c->writer, c->event->seq);
        codec_forget_messages(c->writer);
    }
    jw_kv_str(&c->json, "mutation", str_of(b->mutation));
    jw_kv_int(&c->json, "index", (int64_t)b->index);
    if (!b->message)
        return;
    if (!put_tool_message(c, b->message))
        codec_put_message(c, "message", b->message);
    add_to_chain(c->writer, b->message);
}
