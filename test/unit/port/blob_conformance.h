/* blob_conformance.h - what every blob store must do. Adapters' tests run blob_conforms(). */
#ifndef KEEL_TEST_UNIT_PORT_BLOB_CONFORMANCE_H
#define KEEL_TEST_UNIT_PORT_BLOB_CONFORMANCE_H

#include "port/blob.h"
#include "sys/work.h"
#include "test.h"

/* The store must take blobs up to 1 MiB and refuse larger ones. */
static inline void blob_conforms(struct blob_store *b)
{
    AUTO(strbuf) struct strbuf out = {0}, big = {0};
    char handle[SHA256_HEX_SIZE], again[SHA256_HEX_SIZE], empty[SHA256_HEX_SIZE];
    uint64_t size;

    assert_ok(blob_put(b, S("hello\0world"), handle));
    assert_true(blob_handle_is_valid(str_of(handle)));
    assert_ok(blob_put(b, S("hello\0world"), again));
    assert_string_equal(handle, again);

    assert_ok(blob_get(b, str_of(handle), &out));
    assert_true(str_eq(strbuf_str(&out), S("hello\0world")));
    assert_ok(blob_size(b, str_of(handle), &size));
    assert_int_equal(size, 11);

    strbuf_clear(&out);
    assert_ok(blob_get_range(b, str_of(handle), 6, 100, &out));
    assert_str(strbuf_str(&out), "world");
    strbuf_clear(&out);
    assert_ok(blob_get_range(b, str_of(handle), 100, 100, &out));
    assert_int_equal(out.n, 0);

    assert_ok(blob_put_soon(b, S("one of many"), handle));
    assert_ok(blob_put_soon(b, S("one of many"), again));
    assert_string_equal(handle, again);
    strbuf_clear(&out);
    assert_ok(blob_get(b, str_of(handle), &out));
    assert_str(strbuf_str(&out), "one of many");
    assert_ok(blob_sync(b));
    strbuf_clear(&out);

    assert_ok(blob_put(b, S(""), empty));
    assert_string_equal(empty, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    assert_ok(blob_get(b, str_of(empty), &out));
    assert_int_equal(out.n, 0);

    assert_err(blob_get(b, S("../../etc/passwd"), &out), ERR_VALIDATION);
    assert_err(blob_get(b, S("ABCDEF"), &out), ERR_VALIDATION);

    assert_ok(blob_remove(b, str_of(handle)));
    assert_ok(blob_remove(b, str_of(handle)));
    assert_err(blob_get(b, str_of(handle), &out), ERR_STORAGE);
    assert_err(blob_size(b, str_of(handle), &size), ERR_STORAGE);

    for (size_t i = 0; i <= 1 << 20; i++)
        strbuf_add_char(&big, 'x');
    assert_err(blob_put(b, strbuf_str(&big), handle), ERR_VALIDATION);
    strbuf_cut(&big, 1 << 20);
    assert_ok(blob_put(b, strbuf_str(&big), handle));
}

static inline struct err *blob_used_in_a_worker(void *arg)
{
    AUTO(strbuf) struct strbuf out = {0};
    char handle[SHA256_HEX_SIZE];
    uint64_t size;

    TRY(blob_put(arg, S("from a thread"), handle));
    TRY(blob_put_soon(arg, S("from a thread"), handle));
    TRY(blob_sync(arg));
    TRY(blob_size(arg, str_of(handle), &size));
    TRY(blob_get(arg, str_of(handle), &out));
    TRY(blob_remove(arg, str_of(handle)));
    return str_is(strbuf_str(&out), "from a thread") && size == out.n
               ? NULL
               : err_new(ERR_INTERNAL, "other bytes came back");
}

/* Those who work outside of tasks store things as well. In a task. */
static inline void blob_conforms_in_a_worker(struct blob_store *b)
{
    assert_ok(work_run(blob_used_in_a_worker, b));
}

#endif
