/* blob_memory.c - a table of blobs by their hash. */
#include "store/blob_memory.h"

#include "base/mem.h"

struct blob {
    char handle[SHA256_HEX_SIZE];
    struct str bytes; /* on the heap */
};

struct blob_memory {
    struct blob_store store;
    struct blob *blobs;
    size_t n, room;
};

static struct blob *find(struct blob_memory *m, struct str handle)
{
    for (size_t i = 0; i < m->n; i++)
        if (str_is(handle, m->blobs[i].handle))
            return &m->blobs[i];
    return NULL;
}

static struct err *blob_memory_put(struct blob_store *b, struct str bytes,
                                   char handle[SHA256_HEX_SIZE])
{
    struct blob_memory *m = (struct blob_memory *)b;
    struct blob *blob;

    sha256_hex(bytes, handle);
    if (find(m, str_of(handle)))
        return NULL;
    m->blobs = mem_grow(m->blobs, m->n, &m->room, sizeof *m->blobs);
    blob = &m->blobs[m->n++];
    memcpy(blob->handle, handle, SHA256_HEX_SIZE);
    blob->bytes = str_make(str_dup(bytes), bytes.n);
    return NULL;
}

static struct err *missing(struct str handle)
{
    return err_new(ERR_STORAGE, "there is no blob %" STR_FMT, STR_ARG(handle));
}

static struct err *blob_memory_get(struct blob_store *b, struct str handle, uint64_t from, size_t n,
                                   struct strbuf *out)
{
    const struct blob *blob = find((struct blob_memory *)b, handle);

    if (!blob)
        return missing(handle);
    if (from < blob->bytes.n)
        strbuf_add(out, str_slice(blob->bytes, (size_t)from, n));
    return strbuf_check(out, "a blob");
}

static struct err *blob_memory_size(struct blob_store *b, struct str handle, uint64_t *ret_bytes)
{
    const struct blob *blob = find((struct blob_memory *)b, handle);

    if (!blob)
        return missing(handle);
    *ret_bytes = blob->bytes.n;
    return NULL;
}

static struct err *blob_memory_remove(struct blob_store *b, struct str handle)
{
    struct blob_memory *m = (struct blob_memory *)b;
    struct blob *blob = find(m, handle);

    if (!blob)
        return NULL;
    mem_free((char *)blob->bytes.p);
    *blob = m->blobs[--m->n];
    return NULL;
}

static void blob_memory_free(struct blob_store *b)
{
    struct blob_memory *m = (struct blob_memory *)b;

    for (size_t i = 0; i < m->n; i++)
        mem_free((char *)m->blobs[i].bytes.p);
    mem_free(m->blobs);
    mem_free(m);
}

struct blob_store *blob_memory_new(size_t max_bytes)
{
    static const struct blob_ops ops = {.put = blob_memory_put,
                                        .get = blob_memory_get,
                                        .size = blob_memory_size,
                                        .remove = blob_memory_remove,
                                        .free = blob_memory_free};
    struct blob_memory *m = mem_alloc(sizeof *m);

    m->store =
        (struct blob_store){.ops = &ops, .max_bytes = max_bytes ? max_bytes : BLOB_DEFAULT_MAX};
    return &m->store;
}
