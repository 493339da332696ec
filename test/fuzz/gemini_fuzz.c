/* gemini_fuzz.c - an answer of the Gemini API reads the same whole and in pieces. */
#include "provider/decode.h"

/* What was read, in one text. */
static void tell(const struct reply *r, const struct err *e, struct strbuf *out)
{
    for (size_t i = 0; i < r->n_parts; i++) {
        const struct part *p = &r->parts[i].part;

        strbuf_addf(out, "%d ", (int)p->kind);
        strbuf_add(out, p->id);
        strbuf_add(out, p->name);
        strbuf_add(out, p->args);
        strbuf_add(out, p->bad_args);
        strbuf_add(out, p->signature);
        strbuf_add(out, p->native);
        strbuf_add(out, p->media.data);
        strbuf_add(out, reply_part_text(r, i));
    }
    strbuf_addf(out, "%d %d ", (int)r->stop, r->is_complete);
    strbuf_add(out, r->stop_reason);
    strbuf_add_cstr(out, e ? err_code(e->kind) : "fine");
}

static void read_answer(struct str bytes, int status, size_t step, struct strbuf *out)
{
    AUTO(reply) struct reply r;
    AUTO(decoder) struct decoder d;
    AUTO(err) struct err *e = NULL;

    reply_init(&r, (struct delta_sink){0});
    decoder_init(&d, &protocol_gemini, status, NULL, 0, &r);
    for (; bytes.n && !e; bytes = str_skip(bytes, step))
        e = decoder_feed(&d, str_slice(bytes, 0, step));
    if (e)
        reply_finish(&r);
    else
        e = decoder_end(&d);
    BUG_IF(!e && !r.is_complete);
    tell(&r, e, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte says how the rest is cut, and whether it is an answer or an error. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(strbuf) struct strbuf whole = {0}, pieces = {0};
    struct str bytes;
    int status;

    if (size < 2)
        return 0;
    bytes = str_make((const char *)data + 1, size - 1);
    status = data[0] & 0x80 ? 429 : 200;
    read_answer(bytes, status, SIZE_MAX, &whole);
    read_answer(bytes, status, 1 + data[0] % 16, &pieces);
    BUG_IF(!str_eq(strbuf_str(&whole), strbuf_str(&pieces)));
    return 0;
}
