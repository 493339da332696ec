/* decode_message.c - messages, results of tools, and the history that they make. */
#include "session/decode.h"

#include "model/message_json.h"

/* --- messages --- */

static struct message *find_message(const struct codec_reader *r, struct str id)
{
    for (size_t i = r->n_messages; i-- > 0;)
        if (str_eq(r->messages[i]->id, id))
            return r->messages[i];
    return NULL;
}

static void keep_message(struct codec_reader *r, struct message *m)
{
    r->messages =
        arena_grow(&r->arena, r->messages, r->n_messages, &r->messages_room, sizeof *r->messages);
    r->messages[r->n_messages++] = message_ref(m);
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

static const struct part *find_result(const struct codec_reader *r, uint64_t seq)
{
    for (size_t i = r->n_results; i-- > 0;)
        if (r->results[i].seq == seq)
            return &r->results[i].part;
    return NULL;
}

struct err *codec_get_result(struct decoding *d, const struct part **ret_part)
{
    struct codec_reader *r = d->reader;
    const struct json *v;
    struct part part;

    *ret_part = NULL;
    TRY(codec_get_json(d, "result", &v));
    if (!v)
        return NULL;
    if (json_has(v, "$result")) {
        *ret_part = find_result(r, (uint64_t)json_int_or(json_get(v, "$result"), 0));
        return *ret_part ? NULL : codec_broken(d, "refers to a result that is not there");
    }
    TRY(part_read(v, d->arena, &part));
    r->results =
        arena_grow(&r->arena, r->results, r->n_results, &r->results_room, sizeof *r->results);
    r->results[r->n_results] = (struct seen_result){d->record->seq, part_copy(&r->arena, &part)};
    *ret_part = &r->results[r->n_results++].part;
    return NULL;
}

/* --- the history --- */

static void begin_history(struct codec_reader *r, uint64_t seq)
{
    history_done(&r->history);
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
    if (!v || ((uint64_t)json_int_or(json_get(v, "n"), -1) == r->history.n_messages &&
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
    if (!m)
        return NULL;
    history_add_message(&r->history, m, d->record->unix_ms);
    chain_hash_add(&r->chain, m);
    return NULL;
}
