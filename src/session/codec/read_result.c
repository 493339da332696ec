/* read_result.c - what a tool gave back, piece by piece. */
#include "session/codec/decode.h"

#include "base/utf8.h"
#include "view/field.h"

#define RANGE_BYTES ((size_t)256 << 10)

struct pieces {
    struct blob_store *blobs;
    struct err *(*take)(void *self, struct str text);
    void *self;
};

static struct err *check_hash(struct sha256 *h, struct str handle)
{
    unsigned char hash[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];

    sha256_end(h, hash);
    sha256_format_hex(hash, hex);
    if (str_is(handle, hex))
        return NULL;
    return err_new(ERR_STORAGE, "stored content %.12s... was changed or damaged", handle.p);
}

static struct err *take_blob(const struct pieces *p, struct str handle)
{
    AUTO(strbuf) struct strbuf text = {0};
    struct sha256 hash;
    uint64_t at = 0;

    sha256_init(&hash);
    for (;;) {
        size_t rest = text.n, n_whole;

        TRY(blob_get_range(p->blobs, handle, at, RANGE_BYTES, &text));
        if (text.n == rest)
            break;
        at += text.n - rest;
        sha256_add(&hash, str_skip(strbuf_str(&text), rest));
        n_whole = text.n - utf8_incomplete_tail(strbuf_str(&text));
        TRY(p->take(p->self, str_slice(strbuf_str(&text), 0, n_whole)));
        strbuf_drop_front(&text, n_whole);
    }
    if (text.n)
        TRY(p->take(p->self, strbuf_str(&text)));
    return check_hash(&hash, handle);
}

struct err *codec_reader_result(struct codec_reader *r,
                                struct err *(*take)(void *self, struct str text), void *self)
{
    const struct pieces p = {.blobs = store_blobs(r->store, r->stream), .take = take, .self = self};
    const struct json *next = json_at(r->left, 0);
    const struct part *result = r->event.body.tool.result;

    for (size_t i = 0; i < result->n_content; i++) {
        struct part one = {.content = &result->content[i], .n_content = 1};
        bool is_left = next && json_int_or(json_at(next, 1), -1) == (int64_t)i;
        AUTO(strbuf) struct strbuf text = {0};

        if (is_left && one.content->kind == PART_TEXT) {
            TRY(take_blob(&p, json_get_text(json_at(next, 2), "$blob")));
        } else {
            result_text(&one, &text);
            TRY(take(self, strbuf_str(&text)));
        }
        if (is_left)
            next = next->next;
    }
    return NULL;
}
