/* blob.c - what holds for every blob store, and how logs name a stored payload. */
#include "port/blob.h"

#define CHECK_STEP ((size_t)1 << 20)

bool blob_handle_is_valid(struct str handle)
{
    if (handle.n != SHA256_HEX_SIZE - 1)
        return false;
    for (size_t i = 0; i < handle.n; i++) {
        char c = handle.p[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')))
            return false;
    }
    return true;
}

static struct err *check_handle(struct str handle)
{
    if (blob_handle_is_valid(handle))
        return NULL;
    return err_new(ERR_VALIDATION, "\"%" STR_FMT "\" is not a handle of stored content",
                   STR_ARG(str_slice(handle, 0, 80)));
}

static struct err *check_size(const struct blob_store *b, struct str bytes)
{
    size_t max = b->max_bytes ? b->max_bytes : BLOB_DEFAULT_MAX;

    if (bytes.n <= max)
        return NULL;
    return err_new(ERR_VALIDATION, "content of %zu bytes exceeds the limit of %zu", bytes.n, max);
}

struct err *blob_put(struct blob_store *b, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    TRY(check_size(b, bytes));
    return b->ops->put(b, bytes, handle);
}

struct err *blob_put_soon(struct blob_store *b, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    TRY(check_size(b, bytes));
    return b->ops->put_soon ? b->ops->put_soon(b, bytes, handle) : b->ops->put(b, bytes, handle);
}

struct err *blob_sync(struct blob_store *b)
{
    return b->ops->sync ? b->ops->sync(b) : NULL;
}

struct err *blob_get_range(struct blob_store *b, struct str handle, uint64_t from, size_t n,
                           struct strbuf *out)
{
    TRY(check_handle(handle));
    return b->ops->get(b, handle, from, n, out);
}

static struct err *damaged(struct str handle)
{
    return err_hint(
        err_new(ERR_STORAGE, "stored content %.12s... was changed or damaged", handle.p),
        "restore it from a backup; keel does not use content that fails its checksum");
}

/* The whole of it, checked against its name. */
struct err *blob_get(struct blob_store *b, struct str handle, struct strbuf *out)
{
    size_t start = out->n;
    char hex[SHA256_HEX_SIZE];

    TRY(blob_get_range(b, handle, 0, SIZE_MAX, out));
    sha256_hex(str_skip(strbuf_str(out), start), hex);
    if (str_is(handle, hex))
        return NULL;
    strbuf_cut(out, start);
    return damaged(handle);
}

struct err *blob_check(struct blob_store *b, struct str handle)
{
    AUTO(strbuf) struct strbuf piece = {0};
    unsigned char digest[SHA256_SIZE];
    char hex[SHA256_HEX_SIZE];
    uint64_t at = 0;
    struct sha256 h;

    sha256_init(&h);
    do {
        strbuf_clear(&piece);
        TRY(blob_get_range(b, handle, at, CHECK_STEP, &piece));
        sha256_add(&h, strbuf_str(&piece));
        at += piece.n;
    } while (piece.n);
    sha256_end(&h, digest);
    sha256_format_hex(digest, hex);
    return str_is(handle, hex) ? NULL : damaged(handle);
}

struct err *blob_size(struct blob_store *b, struct str handle, uint64_t *ret_bytes)
{
    TRY(check_handle(handle));
    return b->ops->size(b, handle, ret_bytes);
}

struct err *blob_remove(struct blob_store *b, struct str handle)
{
    TRY(check_handle(handle));
    return b->ops->remove(b, handle);
}

void blob_store_free(struct blob_store *b)
{
    if (b)
        b->ops->free(b);
}

/* --- references --- */

static const char kind[] = "external-payload";

void blob_reference_write(struct json_writer *w, const struct blob_reference *r)
{
    jw_begin_object(w);
    jw_kv_str(w, "kind", str_of(kind));
    jw_kv_str(w, "encoding", S("json"));
    jw_kv_str(w, "sha256", r->sha256);
    jw_kv_int(w, "byteLength", (int64_t)r->n_bytes);
    jw_kv_str(w, "relativePath", r->relative_path);
    jw_end_object(w);
}

bool blob_is_reference(const struct json *v)
{
    return str_is(json_get_text(v, "kind"), kind);
}

/* Stays below the directory it counts from. */
static bool path_is_inside(struct str path)
{
    struct str rest = path, name;

    if (path.n == 0 || path.p[0] == '/' || str_find_char(path, 0) != STR_NONE ||
        str_find_char(path, '\\') != STR_NONE)
        return false;
    while (str_split(&rest, '/', &name))
        if (name.n == 0 || str_is(name, ".") || str_is(name, ".."))
            return false;
    return true;
}

struct err *blob_reference_parse(const struct json *v, struct blob_reference *ret_ref)
{
    struct blob_reference r = {.sha256 = json_get_text(v, "sha256"),
                               .relative_path = json_get_text(v, "relativePath")};
    int64_t n_bytes;

    if (!blob_is_reference(v) || !str_is(json_get_text(v, "encoding"), "json"))
        return err_new(ERR_VALIDATION, "INVALID_REFERENCE: this is not a reference to a payload");
    if (!blob_handle_is_valid(r.sha256))
        return err_new(ERR_VALIDATION, "INVALID_REFERENCE: the reference has no valid sha256");
    if (!json_int64(json_get(v, "byteLength"), &n_bytes) || n_bytes < 0)
        return err_new(ERR_VALIDATION, "INVALID_REFERENCE: the reference has no valid byteLength");
    if (!path_is_inside(r.relative_path))
        return err_new(ERR_VALIDATION,
                       "OUTSIDE_ROOT: the path \"%" STR_FMT "\" leaves the log's "
                       "directory",
                       STR_ARG(r.relative_path));
    r.n_bytes = (uint64_t)n_bytes;
    *ret_ref = r;
    return NULL;
}
