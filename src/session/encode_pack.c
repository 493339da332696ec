/* encode_pack.c - a checkpoint packs the messages that have come since the last pack. */
#include "session/encode.h"
#include "session/pack.h"

/* Short messages are read from a pack in a tenth of the time that their records take, long ones in
 * a third: they are packed when they are many, or when they are long. */
#define PACK_FROM_BYTES ((size_t)256 << 10)

void codec_writer_pack_from(struct codec_writer *w, size_t n_messages)
{
    w->pack_from = n_messages;
}

void codec_note_run(struct codec_writer *w, struct str run_id, struct str provider,
                    struct str model)
{
    struct arena before = w->run_arena;

    w->run_arena = (struct arena){0};
    w->run_id = arena_str(&w->run_arena, run_id);
    w->provider = arena_str(&w->run_arena, provider);
    w->model = arena_str(&w->run_arena, model);
    arena_done(&before);
}

/* Of those that are not packed, the entry of the first. */
static size_t find_unpacked(const struct history *h, size_t n_packed)
{
    size_t at = h->n;

    for (size_t n = h->n_messages; n > n_packed; n -= h->entries[at].message != NULL)
        at--;
    return at;
}

static size_t count_bytes(const struct part *parts, size_t n)
{
    size_t n_bytes = 0;

    for (size_t i = 0; i < n; i++)
        n_bytes += parts[i].text.n + parts[i].args.n + parts[i].native.n + parts[i].media.data.n +
                   count_bytes(parts[i].content, parts[i].n_content);
    return n_bytes;
}

static bool is_worth_it(const struct codec_writer *w, const struct history *h, size_t from)
{
    size_t n_bytes = 0;

    if (h->n_messages - w->packed.n >= w->pack_from)
        return true;
    for (size_t i = from; i < h->n && n_bytes < PACK_FROM_BYTES; i++)
        if (h->entries[i].message)
            n_bytes += count_bytes(h->entries[i].message->parts, h->entries[i].message->n_parts);
    return n_bytes >= PACK_FROM_BYTES;
}

static void encoding_put_text(void *self, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    codec_add_blob(self, bytes, handle);
}

static bool write_pack(struct encoding *c, const struct history *h, size_t from, struct strbuf *out)
{
    const struct codec_writer *w = c->writer;
    const struct pack_sink sink = {encoding_put_text, c};
    const struct pack_head head = {.base_seq = w->base_seq,
                                   .seq = c->event->seq,
                                   .first = w->packed.n,
                                   .n = h->n_messages - w->packed.n,
                                   .chain = w->chain,
                                   .previous = str_of(w->packed.handle),
                                   .run_id = w->run_id,
                                   .provider = w->provider,
                                   .model = w->model};

    pack_write_head(out, &head);
    for (size_t i = from; i < h->n; i++)
        if (h->entries[i].message &&
            !pack_write_message(out, h->entries[i].message, h->entries[i].unix_ms, &sink))
            return false;
    return true;
}

static void add_pack(struct encoding *c, const struct history *h)
{
    struct codec_writer *w = c->writer;
    size_t from = find_unpacked(h, w->packed.n), n_blobs = c->out->n_blobs;
    size_t n_blob_bytes = c->out->n_blob_bytes;
    AUTO(strbuf) struct strbuf bytes = {0};

    if (!is_worth_it(w, h, from))
        return;
    if (!write_pack(c, h, from, &bytes)) {
        c->out->n_blobs = n_blobs; /* nor the texts that it would have named */
        c->out->n_blob_bytes = n_blob_bytes;
        return;
    }
    codec_add_blob(c, strbuf_str(&bytes), w->packed.handle);
    w->packed.n = h->n_messages;
}

void codec_put_pack(struct encoding *c)
{
    struct codec_writer *w = c->writer;
    const struct history *h = c->event->history;

    if (h && h->n_messages == w->n_messages && h->n_messages > w->packed.n)
        add_pack(c, h);
    if (!w->packed.n)
        return;
    jw_key(&c->json, "pack");
    codec_write_reference(c, "$blob", str_of(w->packed.handle));
    codec_put_int(c, "packed", (int64_t)w->packed.n);
}
