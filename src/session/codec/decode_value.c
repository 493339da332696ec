/* decode_value.c - texts, values and blobs. */
#include "session/codec/decode.h"

#include "model/message_json.h"

struct err *codec_broken(const struct decoding *d, const char *what)
{
    return err_new(ERR_STORAGE, "record %llu of session %" STR_FMT " (%" STR_FMT ") %s",
                   (unsigned long long)d->record->seq, STR_ARG(d->reader->stream),
                   STR_ARG(d->record->type), what);
}

int64_t codec_get_int(const struct decoding *d, const char *key)
{
    return json_int_or(json_get(d->body, key), 0);
}

bool codec_get_bool(const struct decoding *d, const char *key)
{
    return json_bool(json_get(d->body, key), false);
}

struct err *codec_load_blob(struct decoding *d, struct str handle, struct arena *a,
                            struct str *ret_bytes)
{
    struct blob_store *blobs = store_blobs(d->reader->store, d->reader->stream);
    AUTO(strbuf) struct strbuf bytes = {0};
    uint64_t n_bytes;

    TRY(blob_size(blobs, handle, &n_bytes));
    if (!strbuf_reserve(&bytes, (size_t)n_bytes)) /* else it would grow to twice of that */
        return err_new(ERR_STORAGE, "stored content %.12s... is too large", handle.p);
    TRY(blob_get(blobs, handle, &bytes));
    *ret_bytes = arena_str(a, strbuf_str(&bytes));
    return NULL;
}

struct err *codec_text_of(struct decoding *d, const struct json *v, struct str *ret_text)
{
    struct str handle = json_get_text(v, "$blob");

    *ret_text = json_str(v);
    return handle.n ? codec_load_blob(d, handle, d->arena, ret_text) : NULL;
}

struct err *codec_get_text(struct decoding *d, const char *key, struct str *ret_text)
{
    return codec_text_of(d, json_get(d->body, key), ret_text);
}

struct err *codec_get_json(struct decoding *d, const char *key, const struct json **ret_value)
{
    const struct json *v = json_get(d->body, key);
    struct str handle = json_get_text(v, "$blob"), bytes;
    struct json *loaded;

    *ret_value = v;
    if (!handle.n)
        return NULL;
    TRY(codec_load_blob(d, handle, d->arena, &bytes));
    TRY(json_parse(d->arena, bytes, 0, &loaded));
    *ret_value = loaded;
    return NULL;
}

const char *codec_get_word(struct decoding *d, const char *key)
{
    struct str text = json_get_text(d->body, key);

    return text.n ? arena_cstr(d->arena, text) : NULL;
}

struct err *codec_get_failure(struct decoding *d)
{
    const struct json *v = json_get(d->body, "error");
    enum err_kind kind = ERR_INTERNAL;
    struct err *e;

    if (!json_is(v, JSON_OBJECT))
        return NULL;
    err_kind_find(json_get_text(v, "code"), &kind);
    e = err_new(kind, "%" STR_FMT, STR_ARG(json_get_text(v, "message")));
    if (json_get_text(v, "hint").n)
        e = err_hint(e, "%" STR_FMT, STR_ARG(json_get_text(v, "hint")));
    e->peer_status = (int)json_int_or(json_get(v, "httpStatus"), 0);
    if (json_has(v, "refusedMedia"))
        e = err_refuse_media(e, arena_cstr(d->arena, json_get_text(v, "refusedMedia")));
    e->hides_thoughts = json_bool(json_get(v, "hidesThoughts"), false);
    err_free(d->reader->error);
    return d->reader->error = e;
}

bool codec_get_usage(struct decoding *d, struct usage *ret_usage)
{
    const struct json *v = json_get(d->body, "usage");

    *ret_usage = json_is(v, JSON_OBJECT) ? usage_read(v, d->arena) : USAGE_UNKNOWN;
    return v != NULL;
}
