/* postgres_blobs.c - payloads as rows of the database, by their hash. */
#include "store/postgres_store.h"

struct postgres_blobs {
    struct blob_store store;
    struct postgres_store *postgres;
};

static struct postgres_store *postgres_of_blobs(struct blob_store *b)
{
    return ((struct postgres_blobs *)b)->postgres;
}

static struct err *postgres_blob_put(struct blob_store *b, struct str bytes,
                                     char handle[SHA256_HEX_SIZE])
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    sha256_hex(bytes, handle);
    postgres_text(&args, str_of(handle));
    postgres_bytes(&args, bytes);
    return postgres_look(postgres_of_blobs(b), PG_PUT_BLOB, &args, false, &rows);
}

static struct err *not_there(struct str handle)
{
    return err_hint(err_new(ERR_STORAGE, "stored content %.12s... is missing", handle.p),
                    "the retention or quota setting may have removed it");
}

static struct err *postgres_blob_get(struct blob_store *b, struct str handle, uint64_t from,
                                     size_t n, struct strbuf *out)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, handle);
    postgres_int(&args, (int64_t)MIN(from, (uint64_t)1 << 30) + 1);
    postgres_int(&args, (int64_t)MIN(n, (size_t)1 << 30));
    TRY(postgres_look(postgres_of_blobs(b), PG_GET_BLOB, &args, true, &rows));
    if (rows.n == 0)
        return not_there(handle);
    strbuf_add(out, postgres_row_text(&rows, 0, 0));
    return strbuf_check(out, "stored content");
}

static struct err *postgres_blob_size(struct blob_store *b, struct str handle, uint64_t *ret_bytes)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, handle);
    TRY(postgres_look(postgres_of_blobs(b), PG_SIZE_BLOB, &args, false, &rows));
    if (rows.n == 0)
        return not_there(handle);
    *ret_bytes = (uint64_t)postgres_row_int(&rows, 0, 0);
    return NULL;
}

static struct err *postgres_blob_remove(struct blob_store *b, struct str handle)
{
    AUTO(postgres_args) struct postgres_args args = {0};
    AUTO(postgres_rows) struct postgres_rows rows = {0};

    postgres_text(&args, handle);
    return postgres_look(postgres_of_blobs(b), PG_REMOVE_BLOB, &args, false, &rows);
}

static void postgres_blobs_free(struct blob_store *b)
{
    mem_free(b);
}

struct blob_store *postgres_blobs_new(struct postgres_store *p)
{
    static const struct blob_ops ops = {.put = postgres_blob_put,
                                        .get = postgres_blob_get,
                                        .size = postgres_blob_size,
                                        .remove = postgres_blob_remove,
                                        .free = postgres_blobs_free};
    struct postgres_blobs *b = mem_alloc(sizeof *b);

    *b = (struct postgres_blobs){{.ops = &ops, .max_bytes = BLOB_DEFAULT_MAX}, p};
    return &b->store;
}
