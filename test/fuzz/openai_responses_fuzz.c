/* openai_responses_fuzz.c - any bytes as an answer of the Responses API: whole and in pieces they
 * say the same, and what was read can be sent back. */
#include "provider/decode.h"

/* The first byte of the input says how the rest is cut. */
static bool read_all(struct str bytes, size_t step, struct reply *r)
{
    AUTO(decoder) struct decoder decoder;
    AUTO(err) struct err *e = NULL;

    decoder_init(&decoder, &protocol_openai_responses, 200, NULL, 0, r);
    for (; bytes.n && !e; bytes = str_skip(bytes, step))
        e = decoder_feed(&decoder, str_slice(bytes, 0, step));
    if (!e)
        e = decoder_end(&decoder);
    else
        reply_finish(r);
    return !e;
}

static void compare(const struct reply *a, const struct reply *b)
{
    BUG_IF(a->n_parts != b->n_parts);
    for (size_t i = 0; i < a->n_parts; i++) {
        BUG_IF(a->parts[i].part.kind != b->parts[i].part.kind);
        BUG_IF(!str_eq(reply_part_text(a, i), reply_part_text(b, i)));
        BUG_IF(!str_eq(a->parts[i].part.args, b->parts[i].part.args));
        BUG_IF(!str_eq(a->parts[i].part.native, b->parts[i].part.native));
    }
}

static void send_back(const struct reply *r)
{
    AUTO(message)
    struct message *m =
        reply_to_message(r, S("1"), MESSAGE_COMPLETE, (struct origin){.provider = S("p")});
    AUTO(strbuf) struct strbuf body = {0};
    AUTO(arena) struct arena a = {0};
    const struct message *messages[] = {m};
    struct model_request request = {
        .provider = S("p"), .model = S("m"), .messages = messages, .n_messages = 1};
    AUTO(err)
    struct err *e = protocol_openai_responses.encode(&request, &(struct dialect){0}, &body);
    struct json *value;

    BUG_IF(e);
    e = json_parse(&a, strbuf_str(&body), 0, &value);
    BUG_IF(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(reply) struct reply whole, pieces;
    struct str bytes;

    reply_init(&whole, (struct delta_sink){0});
    reply_init(&pieces, (struct delta_sink){0});
    if (size < 2)
        return 0;
    bytes = str_make((const char *)data + 1, size - 1);
    if (read_all(bytes, SIZE_MAX, &whole) && read_all(bytes, 1 + data[0] % 16, &pieces))
        compare(&whole, &pieces);
    send_back(&whole);
    return 0;
}
