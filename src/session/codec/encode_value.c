/* encode_value.c - texts, values and blobs. */
#include "session/codec/encode.h"

#include "model/message_json.h"
#include "view/field.h"

void codec_add_blob_as(struct encoding *c, struct str bytes, const char *handle)
{
    struct codec_record *r = c->out;
    struct codec_blob *b;

    r->blobs = arena_grow(&r->arena, r->blobs, r->n_blobs, &r->blobs_room, sizeof *r->blobs);
    b = &r->blobs[r->n_blobs++];
    memcpy(b->handle, handle, SHA256_HEX_SIZE);
    b->bytes = arena_str(&r->arena, bytes);
    r->n_blob_bytes += bytes.n;
    memcpy(c->writer->blobs[c->writer->next_blob++ % N_KNOWN], handle, SHA256_HEX_SIZE);
}

static bool was_added(const struct codec_writer *w, struct str handle)
{
    for (size_t i = 0; i < N_KNOWN; i++)
        if (str_is(handle, w->blobs[i]))
            return true;
    return false;
}

void codec_add_blob(struct encoding *c, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    sha256_hex(bytes, handle);
    codec_add_blob_as(c, bytes, handle);
}

void codec_add_handle(struct encoding *c, struct str handle, uint64_t n_bytes)
{
    struct codec_record *r = c->out;
    struct codec_blob *b;

    if (!blob_handle_is_valid(handle))
        return;
    r->blobs = arena_grow(&r->arena, r->blobs, r->n_blobs, &r->blobs_room, sizeof *r->blobs);
    b = &r->blobs[r->n_blobs++];
    *b = (struct codec_blob){
        .is_there = true, .is_counted = was_added(c->writer, handle), .n_bytes = n_bytes};
    memcpy(b->handle, handle.p, handle.n);
}

void codec_write_reference(struct encoding *c, const char *kind, struct str value)
{
    jw_begin_object(&c->json);
    jw_kv_str(&c->json, kind, value);
    jw_end_object(&c->json);
}

void codec_write_blob(struct encoding *c, struct str bytes)
{
    char handle[SHA256_HEX_SIZE];

    codec_add_blob(c, bytes, handle);
    codec_write_reference(c, "$blob", str_of(handle));
}

static void put_text_over(struct encoding *c, const char *key, struct str text, size_t max)
{
    if (text.n == 0)
        return;
    jw_key(&c->json, key);
    if (text.n > max)
        codec_write_blob(c, text);
    else
        jw_str(&c->json, text);
}

void codec_put_text(struct encoding *c, const char *key, struct str text)
{
    put_text_over(c, key, text, CODEC_INLINE_MAX);
}

void codec_put_shared(struct encoding *c, const char *key, struct str text)
{
    put_text_over(c, key, text, CODEC_SHARED_MIN);
}

/* The same in nearly every request: once the stream holds it, a record only names it. */
void codec_put_system(struct encoding *c, const char *key, struct str text)
{
    struct codec_writer *w = c->writer;
    char handle[SHA256_HEX_SIZE];

    if (text.n <= CODEC_SHARED_MIN) {
        codec_put_text(c, key, text);
        return;
    }
    jw_key(&c->json, key);
    sha256_hex(text, handle);
    if (strcmp(w->system, handle) != 0)
        codec_add_blob(c, text, w->system);
    codec_write_reference(c, "$blob", str_of(handle));
}

void codec_put_json_text(struct encoding *c, const char *key, struct str text)
{
    jw_key(&c->json, key);
    if (text.n > CODEC_INLINE_MAX)
        codec_write_blob(c, text);
    else
        jw_raw(&c->json, text);
}

void codec_put_json(struct encoding *c, const char *key, const struct json *v)
{
    AUTO(strbuf) struct strbuf text = {0};

    if (!v)
        return;
    json_write(&text, v);
    codec_put_json_text(c, key, strbuf_str(&text));
}

void codec_put_int(struct encoding *c, const char *key, int64_t value)
{
    if (value)
        jw_kv_int(&c->json, key, value);
}

void codec_put_true(struct encoding *c, const char *key, bool value)
{
    if (value)
        jw_kv_bool(&c->json, key, true);
}

void codec_put_name(struct encoding *c, const char *key, const char *name)
{
    if (name && *name)
        jw_kv_str(&c->json, key, str_of(name));
}

void codec_put_error(struct encoding *c, const struct err *e)
{
    if (e)
        field_failure(&c->json, "error", e);
}

void codec_put_usage(struct encoding *c, const struct usage *u)
{
    if (!u || !usage_is_known(u))
        return;
    jw_key(&c->json, "usage");
    usage_write(&c->json, u);
}
