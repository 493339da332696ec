/* pack_fuzz.c - whatever stands in a pack of messages, reading it comes to its end, and what it
 * gives can be packed again. */
#include "session/codec/pack.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct err *fuzz_get_text(void *self, struct str handle, struct arena *a,
                                 struct str *ret_bytes)
{
    if (handle.n != SHA256_HEX_SIZE - 1)
        return err_new(ERR_STORAGE, "there is no such text");
    *ret_bytes = arena_str(a, S("a long text"));
    return NULL;
}

static void fuzz_put_text(void *self, struct str bytes, char handle[SHA256_HEX_SIZE])
{
    sha256_hex(bytes, handle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct pack_source source = {fuzz_get_text, NULL};
    const struct pack_sink sink = {fuzz_put_text, NULL};
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(pack) struct pack pack = {0}, again = {0};
    AUTO(err) struct err *e = NULL;
    bool is_whole = true;

    strbuf_add(&bytes, str_make((const char *)data, size));
    e = pack_read(&bytes, &source, &pack);
    BUG_IF(e && !err_is(e, ERR_STORAGE));
    if (e)
        return 0;
    pack_write_head(&bytes, &pack.head);
    for (size_t i = 0; i < pack.head.n; i++)
        is_whole &= pack_write_message(&bytes, pack.items[i].message, pack.items[i].unix_ms, &sink);
    if (is_whole)
        err_ignore(pack_read(&bytes, &source, &again), "the next line tells");
    BUG_IF(is_whole && again.head.n != pack.head.n);
    return 0;
}
