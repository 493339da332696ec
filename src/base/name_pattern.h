/* name_pattern.h - names with a star: "*TOKEN" matches every name that ends with it, "LC_*" every
 * name that begins with it. In any case of letters. Pure. */
#ifndef KEEL_BASE_NAME_PATTERN_H
#define KEEL_BASE_NAME_PATTERN_H

#include "base/str.h"

bool name_matches(struct str name, struct str pattern);
bool name_matches_any(struct str name, const struct str *patterns, size_t n);
#define NAME_IS_IN(name, patterns) name_matches_any(name, patterns, ARRAY_LEN(patterns))

#endif
