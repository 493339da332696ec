/* url_fuzz.c - whatever is taken for a URL says the same when it is written and read again. */
#include "net/url.h"

static void check_round_trip(struct arena *a, const struct url *u)
{
    struct str text = url_format(a, u);
    struct url again;
    AUTO(err) struct err *e = url_parse(a, text, &again);

    if (e) { /* encoding may have made it too long, and nothing else */
        BUG_IF(text.n <= URL_MAX_BYTES);
        return;
    }
    BUG_IF(!url_same_origin(u, &again));
    BUG_IF(!str_eq(text, url_format(a, &again)));
}

static void check_location(struct arena *a, struct str location)
{
    struct str resolved;
    struct url base, u;
    AUTO(err) struct err *e = url_parse(a, S("http://a/b/c/d;p?q"), &base);

    BUG_IF(e);
    e = url_resolve(a, &base, location, &resolved);
    if (e)
        return;
    e = url_parse(a, resolved, &u);
    BUG_IF(e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena a = {0};
    struct str text = str_make((const char *)data, size);
    struct url u;
    AUTO(err) struct err *e = url_parse(&a, text, &u);

    if (!e) {
        check_round_trip(&a, &u);
        url_host_is_loopback(u.host);
    }
    check_location(&a, text);
    BUG_IF(url_redact(&a, text).n > 11 * size); /* "[REDACTED]" for no value at all */
    url_address_is_private(text);
    return 0;
}
