/* answer.h - what must hold for every protocol, whatever a provider sends: it reads the same whole
 * and in pieces, and what was read can be sent back as a valid request. */
#ifndef KEEL_TEST_FUZZ_ANSWER_H
#define KEEL_TEST_FUZZ_ANSWER_H

#include "provider/decode.h"

/* `max_events`: small enough for a fuzzer's input to reach it, or the real one. */
static inline struct err *read_answer(const struct protocol *protocol, int status,
                                      size_t max_events, struct str body, size_t piece,
                                      struct reply *reply)
{
    AUTO(decoder) struct decoder decoder;

    decoder_init(&decoder, protocol, status, NULL, 0, reply);
    decoder_limit(&decoder, DECODE_MAX_EVENT, max_events);
    for (; body.n; body = str_skip(body, piece)) {
        struct err *e = decoder_feed(&decoder, str_slice(body, 0, piece));
        if (e) {
            reply_finish(reply);
            return e;
        }
    }
    return decoder_end(&decoder);
}

/* What a watcher hears of parts that have ended; it hears of each once. */
struct told_ends {
    struct reply *reply;
    struct strbuf told;
    bool *is_told; /* by part */
};

static inline void told_ends_done(struct told_ends *e)
{
    strbuf_done(&e->told);
    mem_free(e->is_told);
}
DEFINE_AUTO_VAL(told_ends, told_ends_done)

static inline void note_end(void *self, size_t index)
{
    struct told_ends *e = self;
    const struct part *p = reply_part(e->reply, index);

    if (!e->is_told)
        e->is_told = mem_alloc(REPLY_MAX_PARTS * sizeof *e->is_told);
    BUG_IF(e->is_told[index] || (p->kind == PART_TOOL_CALL && p->id.n == 0));
    e->is_told[index] = true;
    strbuf_addf(&e->told, "%zu %" STR_FMT " %" STR_FMT " %" STR_FMT "\n", index, STR_ARG(p->id),
                STR_ARG(reply_part_args(e->reply, index)),
                STR_ARG(reply_part_text(e->reply, index)));
}

static inline void check_same(const struct reply *a, const struct reply *b)
{
    BUG_IF(a->n_parts != b->n_parts);
    for (size_t i = 0; i < a->n_parts; i++) {
        const struct part *p = &a->parts[i].part, *q = &b->parts[i].part;

        BUG_IF(p->kind != q->kind || !str_eq(p->id, q->id) || !str_eq(p->name, q->name));
        BUG_IF(!str_eq(p->args, q->args) || !str_eq(p->native, q->native));
        BUG_IF(!str_eq(reply_part_text(a, i), reply_part_text(b, i)));
    }
    BUG_IF(!str_eq(a->stop_reason, b->stop_reason) || a->usage.output != b->usage.output);
}

static inline struct message *answer_calls(const struct message *m)
{
    struct message *results = message_new(ROLE_TOOL, S("results"));
    struct part text = {.kind = PART_TEXT, .text = S("done")};

    for (size_t i = 0; i < m->n_parts; i++)
        if (m->parts[i].kind == PART_TOOL_CALL)
            message_add(results, &(struct part){.kind = PART_TOOL_RESULT,
                                                .id = m->parts[i].id,
                                                .name = m->parts[i].name,
                                                .content = &text,
                                                .n_content = 1});
    return results;
}

static inline void check_goes_back(const struct protocol *protocol, const struct reply *reply,
                                   const struct dialect *dialect)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf body = {0};
    AUTO(message)
    struct message *m = reply_to_message(reply, S("answer"), MESSAGE_COMPLETE,
                                         (struct origin){.provider = S("here")});
    AUTO(message) struct message *results = answer_calls(m);
    const struct message *const messages[] = {m, results};
    struct model_request r = {.provider = S("here"),
                              .model = S("model"),
                              .messages = messages,
                              .n_messages = ARRAY_LEN(messages)};
    AUTO(err) struct err *e = protocol->encode(&r, dialect, &body);
    struct json_where where;
    struct json *v;

    BUG_IF(!e && !json_parse_at(&a, strbuf_str(&body), 0, &v, &where));
}

/* The first byte of the input says how the rest is cut, whether it is an error's body, and whether
 * it may have few events only. */
static inline void check_answer(const struct protocol *protocol, const struct dialect *dialect,
                                const uint8_t *data, size_t size)
{
    AUTO(reply) struct reply whole, pieces;
    AUTO(told_ends) struct told_ends whole_ends = {.reply = &whole};
    AUTO(told_ends) struct told_ends pieces_ends = {.reply = &pieces};
    struct str body = str_make((const char *)data + 1, size ? size - 1 : 0);
    int status = size && data[0] & 0x80 ? 400 : 200;
    size_t max_events = size && data[0] & 0x40 ? 3 : DECODE_MAX_EVENTS;
    AUTO(err) struct err *whole_error = NULL, *pieces_error = NULL;

    reply_init(&whole, (struct delta_sink){.self = &whole_ends, .on_close = note_end});
    reply_init(&pieces, (struct delta_sink){.self = &pieces_ends, .on_close = note_end});
    if (size == 0)
        return;
    whole_error = read_answer(protocol, status, max_events, body, SIZE_MAX, &whole);
    pieces_error = read_answer(protocol, status, max_events, body, 1 + data[0] % 16, &pieces);
    BUG_IF(!whole_error != !pieces_error);
    BUG_IF(whole_error && whole_error->kind != pieces_error->kind);
    check_same(&whole, &pieces);
    BUG_IF(!str_eq(strbuf_str(&whole_ends.told), strbuf_str(&pieces_ends.told)));
    if (!whole_error)
        check_goes_back(protocol, &whole, dialect);
}

#endif
