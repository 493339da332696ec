/* baseline_fuzz.c - any bytes are refused, or are a baseline that is written as it was read. */
#include "sandbox/guard/baseline.h"

#include "base/sha256.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No mutation finds a hash: it is given to the bytes. */
static void seal(struct strbuf *bytes)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;

    sha256_init(&h);
    sha256_add(&h, strbuf_str(bytes));
    sha256_end(&h, digest);
    strbuf_add(bytes, str_make((const char *)digest, sizeof digest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(strbuf) struct strbuf bytes = {0}, again = {0};
    AUTO(baseline) struct baseline *b = NULL, *part = NULL;

    strbuf_add(&bytes, str_make((const char *)data, size));
    seal(&bytes);
    err_ignore(baseline_parse(strbuf_str(&bytes), &b), "most bytes are none");
    if (!b)
        return 0;
    baseline_write(b, &again);
    BUG_IF(!str_eq(strbuf_str(&bytes), strbuf_str(&again)));
    part = baseline_part(b, "/ws/sub");
    for (size_t i = 0; i < b->n; i++)
        BUG_IF(baseline_find(b, b->items[i].path) != &b->items[i]);
    return 0;
}
