/* blob.h - content by its SHA-256: full tool outputs, payloads, pre-images, media.
 *
 * What is stored once is stored for good until it is collected; storing it again is free. A handle
 * is 64 lower-case hex digits. Reads check that the bytes still have their hash. All calls may
 * wait; outside of tasks they block, and several threads may be in them at once. Adapters pass
 * test/unit/port/blob_conformance.h. */
#ifndef KEEL_PORT_BLOB_H
#define KEEL_PORT_BLOB_H

#include "base/json.h"
#include "base/sha256.h"

struct blob_store;

struct blob_ops {
    /* All required. `put` writes the handle; over max_bytes is ERR_VALIDATION. */
    struct err *(*put)(struct blob_store *b, struct str bytes, char handle[SHA256_HEX_SIZE]);
    /* Appends bytes from..from+n (clamped) to out. Not there: ERR_STORAGE. */
    struct err *(*get)(struct blob_store *b, struct str handle, uint64_t from, size_t n,
                       struct strbuf *out);
    struct err *(*size)(struct blob_store *b, struct str handle, uint64_t *ret_bytes);
    struct err *(*remove)(struct blob_store *b, struct str handle); /* absent: fine */
    /* For many at once, both or none: what put_soon() took can be read at once, and is durable when
     * a sync() that began after it has returned. NULL: put() is as good as it gets. */
    struct err *(*put_soon)(struct blob_store *b, struct str bytes, char handle[SHA256_HEX_SIZE]);
    struct err *(*sync)(struct blob_store *b);
    void (*free)(struct blob_store *b);
};

/* Adapters embed this first. */
struct blob_store {
    const struct blob_ops *ops;
    size_t max_bytes; /* of one blob */
};

#define BLOB_DEFAULT_MAX ((size_t)64 << 20)

bool blob_handle_is_valid(struct str handle);

MUST_USE struct err *blob_put(struct blob_store *b, struct str bytes, char handle[SHA256_HEX_SIZE]);
/* The same without waiting for the disk, which blob_sync() then does once for all. */
MUST_USE struct err *blob_put_soon(struct blob_store *b, struct str bytes,
                                   char handle[SHA256_HEX_SIZE]);
MUST_USE struct err *blob_sync(struct blob_store *b);
MUST_USE struct err *blob_get(struct blob_store *b, struct str handle, struct strbuf *out);
/* Is it there, and what its hash says? Reads it in pieces. */
MUST_USE struct err *blob_check(struct blob_store *b, struct str handle);
MUST_USE struct err *blob_get_range(struct blob_store *b, struct str handle, uint64_t from,
                                    size_t n, struct strbuf *out);
MUST_USE struct err *blob_size(struct blob_store *b, struct str handle, uint64_t *ret_bytes);
MUST_USE struct err *blob_remove(struct blob_store *b, struct str handle);
void blob_store_free(struct blob_store *b);
DEFINE_AUTO_PTR(blob_store, blob_store_free)

/* How a log line names a payload that it does not hold itself:
 * {"kind":"external-payload","encoding":"json","sha256":H,"byteLength":N,"relativePath":P}. */
struct blob_reference {
    struct str sha256;
    uint64_t n_bytes;
    struct str relative_path; /* "<session>.payloads/<sha256>.json" */
};
void blob_reference_write(struct json_writer *w, const struct blob_reference *r);
/* Refuses absolute paths, "..", bad hashes and anything that is no reference. */
MUST_USE struct err *blob_reference_parse(const struct json *v, struct blob_reference *ret_ref);
bool blob_is_reference(const struct json *v);

#endif
