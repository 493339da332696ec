/* load_pack.c - reads packs from the last to the first, and puts their messages in order. */
#include "session/codec/load_pack.h"

static struct err *blobs_get_text(void *self, struct str handle, struct arena *a,
                                  struct str *ret_bytes)
{
    AUTO(strbuf) struct strbuf bytes = {0};

    strbuf_init(&bytes, BLOB_DEFAULT_MAX);
    if (!blob_handle_is_valid(handle))
        return err_new(ERR_STORAGE, "a pack of messages is damaged: it refers to no text");
    TRY(blob_get(self, handle, &bytes));
    *ret_bytes = arena_str(a, strbuf_str(&bytes));
    return NULL;
}

struct err *pack_load(struct blob_store *blobs, struct str handle, struct pack *ret_pack)
{
    const struct pack_source source = {blobs_get_text, blobs};
    AUTO(strbuf) struct strbuf bytes = {0};

    if (!blob_handle_is_valid(handle))
        return err_new(ERR_STORAGE, "a checkpoint refers to no pack of messages");
    strbuf_init(&bytes, PACK_MAX_BYTES);
    TRY(blob_get(blobs, handle, &bytes));
    return pack_read(&bytes, &source, ret_pack);
}

struct packs {
    struct pack *items; /* the last one first */
    size_t n, room;
};

static void packs_done(struct packs *p)
{
    for (size_t i = 0; i < p->n; i++)
        pack_done(&p->items[i]);
    mem_free(p->items);
}
DEFINE_AUTO_VAL(packs, packs_done)

static bool fits(const struct pack_head *head, uint64_t base_seq, size_t end)
{
    return head->base_seq == base_seq && head->n && head->n <= end &&
           head->first == end - head->n && (head->first == 0) == (head->previous.n == 0);
}

/* Every pack has a message at least, so that there are no more of them than messages. */
static struct err *read_packs(struct blob_store *blobs, uint64_t base_seq,
                              const struct codec_pack *last, struct packs *p)
{
    struct str handle = str_of(last->handle);

    for (size_t end = last->end; end > 0; end = p->items[p->n - 1].head.first) {
        if (p->n == p->room) {
            p->room = MAX(2 * p->room, (size_t)8);
            p->items = mem_resize(p->items, p->room * sizeof *p->items);
        }
        TRY(pack_load(blobs, handle, &p->items[p->n]));
        p->n++;
        if (!fits(&p->items[p->n - 1].head, base_seq, end))
            return err_new(ERR_STORAGE, "a pack of messages belongs to another history");
        handle = p->items[p->n - 1].head.previous;
    }
    return p->n ? NULL : err_new(ERR_STORAGE, "a checkpoint refers to an empty pack of messages");
}

static struct pack_head copy_head(struct arena *a, const struct pack_head *head)
{
    struct pack_head copy = *head;

    copy.previous = arena_str(a, head->previous);
    copy.run_id = arena_str(a, head->run_id);
    copy.provider = arena_str(a, head->provider);
    copy.model = arena_str(a, head->model);
    return copy;
}

/* What a writer needs to know of them. */
static struct codec_pack *list_packs(struct arena *a, const struct packs *p,
                                     const struct codec_pack *last)
{
    struct codec_pack *list = ARENA_ARRAY(a, p->n, struct codec_pack);
    const char *handle = last->handle;

    for (size_t i = 0; i < p->n; i++) {
        const struct pack_head *head = &p->items[i].head;
        struct codec_pack *to = &list[p->n - 1 - i];

        *to = (struct codec_pack){.end = head->first + head->n, .seq = head->seq};
        memcpy(to->handle, handle, SHA256_HEX_SIZE);
        handle = head->previous.p;
    }
    return list;
}

struct err *packs_load(struct store *s, struct str stream, uint64_t base_seq, struct arena *a,
                       struct codec_pack **packs, size_t *n_packs, struct history *ret_history,
                       struct pack_head *ret_last)
{
    AUTO(packs) struct packs p = {0};
    struct history h = {0};

    TRY(read_packs(store_blobs(s, stream), base_seq, *packs, &p));
    /* and for some more, which the tail and the next run bring */
    history_reserve(&h, (*packs)->end + (*packs)->end / 8 + 8);
    for (size_t i = p.n; i-- > 0;)
        for (size_t k = 0; k < p.items[i].head.n; k++)
            history_add_message(&h, p.items[i].items[k].message, p.items[i].items[k].unix_ms);
    *packs = list_packs(a, &p, *packs);
    *n_packs = p.n;
    *ret_last = copy_head(a, &p.items[0].head);
    *ret_history = h;
    return NULL;
}
