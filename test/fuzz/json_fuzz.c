/* json_fuzz.c - whatever parses is written as JSON that parses to the same value. */
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct str input, int flags)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf once = {0}, twice = {0};
    struct json_where where;
    struct json *v, *again;

    if (!json_parse_at(&a, input, flags, &v, &where)) {
        BUG_IF(where.offset > input.n || !where.reason);
        return;
    }
    json_write(&once, v);
    BUG_IF(!json_parse_at(&a, strbuf_str(&once), JSON_UNIQUE_KEYS, &again, &where));
    BUG_IF(!json_equal(v, again));
    json_write(&twice, again);
    BUG_IF(!str_eq(strbuf_str(&once), strbuf_str(&twice)));
    BUG_IF(!json_equal(v, json_copy(&a, v)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = str_make((const char *)data, size);

    check(input, 0);
    check(input, JSON_REPAIR_UTF8);
    check(input, JSON_UNIQUE_KEYS);
    return 0;
}
