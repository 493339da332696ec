/* read_result.c - what a tool gave back, read piece by piece out of its blob. */
#include "session/decode.h"

#include "base/json_walk.h"

#define RANGE_BYTES ((size_t)256 << 10)
#define MAX_NAME_BYTES ((size_t)4 << 10)

struct result_reading {
    struct blob_store *blobs;
    struct str handle;
    uint64_t next; /* byte of the blob */
    struct sha256 hash;
    struct err *(*take)(void *self, struct str text);
    void *self;
};

static struct err *read_range(void *self, struct strbuf *out)
{
    struct result_reading *r = self;
    size_t before = out->n;

    TRY(blob_get_range(r->blobs, r->handle, r->next, RANGE_BYTES, out));
    r->next += out->n - before;
    sha256_add(&r->hash, str_skip(strbuf_str(out), before));
    return NULL;
}

static struct err *check_hash(struct result_reading *r)
{
    unsigned char hash[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];

    sha256_end(&r->hash, hash);
    sha256_format_hex(hash, hex);
    if (str_is(r->handle, hex))
        return NULL;
    return err_new(ERR_STORAGE, "stored content %.12s... was changed or damaged", r->handle.p);
}

/* As view/field.h names what is no text. */
static struct err *name_media(struct json_walk *w, struct result_reading *r)
{
    AUTO(arena) struct arena a = {0};
    struct str key, raw;
    struct json *mime;
    bool found;

    TRY(json_walk_enter(w));
    for (;;) {
        TRY(json_walk_next(w, &key, &found));
        if (!found)
            return NULL;
        if (!str_is(key, "mimeType")) {
            TRY(json_walk_skip(w));
            continue;
        }
        TRY(json_walk_take(w, MAX_NAME_BYTES, &raw));
        TRY(json_parse(&a, raw, 0, &mime));
        TRY(r->take(r->self, arena_format(&a, "[%" STR_FMT "]", STR_ARG(json_str(mime)))));
    }
}

static struct err *read_content(struct json_walk *w, struct result_reading *r)
{
    struct str key;
    bool found;

    TRY(json_walk_enter(w));
    for (;;) {
        TRY(json_walk_next(w, &key, &found));
        if (!found)
            return NULL;
        if (str_is(key, "text"))
            TRY(json_walk_text(w, r->take, r->self));
        else if (str_is(key, "media"))
            TRY(name_media(w, r));
        else
            TRY(json_walk_skip(w));
    }
}

/* {"type":"tool_result",...,"content":[{"type":"text","text":...}]} */
static struct err *read_part(struct json_walk *w, struct result_reading *r)
{
    struct str key;
    bool found;

    TRY(json_walk_enter(w));
    for (;;) {
        TRY(json_walk_next(w, &key, &found));
        if (!found)
            return json_walk_end(w);
        if (!str_is(key, "content")) {
            TRY(json_walk_skip(w));
            continue;
        }
        TRY(json_walk_enter(w));
        for (;;) {
            TRY(json_walk_next(w, &key, &found));
            if (!found)
                break;
            TRY(read_content(w, r));
        }
    }
}

bool codec_reader_has_result(const struct codec_reader *r)
{
    return r->unread_result != NULL;
}

struct err *codec_reader_result(struct codec_reader *r,
                                struct err *(*take)(void *self, struct str text), void *self)
{
    struct result_reading reading = {.blobs = store_blobs(r->store, r->stream),
                                     .handle = json_get_text(r->unread_result, "$blob"),
                                     .take = take,
                                     .self = self};
    AUTO(json_walk) struct json_walk w;

    sha256_init(&reading.hash);
    json_walk_init(&w, read_range, &reading);
    TRY(read_part(&w, &reading));
    return check_hash(&reading);
}
