/* stored_result.c - names for stored results, in the state of the tools. */
#include "port/stored_result.h"

#include "port/blob.h"

bool stored_result_read(struct str key, const struct json *value, struct stored_result *ret)
{
    struct str name;

    if (!value || !state_key_is(key, STATE_RESULT, &name))
        return false;
    *ret = (struct stored_result){name, json_get_text(value, "sha256"), value};
    if (!ret->sha256.n)
        ret->sha256 = name;
    return blob_handle_is_valid(ret->sha256);
}

bool stored_result_next(const struct tool_state *s, size_t *at, struct stored_result *ret)
{
    struct state_entry x;

    while (tool_state_next(s, STATE_RESULT, at, &x))
        if (stored_result_read(x.key, x.value, ret))
            return true;
    return false;
}

bool stored_result_find(const struct tool_state *s, struct str handle, struct stored_result *ret)
{
    size_t at = 0;

    handle = str_trim(handle);
    while (stored_result_next(s, &at, ret))
        if (str_eq(ret->name, handle) || str_eq(ret->sha256, handle))
            return true;
    return false;
}

static uint64_t number_of(struct str name)
{
    struct str digits = str_skip(name, strlen(STORED_RESULT_NAME));
    uint64_t number = 0;

    if (!str_starts(name, S(STORED_RESULT_NAME)) || digits.n == 0 || digits.n > 9)
        return 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9')
            return 0;
        number = number * 10 + (uint64_t)(digits.p[i] - '0');
    }
    return number;
}

struct str stored_result_add(struct tool_state *s, struct arena *a, struct str sha256,
                             struct json *value)
{
    struct stored_result known;
    uint64_t last = 0;
    struct str name;
    size_t at = 0;

    if (stored_result_find(s, sha256, &known))
        return arena_str(a, known.name);
    while (stored_result_next(s, &at, &known))
        last = MAX(last, number_of(known.name));
    name = arena_format(a, STORED_RESULT_NAME "%llu", (unsigned long long)last + 1);
    json_set_str(a, value, "sha256", sha256);
    tool_state_set(s, STATE_RESULT, name, value);
    return name;
}
