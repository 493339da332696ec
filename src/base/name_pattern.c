/* name_pattern.c - compares names with patterns. */
#include "base/name_pattern.h"

bool name_matches(struct str name, struct str pattern)
{
    if (str_starts(pattern, S("*"))) {
        pattern = str_skip(pattern, 1);
        return name.n >= pattern.n && str_eq_nocase(str_skip(name, name.n - pattern.n), pattern);
    }
    if (str_ends(pattern, S("*"))) {
        pattern.n--;
        return str_eq_nocase(str_slice(name, 0, pattern.n), pattern);
    }
    return str_eq_nocase(name, pattern);
}

bool name_matches_any(struct str name, const struct str *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (name_matches(name, patterns[i]))
            return true;
    return false;
}
