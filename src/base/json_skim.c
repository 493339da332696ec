/* json_skim.c - goes over the members of one object without parsing them. */
#include "base/json_skim.h"

#include "base/ascii.h"
#include "base/eight.h"

/* Every function returns its end position, or STR_NONE if the text ends before that. */

static size_t skip_space(struct str s, size_t at)
{
    while (at < s.n && ascii_is_space(s.p[at]))
        at++;
    return at;
}

/* The next quote or backslash, or the end. */
static inline size_t find_mark(struct str s, size_t at)
{
    for (; s.n - at >= 8; at += 8) {
        uint64_t bytes = eight_load(s.p + at);
        uint64_t marks = eight_equal(bytes, '"') | eight_equal(bytes, '\\');

        if (marks)
            return at + eight_before(marks);
    }
    while (at < s.n && s.p[at] != '"' && s.p[at] != '\\')
        at++;
    return at;
}

/* `at` is on the opening quote. */
static size_t skip_string(struct str s, size_t at, bool *ret_has_escape)
{
    *ret_has_escape = false;
    for (at = find_mark(s, at + 1); at < s.n; at = find_mark(s, at)) {
        if (s.p[at] == '"')
            return at + 1;
        *ret_has_escape = true;
        at += 2;
        if (at >= s.n)
            break;
    }
    return STR_NONE;
}

static size_t skip_container(struct str s, size_t at)
{
    size_t depth = 0;
    bool has_escape;

    while (at < s.n) {
        char c = s.p[at];

        if (c == '"') {
            at = skip_string(s, at, &has_escape);
            continue;
        }
        at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            return at;
    }
    return STR_NONE;
}

static size_t skip_value(struct str s, size_t at)
{
    bool has_escape;

    if (at >= s.n)
        return STR_NONE;
    if (s.p[at] == '"')
        return skip_string(s, at, &has_escape);
    if (s.p[at] == '{' || s.p[at] == '[')
        return skip_container(s, at);
    while (at < s.n && s.p[at] != ',' && s.p[at] != '}' && !ascii_is_space(s.p[at]))
        at++;
    return at;
}

bool json_skim(struct str object, struct json_wanted *wanted, size_t n_wanted)
{
    size_t at = skip_space(object, 0), end;

    for (size_t i = 0; i < n_wanted; i++)
        wanted[i].raw = (struct str){0};
    if (at >= object.n || object.p[at] != '{')
        return false;
    for (at = skip_space(object, at + 1); at < object.n && object.p[at] == '"';
         at = skip_space(object, at + 1)) {
        bool has_escape;
        struct str key;

        end = skip_string(object, at, &has_escape);
        if (end == STR_NONE || has_escape)
            return false;
        key = str_slice(object, at + 1, end - at - 2);
        at = skip_space(object, end);
        if (at >= object.n || object.p[at] != ':')
            return false;
        at = skip_space(object, at + 1);
        end = skip_value(object, at);
        if (end == STR_NONE)
            return false;
        /* Of members with the same name the last one counts. */
        for (size_t i = 0; i < n_wanted; i++)
            if (str_eq(wanted[i].key, key))
                wanted[i].raw = str_slice(object, at, end - at);
        at = skip_space(object, end);
        if (at >= object.n || object.p[at] != ',')
            break;
    }
    return at < object.n && object.p[at] == '}';
}
