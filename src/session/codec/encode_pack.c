/* encode_pack.c - a checkpoint packs the messages that have come since the last pack. */
#include "session/codec/encode.h"
#include "session/codec/pack.h"

/* What no pack holds is packed when it has become many messages, long ones, or a long part of the
 * stream: many short runs. A pack takes over those before it that are no larger, so that there are
 * few of them, and a message is written again as often as what holds it has doubled. */
#define PACK_FROM_BYTES ((size_t)256 << 10)
#define PACK_FROM_EVENTS 2048

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

static size_t count_bytes(const struct part *parts, size_t n)
{
    size_t n_bytes = 0;

    for (size_t i = 0; i < n; i++)
        n_bytes += parts[i].text.n + parts[i].args.n + parts[i].native.n + parts[i].media.data.n +
                   count_bytes(parts[i].content, parts[i].n_content);
    return n_bytes;
}

static size_t count_packed(const struct codec_writer *w)
{
    return w->n_packs ? w->packs[w->n_packs - 1].end : 0;
}

static bool is_worth_it(const struct encoding *c, const struct history *h)
{
    const struct codec_writer *w = c->writer;
    uint64_t since = w->n_packs ? w->packs[w->n_packs - 1].seq : w->base_seq;
    size_t n_bytes = 0;

    if (h->n_messages - count_packed(w) >= w->pack_from ||
        c->event->seq - since >= PACK_FROM_EVENTS)
        return true;
    for (size_t i = count_packed(w); i < h->n_messages && n_bytes < PACK_FROM_BYTES; i++)
        n_bytes += count_bytes(h->messages[i]->parts, h->messages[i]->n_parts);
    return n_bytes >= PACK_FROM_BYTES;
}

/* How many packs stay as they are. */
static size_t count_staying(const struct codec_writer *w, size_t n_messages)
{
    size_t n = w->n_packs;

    while (n) {
        size_t first = n > 1 ? w->packs[n - 2].end : 0, end = w->packs[n - 1].end;

        if (end - first > n_messages - end)
            break;
        n--;
    }
    return n;
}

static void encoding_put_text(void *self, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    codec_add_blob(self, bytes, handle);
}

static size_t count_parts(const struct history *h, size_t from)
{
    size_t n = 0;

    for (size_t i = from; i < h->n_messages; i++)
        n += pack_count_parts(h->messages[i]->parts, h->messages[i]->n_parts);
    return n;
}

static bool write_pack(struct encoding *c, const struct history *h,
                       const struct codec_pack *previous, struct strbuf *out)
{
    const struct codec_writer *w = c->writer;
    const struct pack_sink sink = {encoding_put_text, c};
    size_t first = previous ? previous->end : 0;
    const struct pack_head head = {.base_seq = w->base_seq,
                                   .seq = c->event->seq,
                                   .first = first,
                                   .n = h->n_messages - first,
                                   .n_parts = count_parts(h, first),
                                   .hash = w->hash,
                                   .previous = str_of(previous ? previous->handle : ""),
                                   .run_id = w->run_id,
                                   .provider = w->provider,
                                   .model = w->model};

    pack_write_head(out, &head);
    for (size_t i = first; i < h->n_messages; i++)
        if (!pack_write_message(out, h->messages[i], h->unix_ms[i], &sink))
            return false;
    return true;
}

void codec_add_pack(struct codec_writer *w, const struct codec_pack *pack)
{
    if (w->n_packs == w->packs_room) {
        w->packs_room = MAX(2 * w->packs_room, (size_t)2);
        w->packs = mem_resize(w->packs, w->packs_room * sizeof *w->packs);
    }
    w->packs[w->n_packs++] = *pack;
}

static void pack_history(struct encoding *c, const struct history *h)
{
    struct codec_writer *w = c->writer;
    size_t n_staying = count_staying(w, h->n_messages);
    size_t n_blobs = c->out->n_blobs, n_blob_bytes = c->out->n_blob_bytes;
    struct codec_pack pack = {.end = h->n_messages, .seq = c->event->seq};
    AUTO(strbuf) struct strbuf bytes = {0};

    if (!write_pack(c, h, n_staying ? &w->packs[n_staying - 1] : NULL, &bytes)) {
        c->out->n_blobs = n_blobs; /* nor the texts that it would have named */
        c->out->n_blob_bytes = n_blob_bytes;
        return;
    }
    codec_add_blob(c, strbuf_str(&bytes), pack.handle);
    w->n_packs = n_staying;
    codec_add_pack(w, &pack);
}

void codec_put_pack(struct encoding *c)
{
    struct codec_writer *w = c->writer;
    const struct history *h = c->event->history;

    if (h && h->n_messages == w->n_messages && h->n_messages > count_packed(w) && is_worth_it(c, h))
        pack_history(c, h);
    if (!w->n_packs)
        return;
    jw_key(&c->json, "pack");
    codec_write_reference(c, "$blob", str_of(w->packs[w->n_packs - 1].handle));
    codec_put_int(c, "packed", (int64_t)count_packed(w));
}
