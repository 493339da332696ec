/* decode_message.c - messages, results of tools, and the history that they make. */
#include "session/codec/decode.h"

#include "base/json_skim.h"
#include "base/uuid.h"
#include "model/message_json.h"
#include "session/codec/long_texts.h"

/* --- what is read again --- */

/* The record with this number; `ret_there` is good as long as the page and d->arena are. */
static struct err *read_record(struct decoding *d, uint64_t seq, struct store_page *page,
                               struct decoding *ret_there)
{
    struct store_query q = {.from = seq, .to = seq + 1, .n_max = 1};
    struct json *body;

    *ret_there = *d;
    if (seq < d->record->seq)
        TRY(store_read(d->reader->store, d->reader->stream, &q, page));
    if (page->n == 0 || page->records[0].seq != seq)
        return codec_broken(d, "refers to a missing record");
    TRY(json_parse(d->arena, arena_str(d->arena, page->records[0].body), 0, &body));
    ret_there->body = body;
    ret_there->record = &page->records[0];
    return NULL;
}

/* --- messages --- */

#define HELD_MAX_BYTES ((size_t)8 << 20) /* of all messages that are held, but for the last one */

/* Ids are as long as each other, and begin alike: they were made at about the same time. */
static struct seen_message *find_message(struct codec_reader *r, struct str id)
{
    for (size_t i = r->n_messages; i-- > 0;)
        if (json_same_name(id, r->messages[i].id))
            return &r->messages[i];
    return NULL;
}

static void let_go(struct codec_reader *r, struct seen_message *x)
{
    if (x->message)
        r->n_held_bytes -= x->message->arena.used_bytes;
    message_unref(TAKE(x->message));
}

static void forget_message(struct codec_reader *r, size_t at)
{
    let_go(r, &r->messages[at]);
    mem_free((char *)r->messages[at].id.p);
    memmove(r->messages + at, r->messages + at + 1, (--r->n_messages - at) * sizeof *r->messages);
}

static void hold(struct codec_reader *r, struct seen_message *x, struct message *m)
{
    x->message = message_ref(m);
    r->n_held_bytes += m->arena.used_bytes;
    for (size_t i = 0; i < r->n_messages && r->n_held_bytes > HELD_MAX_BYTES; i++) {
        struct seen_message *other = &r->messages[i];

        if (other != x)
            let_go(r, other);
    }
}

/* An id that comes again means the newer message. */
static void keep_message(struct decoding *d, struct message *m)
{
    struct codec_reader *r = d->reader;
    struct seen_message *x = find_message(r, m->id);

    if (x)
        forget_message(r, (size_t)(x - r->messages));
    if (r->n_messages == N_SEEN_MESSAGES)
        forget_message(r, 0);
    x = &r->messages[r->n_messages++];
    *x = (struct seen_message){.id = str_make(str_dup(m->id), m->id.n), .seq = d->record->seq};
    hold(r, x, m);
}

void codec_forget_reply_read(struct codec_reader *r)
{
    if (r->has_reply)
        reply_done(&r->reply);
    r->has_reply = false;
}

void codec_reader_let_go(struct codec_reader *r)
{
    for (size_t i = 0; i < r->n_messages; i++)
        let_go(r, &r->messages[i]);
    message_unref(TAKE(r->answer));
    codec_forget_reply_read(r);
    if (r->n_in_record == 0) {
        arena_done(&r->scratch);
        r->scratch = (struct arena){0};
    }
}

void codec_forget_seen(struct codec_reader *r)
{
    while (r->n_messages)
        forget_message(r, r->n_messages - 1);
    for (size_t i = 0; i < N_SEEN_RESULTS; i++)
        arena_done(&r->results[i].arena);
    r->n_results = 0;
}

/* One that is not held any more. */
static struct err *read_reply_parts(struct decoding *d, uint64_t seq, struct message *m)
{
    AUTO(store_page) struct store_page page = {0};
    AUTO(arena) struct arena a = {0};
    struct decoding from = *d, there;
    const struct json *parts;

    from.arena = &a;
    TRY(read_record(&from, seq, &page, &there));
    if (!str_is(there.record->type, event_type_name(EVENT_RESPONSE_RAW)))
        return codec_broken(d, "refers to a missing answer");
    TRY(codec_get_json(&there, "parts", &parts));
    json_each (v, parts) {
        struct part part;

        TRY(part_read(v, &a, &part));
        message_add(m, &part);
    }
    return NULL;
}

bool codec_keep_reply(struct codec_reader *r, const struct store_record *record)
{
    struct json_wanted parts = {.key = S("parts")};

    codec_forget_reply_read(r);
    r->passed.seq = 0;
    if (!json_skim(record->body, &parts, 1) || !str_starts(parts.raw, S("[")))
        return false;
    arena_clear(&r->passed.arena);
    r->passed.seq = record->seq;
    r->passed.json = arena_str(&r->passed.arena, parts.raw);
    return true;
}

/* A message with its parts is what is needed of a long answer from then on. */
static struct err *add_reply_parts(struct decoding *d, const struct json *v, struct message *m)
{
    struct codec_reader *r = d->reader;
    uint64_t seq = (uint64_t)json_int_or(json_get(v, "$reply"), 0);

    if (!r->has_reply || seq != r->reply_seq)
        return read_reply_parts(d, seq, m);
    for (size_t i = 0; i < r->reply.n_parts; i++) {
        struct part part = r->reply.parts[i].part;

        part.text = strbuf_str(&r->reply.parts[i].text);
        message_add(m, &part);
    }
    if (r->reply.n_bytes > HELD_MAX_BYTES)
        codec_forget_reply_read(r);
    return NULL;
}

/* An answer that was passed over is put where its message would have it. */
static struct err *put_passed_parts(struct decoding *d, struct json *v, bool *ret_is_whole)
{
    const struct passed_reply *passed = &d->reader->passed;
    struct json *parts;

    *ret_is_whole = !json_has(v, "$reply");
    if (*ret_is_whole || !passed->seq ||
        (uint64_t)json_int_or(json_get(v, "$reply"), 0) != passed->seq)
        return NULL;
    TRY(json_parse(d->arena, passed->json, 0, &parts));
    json_set(d->arena, v, "parts", parts);
    *ret_is_whole = true;
    return NULL;
}

static struct err *read_message(struct decoding *d, const struct json *v, struct message **ret)
{
    AUTO(message) struct message *m = NULL;
    bool is_whole;

    TRY(put_passed_parts(d, (struct json *)v, &is_whole));
    TRY(message_read(v, &m));
    if (!is_whole)
        TRY(add_reply_parts(d, v, m));
    TRY(codec_get_long_texts(d, json_get(d->body, "messageTexts"), &m->arena, m->parts,
                             m->n_parts));
    *ret = TAKE(m);
    return NULL;
}

/* What a message of this part takes, so that it is one block. */
static size_t estimate_bytes(const struct part *p)
{
    size_t n = UUID_TEXT_SIZE + (p->n_content + 1) * sizeof *p + p->text.n + p->id.n + p->name.n;

    for (size_t i = 0; i < p->n_content; i++)
        n += p->content[i].text.n + p->content[i].media.data.n + 32;
    return n + 64; /* texts end with a NUL, and are aligned */
}

static struct err *read_tool_message(struct decoding *d, struct message **ret)
{
    const struct part *part;

    TRY(codec_get_result(d, /* is_whole= */ true, &part));
    if (!part)
        return codec_broken(d, "contains no result");
    *ret = message_new(ROLE_TOOL, (struct str){0});
    arena_reserve(&(*ret)->arena, estimate_bytes(part));
    message_set_id(*ret, json_get_text(d->body, "messageId"));
    message_add(*ret, part);
    return NULL;
}

static struct err *read_message_again(struct decoding *d, struct seen_message *x)
{
    AUTO(store_page) struct store_page page = {0};
    AUTO(message) struct message *m = NULL;
    struct decoding there;
    const struct json *v;

    TRY(read_record(d, x->seq, &page, &there));
    TRY(codec_get_json(&there, "message", &v));
    if (v)
        TRY(read_message(&there, v, &m));
    else
        TRY(read_tool_message(&there, &m));
    hold(d->reader, x, m);
    return NULL;
}

struct err *codec_get_message(struct decoding *d, const char *key, struct message **ret_message)
{
    AUTO(message) struct message *m = NULL;
    struct seen_message *x;
    const struct json *v;
    struct str id;

    *ret_message = NULL;
    TRY(codec_get_json(d, key, &v));
    id = json_get_text(v, "$message");
    if (!v)
        return NULL;
    if (id.n) {
        x = find_message(d->reader, id);
        if (!x)
            return codec_broken(d, "refers to a missing message");
        if (!x->message)
            TRY(read_message_again(d, x));
        *ret_message = x->message;
        return NULL;
    }
    TRY(read_message(d, v, &m));
    keep_message(d, m);
    *ret_message = m;
    return NULL;
}

struct err *codec_decode_message(struct decoding *d)
{
    struct message *m;

    d->event->body.message.n_tool_calls = (size_t)codec_get_int(d, "toolCallsCount");
    d->event->body.message.is_aside = codec_get_bool(d, "isAside");
    TRY(codec_get_message(d, "message", &m));
    d->event->body.message.message = m;
    return m ? NULL : codec_broken(d, "contains no message");
}

/* --- results of tools --- */

static struct seen_result *find_result(struct codec_reader *r, uint64_t seq)
{
    for (size_t i = 0; i < MIN(r->n_results, (size_t)N_SEEN_RESULTS); i++)
        if (r->results[i].seq == seq)
            return &r->results[i];
    return NULL;
}

static struct seen_result *add_result(struct codec_reader *r, uint64_t seq)
{
    struct seen_result *x = &r->results[r->n_results++ % N_SEEN_RESULTS];

    arena_clear(&x->arena);
    *x = (struct seen_result){.seq = seq, .arena = x->arena};
    return x;
}

static void keep_result(struct codec_reader *r, uint64_t seq, const struct part *p)
{
    struct seen_result *x = add_result(r, seq);

    x->part = part_copy(&x->arena, p);
}

/* One that refers to another, or has long texts, is not kept: it is read again. */
bool codec_keep_result(struct codec_reader *r, const struct store_record *record)
{
    struct json_wanted wanted[] = {{.key = S("result")}, {.key = S("resultTexts")}};
    struct seen_result *x;

    if (!json_skim(record->body, wanted, ARRAY_LEN(wanted)))
        return false;
    if (!wanted[0].raw.n || wanted[1].raw.n || str_starts(wanted[0].raw, S("{\"$")))
        return true;
    x = add_result(r, record->seq);
    x->json = arena_str(&x->arena, wanted[0].raw);
    return true;
}

static struct err *get_seen(struct decoding *d, const struct seen_result *x,
                            const struct part **ret_part)
{
    struct part *part;
    struct json *v;

    *ret_part = &x->part;
    if (!x->json.n)
        return NULL;
    part = ARENA_NEW(d->arena, struct part);
    TRY(json_parse(d->arena, x->json, 0, &v));
    TRY(part_read(v, d->arena, part));
    *ret_part = part;
    return NULL;
}

static struct err *read_result(struct decoding *d, const struct json *v, bool is_whole,
                               const struct part **ret_part)
{
    struct codec_reader *r = d->reader;
    const struct json *texts = json_get(d->body, "resultTexts");
    struct part *part = ARENA_NEW(d->arena, struct part);

    TRY(part_read(v, d->arena, part));
    if (!texts)
        keep_result(r, d->record->seq, part);
    else if (is_whole)
        TRY(codec_get_long_texts(d, texts, d->arena, part, 1));
    else
        r->left = texts;
    *ret_part = part;
    return NULL;
}

/* One that is not remembered: it was long, or the reader began behind it. */
static struct err *read_result_again(struct decoding *d, uint64_t seq, bool is_whole,
                                     const struct part **ret_part)
{
    AUTO(store_page) struct store_page page = {0};
    struct decoding there;
    const struct json *v;

    TRY(read_record(d, seq, &page, &there));
    TRY(codec_get_json(&there, "result", &v));
    if (!v || json_has(v, "$result"))
        return codec_broken(d, "refers to a missing result");
    return read_result(&there, v, is_whole, ret_part);
}

struct err *codec_get_result(struct decoding *d, bool is_whole, const struct part **ret_part)
{
    const struct seen_result *seen;
    const struct json *v;
    uint64_t seq;

    *ret_part = NULL;
    TRY(codec_get_json(d, "result", &v));
    if (!v)
        return NULL;
    if (!json_has(v, "$result"))
        return read_result(d, v, is_whole, ret_part);
    seq = (uint64_t)json_int_or(json_get(v, "$result"), 0);
    seen = find_result(d->reader, seq);
    return seen ? get_seen(d, seen, ret_part) : read_result_again(d, seq, is_whole, ret_part);
}

/* --- the history --- */

static void drop_held(struct codec_reader *r)
{
    history_done(&r->held.history);
    message_unref(r->held.answer);
    r->held = (struct held_history){0};
}

void codec_reader_end_compaction(struct codec_reader *r)
{
    struct held_history *h = &r->held;

    if (!h->n_of)
        return;
    history_done(&r->history);
    message_unref(r->answer);
    r->history = h->history;
    r->n_in_history = h->n_in_history;
    r->answer = h->answer;
    r->base_seq = h->base_seq;
    r->hash = h->hash;
    r->n_hashed = h->n_hashed;
    *h = (struct held_history){0};
}

static void begin_history(struct codec_reader *r, uint64_t seq, size_t n_of)
{
    codec_reader_end_compaction(r);
    r->held = (struct held_history){.n_of = n_of,
                                    .history = r->history,
                                    .n_in_history = r->n_in_history,
                                    .answer = TAKE(r->answer),
                                    .base_seq = r->base_seq,
                                    .hash = r->hash,
                                    .n_hashed = r->n_hashed};
    r->history = (struct history){0};
    r->n_in_history = r->n_hashed = 0;
    r->base_seq = seq;
    r->hash = (struct history_hash){0};
    if (!n_of || !r->held.base_seq)
        drop_held(r);
}

/* Whoever wrote it had the same messages: their hash need not be made again. */
static void take_chain(struct codec_reader *r, const struct json *v)
{
    struct history_hash recorded;

    if ((uint64_t)json_int_or(json_get(v, "base"), 0) != r->base_seq ||
        (uint64_t)json_int_or(json_get(v, "n"), 0) != r->n_in_history ||
        !history_hash_parse(json_get_text(v, "sha256"), &recorded))
        return;
    r->hash = recorded;
    r->n_hashed = r->n_in_history;
}

struct err *codec_check_history(struct decoding *d, const char *key)
{
    struct codec_reader *r = d->reader;
    const struct json *v = json_get(json_get(d->body, key), "$history");
    char hex[SHA256_HEX_SIZE];

    if (r->core_only) { /* what is there is used, whatever is missing before it */
        take_chain(r, v);
        return NULL;
    }
    sha256_format_hex(r->hash.bytes, hex);
    if (!v || ((uint64_t)json_int_or(json_get(v, "n"), -1) == r->n_in_history &&
               str_is(json_get_text(v, "sha256"), hex)))
        return NULL;
    r->has_other_history = true;
    return codec_broken(d, "was made with a different history than the records before it");
}

static struct err *get_tool_message(struct decoding *d, struct message **ret_message)
{
    AUTO(message) struct message *m = NULL;

    TRY(read_tool_message(d, &m));
    keep_message(d, m);
    *ret_message = m;
    return NULL;
}

static void add_to_history(struct decoding *d, struct message *m)
{
    struct codec_reader *r = d->reader;

    if (!(r->leaves & CODEC_LEAVE_HISTORY))
        history_add_message(&r->history, m, d->record->unix_ms);
    if (m->role == ROLE_ASSISTANT) {
        message_unref(r->answer);
        r->answer = message_ref(m);
    }
    r->n_in_history++;
    if (r->core_only)
        return;
    history_hash_add(&r->hash, m);
    r->n_hashed++;
}

struct err *codec_decode_history(struct decoding *d)
{
    struct event_message *b = &d->event->body.message;
    struct codec_reader *r = d->reader;
    struct message *m = NULL;

    b->mutation = codec_get_word(d, "mutation");
    b->index = (size_t)codec_get_int(d, "index");
    b->n_of = (size_t)codec_get_int(d, "of");
    b->is_kept = codec_get_bool(d, "kept");
    if (!b->mutation)
        return codec_broken(d, "does not say what it changes");
    if (strcmp(b->mutation, "append") == 0)
        codec_reader_end_compaction(r);
    if (!r->base_seq || (strcmp(b->mutation, "append") != 0 && b->index == 0))
        begin_history(r, d->record->seq, b->n_of);
    if (json_has(d->body, "result"))
        TRY(get_tool_message(d, &m));
    else
        TRY(codec_get_message(d, "message", &m));
    b->message = m;
    if (m)
        add_to_history(d, m);
    if (r->held.n_of && r->n_in_history >= r->held.n_of)
        drop_held(r);
    return NULL;
}
