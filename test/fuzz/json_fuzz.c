/* json_fuzz.c - whatever parses is written as JSON that parses to the same value, and its members
 * are found without parsing. */
#include "base/json_skim.h"

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

/* Of a text that parses, skimming finds what parsing does; of any other, nothing outside of it. */
static void check_skim(struct str input)
{
    AUTO(arena) struct arena a = {0};
    struct json_wanted wanted[4] = {{S("a")}, {S("result")}, {S("")}, {S("b")}};
    struct json_where where;
    struct json *v = NULL;
    bool is_read = json_parse_at(&a, input, JSON_REPAIR_UTF8, &v, &where);
    bool is_skimmed = json_skim(input, wanted, ARRAY_LEN(wanted));

    BUG_IF(is_read && is_skimmed && v->type != JSON_OBJECT);
    for (size_t i = 0; is_skimmed && i < ARRAY_LEN(wanted); i++) {
        struct str raw = wanted[i].raw;
        const struct json *member = is_read ? json_get_str(v, wanted[i].key) : NULL;

        BUG_IF(raw.n && (raw.p < input.p || raw.p + raw.n > input.p + input.n));
        BUG_IF(is_read && !str_eq(raw, member ? member->raw : (struct str){0}));
    }
}

static size_t count_values(const struct json *v)
{
    size_t n = 1;

    json_each (child, v)
        n += count_values(child);
    return n;
}

/* With a limit that small inputs reach: what it lets through has no more values, and is read as
 * without it. */
static void check_few(struct str input, size_t max_values)
{
    AUTO(arena) struct arena a = {0};
    struct json_where where;
    struct json *few, *all;

    if (json_parse_few(&a, input, 0, max_values, &few, &where)) {
        BUG_IF(count_values(few) > max_values);
        BUG_IF(!json_parse_at(&a, input, 0, &all, &where) || !json_equal(few, all));
    } else {
        BUG_IF(where.offset > input.n || a.used_bytes > input.n * 4 + (max_values + 2) * 256);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str input = str_make((const char *)data, size);

    check(input, 0);
    check(input, JSON_REPAIR_UTF8);
    check(input, JSON_UNIQUE_KEYS);
    check_few(input, size % 32);
    check_skim(input);
    return 0;
}
