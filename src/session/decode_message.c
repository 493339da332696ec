/* decode_message.c - messages, results of tools, and the history that they make. */
#include "session/decode.h"

#include "model/message_json.h"

/* --- messages --- */

#define RECENT_MAX_BYTES ((size_t)8 << 20) /* of all of them */
#define RECENT_MIN 4                       /* are kept whatever their size */

static struct message *find_message(const struct codec_reader *r, struct str id)
{
    for (size_t i = r->recent.n; i-- > 0;)
        if (str_eq(r->recent.items[i]->id, id))
            return r->recent.items[i];
    return NULL;
}

static void drop_oldest(struct recent_messages *l)
{
    l->n_bytes -= l->items[0]->arena.used_bytes;
    message_unref(l->items[0]);
    memmove(l->items, l->items + 1, --l->n * sizeof l->items[0]);
}

static void keep_message(struct codec_reader *r, struct message *m)
{
    struct recent_messages *l = &r->recent;

    if (l->n == N_RECENT)
        drop_oldest(l);
    l->items[l->n++] = message_ref(m);
    l->n_bytes += m->arena.used_bytes;
    while (l->n > RECENT_MIN && l->n_bytes > RECENT_MAX_BYTES)
        drop_oldest(l);
}

void codec_recent_done(struct codec_reader *r)
{
    while (r->recent.n)
        drop_oldest(&r->recent);
    for (size_t i = 0; i < N_RECENT; i++)
        arena_done(&r->results[i].arena);
    message_unref(TAKE(r->answer));
}

static struct err *add_reply_parts(struct decoding *d, const struct json *v, struct message *m)
{
    const struct codec_reader *r = d->reader;

    if (!r->has_reply || (uint64_t)json_int_or(json_get(v, "$reply"), 0) != r->reply_seq)
        return codec_broken(d, "refers to an answer that is not there");
    for (size_t i = 0; i < r->reply.n_parts; i++)
        message_add(m, &r->reply.parts[i].part);
    return NULL;
}

struct err *codec_get_message(struct decoding *d, const char *key, struct message **ret_message)
{
    AUTO(message) struct message *m = NULL;
    const struct json *v;
    struct str id;

    *ret_message = NULL;
    TRY(codec_get_json(d, key, &v));
    id = json_get_text(v, "$message");
    if (!v)
        return NULL;
    if (id.n) {
        *ret_message = find_message(d->reader, id);
        return *ret_message ? NULL : codec_broken(d, "refers to a message that is not there");
    }
    TRY(message_read(v, &m));
    if (json_has(v, "$reply"))
        TRY(add_reply_parts(d, v, m));
    keep_message(d->reader, m);
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
    return m ? NULL : codec_broken(d, "holds no message");
}

/* --- results of tools --- */

#define HELD_MAX_BYTES ((size_t)64 << 10) /* a longer result is read again when it is named */

static const struct part *find_result(const struct codec_reader *r, uint64_t seq)
{
    for (size_t i = 0; i < N_RECENT; i++)
        if (r->results[i].seq == seq)
            return &r->results[i].part;
    return NULL;
}

static size_t size_of(const struct part *p)
{
    size_t n = p->text.n + p->media.data.n;

    for (size_t i = 0; i < p->n_content; i++)
        n += size_of(&p->content[i]);
    return n;
}

static void hold_result(struct codec_reader *r, uint64_t seq, const struct part *p)
{
    struct seen_result *place;

    if (size_of(p) > HELD_MAX_BYTES)
        return;
    place = &r->results[r->n_results++ % N_RECENT];
    arena_clear(&place->arena);
    place->seq = seq;
    place->part = part_copy(&place->arena, p);
}

/* From the record that holds it. */
static struct err *load_result(struct decoding *d, uint64_t seq, const struct part **ret_part)
{
    struct store_query q = {.from = seq, .to = seq + 1, .n_max = 1};
    AUTO(store_page) struct store_page page = {0};
    struct decoding there = *d;
    const struct json *v = NULL;
    struct json *body;
    struct part *part = ARENA_NEW(d->arena, struct part);

    if (seq >= d->record->seq)
        return codec_broken(d, "refers to a result that is not there");
    TRY(store_read(d->reader->store, d->reader->stream, &q, &page));
    if (page.n == 1 && page.records[0].seq == seq) {
        TRY(json_parse(d->arena, arena_str(d->arena, page.records[0].body), 0, &body));
        there.body = body;
        TRY(codec_get_json(&there, "result", &v));
    }
    if (!v || json_has(v, "$result"))
        return codec_broken(d, "refers to a result that is not there");
    TRY(part_read(v, d->arena, part));
    *ret_part = part;
    return NULL;
}

/* Nobody who passes by wants all that a tool has printed. */
static bool stays_unread(const struct decoding *d)
{
    const struct json *v = json_get(d->body, "result");

    return d->reader->is_passing && d->event->type == EVENT_TOOL_END && json_has(v, "$blob");
}

struct err *codec_get_result(struct decoding *d, const struct part **ret_part)
{
    const struct json *v;
    struct part *part;

    *ret_part = NULL;
    if (stays_unread(d)) {
        d->reader->unread_result = json_get(d->body, "result");
        return NULL;
    }
    TRY(codec_get_json(d, "result", &v));
    if (!v)
        return NULL;
    if (json_has(v, "$result")) {
        uint64_t seq = (uint64_t)json_int_or(json_get(v, "$result"), 0);

        *ret_part = find_result(d->reader, seq);
        return *ret_part ? NULL : load_result(d, seq, ret_part);
    }
    part = ARENA_NEW(d->arena, struct part);
    TRY(part_read(v, d->arena, part));
    hold_result(d->reader, d->record->seq, part);
    *ret_part = part;
    return NULL;
}

/* --- the history --- */

static void begin_history(struct codec_reader *r, uint64_t seq)
{
    history_done(&r->history);
    message_unref(TAKE(r->answer));
    r->n_in_history = 0;
    r->base_seq = seq;
    r->chain = (struct chain_hash){0};
}

struct err *codec_check_history(struct decoding *d, const char *key)
{
    struct codec_reader *r = d->reader;
    const struct json *v = json_get(json_get(d->body, key), "$history");
    char hex[SHA256_HEX_SIZE];

    if (r->core_only)
        return NULL; /* what is there is used, whatever is missing before it */
    sha256_format_hex(r->chain.bytes, hex);
    if (!v || ((uint64_t)json_int_or(json_get(v, "n"), -1) == r->n_in_history &&
               str_is(json_get_text(v, "sha256"), hex)))
        return NULL;
    r->has_other_history = true;
    return codec_broken(d, "was made with another history than the records before it");
}

static struct err *make_tool_message(struct decoding *d, struct message **ret_message)
{
    const struct part *part;

    TRY(codec_get_result(d, &part));
    *ret_message = message_new(ROLE_TOOL, json_get_text(d->body, "messageId"));
    message_add(*ret_message, part);
    keep_message(d->reader, *ret_message);
    message_unref(*ret_message);
    return NULL;
}

static void add_to_history(struct decoding *d, struct message *m)
{
    struct codec_reader *r = d->reader;

    if (!r->is_passing)
        history_add_message(&r->history, m, d->record->unix_ms);
    if (m->role == ROLE_ASSISTANT) {
        message_unref(r->answer);
        r->answer = message_ref(m);
    }
    r->n_in_history++;
    chain_hash_add(&r->chain, m);
}

struct err *codec_decode_history(struct decoding *d)
{
    struct event_message *b = &d->event->body.message;
    struct codec_reader *r = d->reader;
    struct message *m = NULL;

    b->mutation = codec_get_word(d, "mutation");
    b->index = (size_t)codec_get_int(d, "index");
    if (!b->mutation)
        return codec_broken(d, "does not say what it changes");
    if (!r->base_seq || (strcmp(b->mutation, "append") != 0 && b->index == 0))
        begin_history(r, d->record->seq);
    if (json_has(d->body, "result"))
        TRY(make_tool_message(d, &m));
    else
        TRY(codec_get_message(d, "message", &m));
    b->message = m;
    if (m)
        add_to_history(d, m);
    return NULL;
}
